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

/// A complete response.
pub struct Response {
    pub status: StatusCode,
    /// Whether the media type is JSON.
    pub is_json: bool,
    pub body: Bytes,
}

type ResponseFuture = Pin<Box<dyn Future<Output = Response>>>;

/// A node with its API.
struct ApiNode {
    system: SystemRunner,
    call: Box<dyn Fn(TestRequest) -> ResponseFuture>,
    _node: Node,
}

/// The constant time of the node, so that all runs of an input are equal.
const NOW_USECS: u64 = 1_800_000_000_000_000;

thread_local! {
    // Never dropped, because actix-web uses thread-local values that may be dropped earlier.
    static API_NODE: &'static ApiNode = Box::leak(Box::new(serve()));
}

/// Serves a request and returns the response.
pub fn call_api(request: TestRequest) -> Response {
    API_NODE.with(|node| node.system.block_on((node.call)(request)))
}

fn serve() -> ApiNode {
    let system = System::new();
    let data_dir = TempDir::new().expect("a directory for the ledger");
    let node = system.block_on(start(&data_dir));
    // The node has its files open and creates no others, so no files remain after the process.
    drop(data_dir);
    let config = ApiConfig {
        max_body_bytes: 128 * 1024,
        ..ApiConfig::default()
    };
    let state = ApiState::new(node.handle(), config);
    let app = App::new().configure(|config| configure(config, &state));
    let app = Rc::new(system.block_on(init_service(app)));
    let call = move |request: TestRequest| {
        let app = Rc::clone(&app);
        let response = async move {
            let response = app.call(request.to_request()).await;
            read(response.expect("the API converts errors to responses")).await
        };
        Box::pin(response) as ResponseFuture
    };
    ApiNode {
        system,
        call: Box::new(call),
        _node: node,
    }
}

async fn start(data_dir: &TempDir) -> Node {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let chain = build_chain(&genesis).expect("the development genesis makes a chain");
    let options = StoreOptions {
        cache_bytes: 16 * 1024 * 1024,
    };
    let mut store = Store::open(data_dir.path(), &options).expect("an empty directory opens");
    let initialized = store.initialize(&genesis, &execute_genesis(&genesis, &chain));
    initialized.expect("the genesis is stored");
    let config = NodeConfig {
        // A longer wait reaches no other code.
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

async fn read(response: ServiceResponse<impl actix_web::body::MessageBody>) -> Response {
    let status = response.status();
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_json =
        content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let is_encoded = response.headers().contains_key(header::CONTENT_ENCODING);
    let body = to_bytes(response.into_body()).await;
    Response {
        status,
        is_json: is_json && !is_encoded,
        body: body.unwrap_or_default(),
    }
}
