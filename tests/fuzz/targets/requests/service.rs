//! The API in this process, without sockets.

use actix_web::{
    App,
    body::to_bytes,
    dev::{Service, ServiceResponse},
    http::{StatusCode, header},
    rt::{System, SystemRunner},
    test::{TestRequest, init_service},
};
use bytes::Bytes;
use ledger_actors::{Clock, Node, NodeConfig, WaitConfig};
use ledger_api::{ApiConfig, ApiState, configure};
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_types::{Parameters, Vendor};
use std::{future::Future, pin::Pin, rc::Rc};
use tempfile::TempDir;

/// A response with its complete body.
pub struct Answer {
    pub status: StatusCode,
    /// Whether the body is declared as JSON and not compressed.
    pub is_json: bool,
    pub body: Bytes,
}

type ResponseFuture = Pin<Box<dyn Future<Output = Answer>>>;

/// A node and the service of its routes.
struct NodeService {
    system: SystemRunner,
    call: Box<dyn Fn(TestRequest) -> ResponseFuture>,
    // Dropping the node would stop it.
    _node: Node,
}

/// Time of the node's clock, in microseconds since the Unix epoch. It is constant, so that runs of
/// one input do not differ.
const NOW_USECS: u64 = 1_800_000_000_000_000;

thread_local! {
    // Leaked: actix-web has thread-local values of its own, which the end of the thread may destroy
    // before the service that uses them.
    static SERVICE: &'static NodeService = Box::leak(Box::new(start_service()));
}

/// Sends a request to the service of this thread, and returns the response.
pub fn answer(request: TestRequest) -> Answer {
    SERVICE.with(|service| service.system.block_on((service.call)(request)))
}

/// Starts a node on a temporary directory, and creates the service of its routes.
fn start_service() -> NodeService {
    let system = System::new();
    let data_dir = TempDir::new().expect("a temporary directory can be created");
    let node = system.block_on(start_node(&data_dir));
    // Deletes the directory now, because the service is never dropped. The node has its files open
    // and opens no others.
    drop(data_dir);
    let config = ApiConfig {
        max_body_bytes: 128 * 1024,
        ..ApiConfig::default()
    };
    let state = ApiState::new(node.handle(), config, "");
    let app = App::new().configure(|config| configure(config, &state));
    let app = Rc::new(system.block_on(init_service(app)));
    let call = move |request: TestRequest| {
        let app = Rc::clone(&app);
        let response = async move {
            let response = app.call(request.to_request()).await;
            read_response(response.expect("errors are converted to responses")).await
        };
        Box::pin(response) as ResponseFuture
    };
    NodeService {
        system,
        call: Box::new(call),
        _node: node,
    }
}

/// Starts a node with the development genesis in `data_dir`.
async fn start_node(data_dir: &TempDir) -> Node {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let chain = build_chain(&genesis).expect("the development genesis is valid");
    let options = StoreOptions {
        cache_bytes: 16 * 1024 * 1024,
    };
    let mut store =
        Store::open(data_dir.path(), &options).expect("a store opens in an empty directory");
    let initialized = store.initialize(&genesis, &execute_genesis(&genesis, &chain));
    initialized.expect("the genesis is stored");
    let config = NodeConfig {
        // Ends long polls quickly, because they block the fuzzer.
        wait: WaitConfig {
            timeout_ms: 1,
            ..WaitConfig::default()
        },
        ..NodeConfig::default()
    };
    let clock = Clock::new(|| NOW_USECS);
    let node = Node::start_with_clock(chain, store, None, config, clock).await;
    node.expect("the node starts")
}

/// Reads the body of a response.
async fn read_response(response: ServiceResponse<impl actix_web::body::MessageBody>) -> Answer {
    let status = response.status();
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_json =
        content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let is_encoded = response.headers().contains_key(header::CONTENT_ENCODING);
    let body = to_bytes(response.into_body()).await;
    Answer {
        status,
        is_json: is_json && !is_encoded,
        body: body.unwrap_or_default(),
    }
}
