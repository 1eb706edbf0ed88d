//! The interface in this process, without sockets.

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

/// What was answered.
pub struct Answer {
    pub status: StatusCode,
    /// Whether it is said to be JSON.
    pub is_json: bool,
    pub body: Bytes,
}

type Answering = Pin<Box<dyn Future<Output = Answer>>>;

/// A node with its interface.
struct Served {
    system: SystemRunner,
    call: Box<dyn Fn(TestRequest) -> Answering>,
    _node: Node,
}

/// The moment at which the node stands: runs of one input are alike.
const NOW_USECS: u64 = 1_800_000_000_000_000;

thread_local! {
    // Never dropped: the web framework keeps values of the thread, which may be gone first at its end.
    static SERVED: &'static Served = Box::leak(Box::new(serve()));
}

/// Asks the interface.
pub fn answer(request: TestRequest) -> Answer {
    SERVED.with(|served| served.system.block_on((served.call)(request)))
}

fn serve() -> Served {
    let system = System::new();
    let data_dir = TempDir::new().expect("a directory for the ledger");
    let node = system.block_on(start(&data_dir));
    // The node has its file open and makes no other: nothing is left behind, however the process ends.
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
        let answering = async move {
            let response = app.call(request.to_request()).await;
            read(response.expect("the interface answers errors by itself")).await
        };
        Box::pin(answering) as Answering
    };
    Served {
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
        // A wait tells nothing that its end does not.
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

async fn read(response: ServiceResponse<impl actix_web::body::MessageBody>) -> Answer {
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
