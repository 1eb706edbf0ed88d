//! The node of a chain, on a thread of its own.

use crate::options::Options;
use actix_web::{HttpResponse, rt::System};
use ledger_actors::{Clock, ClockReading, Node, NodeConfig};
use ledger_api::{ApiConfig, ApiState, Connection};
use ledger_execution::{build_chain, execute_genesis, genesis::development_genesis_with};
use ledger_http::{ConnectionConfig, Listener, ListenerOptions, ListenerRegistry};
use ledger_limits::{KeyedLimit, Networks};
use ledger_store::{MEMORY_LEDGER_BYTES_MAX, Store, StoreOptions};
use ledger_test_support::HandClock;
use ledger_types::Parameters;
use ledger_vm::Chain;
use std::{
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::{Arc, mpsc::SyncSender},
    time::Duration,
};
use tokio::sync::oneshot;

/// Maximum number of connections to a chain, all from this machine.
const CONNECTIONS_MAX: usize = 1_024;
/// Maximum number of requests in flight.
const IN_FLIGHT_MAX: usize = 1_024;
/// Size of the database cache, in bytes. The ledger is in memory too.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// Timeout of a connection. A debugger may hold its client.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(3_600);
/// Maximum time for which a stop waits for requests. The test is over.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves a chain until `stopped` is sent or its sender is dropped. Sends the URL to `started`.
///
/// # Panics
///
/// Panics as [`TestChain::with`](crate::TestChain::with) does, and if the node fails.
pub(crate) fn serve(
    options: &Options,
    clock: HandClock,
    started: &SyncSender<String>,
    stopped: oneshot::Receiver<()>,
) {
    System::new().block_on(async {
        let (chain, store) = create(options);
        let node = Node::start_with_clock(chain, store, None, node_config(), node_clock(clock));
        let node = node.await.expect("the node starts");
        let state = ApiState::new(node.handle(), api_config(), "");
        let listener = Listener::start(&listener_options(), move |config| {
            ledger_api::configure(config, &state);
        });
        let mut listener = listener.expect("the system has a free port");
        let serving = listener.wait_until_serving().await;
        serving.expect("the system has threads for the listener");
        // An error means that the test ended meanwhile.
        let _ = started.send(format!("{}/v1", listener.url()));
        tokio::select! {
            _ = stopped => {}
            error = node.failed() => panic!("the node failed: {error}"),
        }
        listener.stop().await;
        node.stop().await.expect("the node stops");
    });
}

/// Creates the ledger of a development chain.
fn create(options: &Options) -> (Chain, Store) {
    let parameters = Parameters {
        gas_unit_price_min: options.gas_unit_price_min,
        coin_event_handles: options.coin_event_handles,
        // As in the preset `sdk`.
        transfers_to_framework: true,
        ..Parameters::default()
    };
    let vendor = options.vendor.parse().expect("a vendor word");
    let genesis = development_genesis_with(options.chain_id, vendor, parameters, options.accounts);
    let chain = build_chain(&genesis).expect("options of a chain");
    let store_options = StoreOptions {
        cache_bytes: CACHE_BYTES,
    };
    let mut store = Store::in_memory(&store_options).expect("an empty store");
    let created = store.initialize(&genesis, &execute_genesis(&genesis, &chain));
    created.expect("the store is in memory");
    (chain, store)
}

/// Returns the clock of a node that reads `hand`.
fn node_clock(hand: HandClock) -> Clock {
    let clock = Clock::from_readings(move || ClockReading {
        wall_usecs: hand.wall_usecs(),
        elapsed_usecs: hand.elapsed_usecs(),
    });
    clock.chosen()
}

/// Returns the configuration of a node that shares the machine with those of other tests.
fn node_config() -> NodeConfig {
    let mut config = NodeConfig::default();
    config.signatures.threads = 1;
    config.storage.readers = 1;
    config.storage.scrub_hours = 0;
    config.pruner.window_bytes = MEMORY_LEDGER_BYTES_MAX;
    config
}

fn api_config() -> ApiConfig {
    ApiConfig {
        max_in_flight: IN_FLIGHT_MAX,
        max_in_flight_per_address: IN_FLIGHT_MAX,
        ..ApiConfig::default()
    }
}

fn listener_options() -> ListenerOptions<Rc<Connection>> {
    ListenerOptions {
        name: "api",
        metrics: ListenerRegistry::default().add("api"),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        workers: 1,
        max_connections: CONNECTIONS_MAX,
        addresses: Arc::new(KeyedLimit::new(CONNECTIONS_MAX)),
        addresses_limit: "connections of an address",
        trusted_proxies: Networks::default(),
        tls: None,
        connection: ConnectionConfig {
            keep_alive: CONNECTION_TIMEOUT,
            client_request_timeout: CONNECTION_TIMEOUT,
            client_send_timeout: CONNECTION_TIMEOUT,
            max_streams: 1,
        },
        on_connect: |end_of_waits| Rc::new(Connection::new(end_of_waits)),
        respond_to_rejected: |error| HttpResponse::new(error.status()),
        shutdown_timeout: STOP_TIMEOUT,
    }
}
