//! The configuration of a node, composed of the configurations of its crates.
//!
//! Each `Default` implementation is the default of its settings, here, in `telemetry` and in the
//! crates.

use crate::{
    access::{HostNames, Origins},
    telemetry::LogSettings,
};
use ledger_actors::NodeConfig;
use ledger_api::ApiConfig;
use ledger_execution::genesis::DEVELOPMENT_ACCOUNT_COUNT;
use ledger_store::{MEMORY_LEDGER_BYTES_MAX, StoreOptions};
use ledger_types::{FrameworkUpgrade, Vendor};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

/// The effective configuration of a node.
///
/// [`super::SETTINGS`] binds each key of a configuration file to a field.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The chain that the node serves.
    pub chain: ChainSettings,
    /// Listener of the REST interface: the keys `api.*` that are not of [`ApiConfig`].
    pub api_listener: ApiListenerSettings,
    /// Limits and switches of the REST interface.
    pub api: ApiConfig,
    /// Second listener of the GraphQL query.
    pub graphql: GraphqlSettings,
    /// Faucet of a development chain.
    pub faucet: FaucetSettings,
    /// Admin listener.
    pub admin: AdminSettings,
    /// Actors and submission filter.
    pub node: NodeConfig,
    /// Kind of the sequencer.
    pub sequencer: SequencerSettings,
    /// Agreement with the other validators of the chain.
    pub consensus: ConsensusSettings,
    /// Data directory and its disk.
    pub storage: StorageSettings,
    /// Options of the store in the data directory.
    pub store: StoreOptions,
    /// Treatment of the process by the operating system.
    pub process: ProcessSettings,
    /// Log of the node.
    pub log: LogSettings,
}

impl Settings {
    /// Returns the configuration of the actors. A ledger in memory has no file to scrub, and a
    /// limit on its size.
    pub fn node_config(&self) -> NodeConfig {
        let mut node = self.node.clone();
        if self.storage.in_memory {
            node.storage.scrub_hours = 0;
            if node.pruner.enabled && node.pruner.window_bytes == 0 {
                node.pruner.window_bytes = MEMORY_LEDGER_BYTES_MAX;
            }
        }
        node
    }
}

/// The chain that a node serves.
#[derive(Clone, Debug)]
pub struct ChainSettings {
    /// Genesis file; without one the node starts a development chain.
    pub genesis: Option<PathBuf>,
    /// Chain id.
    pub id: u8,
    /// Vendor name in headers, MIME types, hash domains and framework names.
    pub vendor: Vendor,
    /// Minimum gas unit price of a development chain.
    pub gas_unit_price_min: u64,
    /// Whether new stores of a coin on a development chain get event handles.
    pub coin_event_handles: bool,
    /// Whether transfers on a development chain may pay addresses of the framework.
    pub transfers_to_framework: bool,
    /// Framework upgrades with their heights, ascending.
    pub framework_upgrades: Vec<FrameworkUpgrade>,
    /// Number of funded accounts of a development chain.
    pub accounts: u16,
    /// Unix time at which the clock of a ledger in memory starts, in seconds; 0 means that of the
    /// system.
    pub start_secs: u64,
}

impl Default for ChainSettings {
    fn default() -> Self {
        Self {
            genesis: None,
            id: 4,
            vendor: Vendor::default(),
            gas_unit_price_min: 100,
            coin_event_handles: true,
            transfers_to_framework: false,
            framework_upgrades: Vec::new(),
            accounts: DEVELOPMENT_ACCOUNT_COUNT,
            start_secs: 0,
        }
    }
}

/// The listener of the REST interface. All listeners share its timeouts.
#[derive(Clone, Debug)]
pub struct ApiListenerSettings {
    /// Address and port.
    pub listen: SocketAddr,
    /// Number of worker threads; 0 means one per core.
    pub workers: usize,
    /// Time after which an idle connection is closed, in seconds.
    pub keep_alive_secs: u64,
    /// Maximum time to receive the head of a request, and of a TLS handshake, in milliseconds.
    pub client_request_timeout_ms: u64,
    /// Maximum number of open connections.
    pub max_connections: usize,
    /// Maximum number of open connections per client address.
    pub max_connections_per_address: usize,
    /// Time that a client may leave a response unread, in milliseconds.
    pub client_send_timeout_ms: u64,
    /// Certificate chain in PEM; without one the interface is served over plain HTTP.
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate in PEM.
    pub tls_private_key: Option<PathBuf>,
}

impl Default for ApiListenerSettings {
    fn default() -> Self {
        Self {
            listen: localhost(8080),
            workers: 0,
            keep_alive_secs: 75,
            client_request_timeout_ms: 5_000,
            max_connections: 25_000,
            max_connections_per_address: 20_000,
            client_send_timeout_ms: 30_000,
            tls_certificate: None,
            tls_private_key: None,
        }
    }
}

/// The listener that serves only the GraphQL query.
#[derive(Clone, Debug, Default)]
pub struct GraphqlSettings {
    /// Address and port; `None` means no such listener.
    pub listen: Option<SocketAddr>,
}

/// The faucet of a development chain.
#[derive(Clone, Debug)]
pub struct FaucetSettings {
    /// Whether a development chain has a faucet.
    pub enabled: bool,
    /// Address and port.
    pub listen: SocketAddr,
    /// Maximum amount of a request, in the coin's smallest unit.
    pub amount_max: u64,
    /// Maximum number of requests that wait for a transaction of the faucet.
    pub queue_capacity: usize,
    /// Host names that requests may carry beside localhost and IP addresses.
    pub hosts: HostNames,
    /// Origins of web pages on other machines that may send requests.
    pub origins: Origins,
}

impl Default for FaucetSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            listen: localhost(8081),
            amount_max: 1_000_000_000_000_000,
            queue_capacity: 1_000,
            hosts: HostNames::default(),
            origins: Origins::default(),
        }
    }
}

/// The admin listener.
#[derive(Clone, Debug)]
pub struct AdminSettings {
    /// Address and port.
    pub listen: SocketAddr,
    /// File of the bearer token; `None` means that requests need no token.
    pub token_file: Option<PathBuf>,
    /// Host names that requests may carry beside localhost and IP addresses.
    pub hosts: HostNames,
    /// Whether a proxy with TLS is before the listener.
    pub behind_proxy: bool,
    /// Certificate chain in PEM; without one the listener serves plain HTTP.
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate in PEM.
    pub tls_private_key: Option<PathBuf>,
}

impl Default for AdminSettings {
    fn default() -> Self {
        Self {
            listen: localhost(9101),
            token_file: None,
            hosts: HostNames::default(),
            behind_proxy: false,
            tls_certificate: None,
            tls_private_key: None,
        }
    }
}

/// The kind of the sequencer.
#[derive(Clone, Debug)]
pub struct SequencerSettings {
    /// Order of transactions: `solo`, by this node alone, or `bft`, by the validators of the chain.
    pub mode: String,
}

impl Default for SequencerSettings {
    fn default() -> Self {
        Self {
            mode: "solo".to_owned(),
        }
    }
}

/// Agreement with the other validators of the chain.
#[derive(Clone, Debug)]
pub struct ConsensusSettings {
    /// Directory of the node: keys, peers, and what a validator must not forget.
    pub directory: Option<PathBuf>,
    /// Address and port of the connections on which nodes agree.
    pub listen: SocketAddr,
    /// Address and port of the connections that carry transactions between nodes.
    pub relay_listen: SocketAddr,
    /// Time for the proposal of a round to arrive, in milliseconds.
    pub propose_timeout_ms: u64,
}

impl Default for ConsensusSettings {
    fn default() -> Self {
        Self {
            directory: None,
            listen: localhost(7000),
            relay_listen: localhost(7400),
            propose_timeout_ms: 1_000,
        }
    }
}

/// The data directory and its disk.
#[derive(Clone, Debug)]
pub struct StorageSettings {
    /// Whether the ledger is in memory, and nothing is in a file.
    pub in_memory: bool,
    /// Directory of the ledger; created if absent.
    pub data_dir: PathBuf,
    /// Maximum size of a ledger whose checksums are verified at a start, in bytes.
    pub check_bytes_max: u64,
    /// Disk space that is kept free, in bytes.
    pub min_free_bytes: u64,
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            in_memory: false,
            data_dir: PathBuf::from("data"),
            check_bytes_max: 256 * 1024 * 1024,
            min_free_bytes: 256 * 1024 * 1024,
        }
    }
}

impl StorageSettings {
    /// Returns the directory of the ledger, or `None` if the ledger is in memory.
    pub fn directory(&self) -> Option<&Path> {
        (!self.in_memory).then_some(&*self.data_dir)
    }
}

/// Treatment of the process by the operating system.
#[derive(Clone, Debug)]
pub struct ProcessSettings {
    /// Scheduling policy of the node's threads: `batch` or `inherit`.
    pub scheduling: String,
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self {
            scheduling: "batch".to_owned(),
        }
    }
}

/// Returns a port of this machine that other machines cannot reach.
fn localhost(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
