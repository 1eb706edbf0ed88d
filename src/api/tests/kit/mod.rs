//! A node that serves its interface on a free port, a client that can also send malformed requests,
//! and signed transfers.

mod client;
mod connection;
mod contract;
mod holding_clock;
mod json;
pub mod layouts;
mod pausing_clock;
mod rejection;
mod transfer;

pub use client::Client;
pub use connection::Connection;
pub use holding_clock::HoldingClock;
pub use json::{SYNTAX, changed, elements, event_numbers, members, submission, without};
pub use ledger_test_support::{
    http::{RawResponse, number},
    now_secs,
};
pub use pausing_clock::PausingClock;
pub use rejection::Rejection;
pub use transfer::{Transfer, exchange};

use actix_web::HttpResponse;
use bytes::Bytes;
use ledger_actors::{Clock, Node, NodeConfig, NodeHandle, PrunerConfig};
use ledger_api::{ApiConfig, ApiState, configure};
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_framework::modules::object;
use ledger_http::{ConnectionConfig, Listener, ListenerOptions, ListenerRegistry};
use ledger_limits::{KeyedLimit, Networks};
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{TestAccount, TestSigner, TransactionSigner as _};
use ledger_types::{
    AccountAddress, ContractEvent, ExecutedBlock, GenesisAccount, Parameters, SignedTransaction,
    StateKey, Vendor, WriteOp, WriteSet,
};
use ledger_vm::Chain;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;

/// A running node that serves its interface.
pub struct TestApi {
    pub chain: Chain,
    pub client: Client,
    pub state: ApiState,
    node: Node,
    listener: Listener,
    data_dir: TempDir,
    configs: (NodeConfig, ApiConfig, Clock),
}

/// Maximum size of a body of the node under test, in bytes. The chain's largest transaction fits.
pub const BODY_BYTES_MAX: usize = 128 * 1024;

/// Commit of the build of the node under test.
pub const GIT_HASH: &str = "3cbf7774a1b2";

const STORE_OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 16 * 1024 * 1024,
};

/// Configuration of a node under test.
pub struct Settings {
    pub vendor: Vendor,
    pub parameters: Parameters,
    /// Number of accounts of the genesis beside the development accounts.
    pub more_accounts: u64,
    /// Number of further accounts of the genesis with funds, those of `TestAccount::from_seed`.
    pub funded_accounts: u64,
    /// Values of the genesis state beside those of its modules.
    pub more_state: Vec<(StateKey, Bytes)>,
    /// Events of the genesis beside those of its modules.
    pub more_events: Vec<ContractEvent>,
    pub node: NodeConfig,
    pub api: ApiConfig,
    pub clock: Clock,
    /// An empty store instead of one in a temporary directory. [`TestApi::restarted`] does not open
    /// it again.
    pub store: Option<Store>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vendor: Vendor::default(),
            parameters: Parameters::default(),
            more_accounts: 0,
            funded_accounts: 0,
            more_state: Vec::new(),
            more_events: Vec::new(),
            node: NodeConfig::default(),
            api: ApiConfig {
                max_body_bytes: BODY_BYTES_MAX,
                max_in_flight: 256,
                ..ApiConfig::default()
            },
            clock: Clock::default(),
            store: None,
        }
    }
}

impl Settings {
    /// Returns settings with waits that do not time out during a test.
    pub fn with_long_waits() -> Self {
        let mut settings = Self::default();
        settings.node.wait.timeout_max_ms = 600_000;
        settings
    }

    /// Returns the settings of a node that retains about `window_versions` versions and prunes one
    /// version at a time.
    pub fn with_window(window_versions: u64) -> Self {
        let pruner = PrunerConfig {
            window_versions,
            batch_versions: 1,
            ..PrunerConfig::default()
        };
        Self {
            node: NodeConfig {
                pruner,
                ..NodeConfig::default()
            },
            ..Self::default()
        }
    }
}

impl TestApi {
    /// Returns a handle of the node.
    pub fn handle(&self) -> NodeHandle {
        self.node.handle()
    }

    /// Returns the clock of the node.
    pub fn clock(&self) -> &Clock {
        &self.configs.2
    }

    /// Returns the number of transactions with checked signatures.
    pub fn checked(&self) -> u64 {
        let lanes = self.handle().signature_lanes();
        lanes.iter().map(|lane| lane.checked).sum()
    }

    pub async fn start(settings: Settings) -> Self {
        let data_dir = TempDir::new().unwrap();
        let mut genesis = development_genesis(4, settings.vendor, settings.parameters);
        let more = (0..settings.more_accounts).map(|number| GenesisAccount {
            address: AccountAddress::from_low_u64(0x1_0000 + number),
            balance: 1,
            authentication_key: None,
        });
        genesis.accounts.extend(more);
        let funded = (0..settings.funded_accounts).map(|number| GenesisAccount {
            address: TestAccount::from_seed(number).address,
            balance: 1_000_000_000,
            authentication_key: None,
        });
        genesis.accounts.extend(funded);
        let chain = build_chain(&genesis).unwrap();
        let opened = || Store::open(data_dir.path(), &STORE_OPTIONS).unwrap();
        let mut store = settings.store.unwrap_or_else(opened);
        let mut block = execute_genesis(&genesis, &chain);
        add_state(&mut block, settings.more_state);
        block.transactions[0].events.extend(settings.more_events);
        store.initialize(&genesis, &block).unwrap();
        let configs = (settings.node, settings.api, settings.clock);
        Self::serve(chain, store, data_dir, configs).await
    }

    async fn serve(
        chain: Chain,
        store: Store,
        data_dir: TempDir,
        configs: (NodeConfig, ApiConfig, Clock),
    ) -> Self {
        let (node_config, api_config, clock) = configs.clone();
        let node = Node::start_with_clock(chain.clone(), store, None, node_config, clock)
            .await
            .unwrap();
        let state = ApiState::new(node.handle(), api_config, GIT_HASH);
        let served = state.clone();
        let mut listener = Listener::start(&listener_options(), move |config| {
            configure(config, &served);
        })
        .unwrap();
        listener.wait_until_serving().await.unwrap();
        let url = listener.url();
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        Self {
            client: Client::new(address, &chain),
            chain,
            state,
            node,
            listener,
            data_dir,
            configs,
        }
    }

    /// Stops the node, and starts another one in the same data directory.
    pub async fn restarted(self) -> Self {
        self.listener.stop().await;
        self.node.stop().await.unwrap();
        let store = Store::open(self.data_dir.path(), &STORE_OPTIONS).unwrap();
        Self::serve(self.chain, store, self.data_dir, self.configs).await
    }

    /// Stops the server, then the node with all its threads.
    pub async fn stop(self) {
        self.listener.stop().await;
        self.node.stop().await.unwrap();
    }

    /// Submits the transfer as BCS and returns its committed form.
    pub async fn commit(&self, transfer: &Transfer) -> Value {
        self.commit_signed(&transfer.sign(&self.chain)).await
    }

    /// Submits a transaction as [`Self::commit`] does.
    pub async fn commit_signed(&self, signed: &SignedTransaction) -> Value {
        let accepted = self.client.submit_bcs(signed).await;
        assert_eq!(accepted.status, 202, "{}", accepted.text());
        self.client.wait(&signed.hash(self.chain.vendor())).await
    }

    /// Commits a transfer to the account of each signer, which suffices for some transactions. The
    /// first development account sends them with its first sequence numbers.
    pub async fn fund(&self, signers: &[(&str, TestSigner)]) {
        for (sequence_number, (_, signer)) in (0..).zip(signers) {
            let funding = Transfer {
                to: signer.address(),
                amount: 1_000_000_000,
                ..Transfer::new(0, sequence_number)
            };
            assert_eq!(self.commit(&funding).await["success"], true);
        }
    }
}

/// Returns the options of a listener on a free port that closes no connection by itself.
fn listener_options() -> ListenerOptions<Rc<ledger_api::Connection>> {
    const LONG: Duration = Duration::from_secs(3600);
    ListenerOptions {
        name: "api",
        metrics: ListenerRegistry::default().add("api"),
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        workers: 1,
        max_connections: 1024,
        addresses: Arc::new(KeyedLimit::new(1024)),
        addresses_limit: "connections of an address",
        trusted_proxies: Networks::default(),
        tls: None,
        connection: ConnectionConfig {
            keep_alive: LONG,
            client_request_timeout: LONG,
            client_send_timeout: LONG,
            max_streams: 1,
        },
        on_connect: |end_of_waits| Rc::new(ledger_api::Connection::new(end_of_waits)),
        respond_to_rejected: |error| HttpResponse::new(error.status()),
        shutdown_timeout: Duration::from_secs(30),
    }
}

/// Returns the addresses of clients that share no class
/// ([`ClientKeys`](ledger_limits::ClientKeys)).
pub fn unrelated_clients(state: &ApiState, count: usize) -> Vec<SocketAddr> {
    let mut classes = BTreeSet::new();
    let addresses = (1..).map(|number| SocketAddr::from((Ipv4Addr::from_bits(number), 1)));
    let unrelated =
        addresses.filter(|address| classes.insert(state.client_keys.key_of(address.ip())));
    unrelated.take(count).collect()
}

/// Returns the number of messages with this label that an actor has handled.
pub fn handled(api: &TestApi, actor: &str, label: &str) -> u64 {
    let mailboxes = api.handle().mailboxes();
    let status = mailboxes.iter().find(|status| status.actor == actor);
    let by_kind = &status.unwrap().handled_by_kind;
    by_kind.get(label).copied().unwrap_or_default()
}

/// Returns the address of an account's primary store of the chain's coin.
pub fn store_of(owner: AccountAddress) -> AccountAddress {
    object::user_derived_address(owner, AccountAddress::NATIVE_ASSET)
}

/// Returns the address of the primary store of `0xb0b`, the recipient of transfers.
pub fn recipient_store() -> AccountAddress {
    store_of(AccountAddress::from_low_u64(0xb0b))
}

/// Returns the seven ledger headers of a successful response.
pub fn ledger_headers(response: &RawResponse, vendor: &str) -> [u64; 7] {
    [
        "chain-id",
        "ledger-version",
        "ledger-oldest-version",
        "ledger-timestampusec",
        "epoch",
        "block-height",
        "oldest-block-height",
    ]
    .map(|name| {
        response.headers[&format!("x-{vendor}-{name}")]
            .parse()
            .unwrap()
    })
}

/// Returns the body of a successful JSON response.
pub fn ok_json(response: &RawResponse) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    ledger_headers(response, "node");
    response.json()
}

/// Returns the body of a successful BCS response.
pub fn ok_bcs(response: &RawResponse) -> &[u8] {
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.headers["content-type"], "application/x-bcs");
    ledger_headers(response, "node");
    &response.body
}

/// Asserts that the response is an error with this status and `error_code`.
pub fn assert_error(response: &RawResponse, (status, error_code): (u16, &str), case: &str) {
    assert_eq!(response.status, status, "{case}: {}", response.text());
    assert_eq!(response.error_code(), error_code, "{case}");
}

/// Asserts that the node still commits a valid transfer.
pub async fn assert_still_commits(api: &TestApi) {
    let committed = api.commit(&Transfer::new(4, 0)).await;
    assert_eq!(committed["success"], true, "{committed}");
}

/// Adds values to the state of a genesis block.
fn add_state(block: &mut ExecutedBlock, more: Vec<(StateKey, Bytes)>) {
    let genesis = &mut block.transactions[0];
    let mut writes: Vec<_> = genesis.writes.iter().cloned().collect();
    writes.extend(
        more.into_iter()
            .map(|(key, value)| (key, WriteOp::Create(value))),
    );
    writes.sort_by(|(a, _), (b, _)| a.cmp(b));
    genesis.writes = WriteSet::from_ascending(writes);
}
