//! Start of the engine's actors.
//!
//! The engine's own builder is not used, because it registers metrics in a registry of the process,
//! where a second engine would register the same names again, and because it gives no access to its
//! actors: the gate stands between them, and the adapter sends blocks to consensus.

use crate::adapter::{Adapter, AdapterContext, Command, MissedTurns, NodeSender};
use crate::codec::LedgerCodec;
use crate::context::{Address, Ledger, Validators};
use crate::error::StartError;
use crate::gate::{GateContext, spawn_gate};
use crate::observed::Observed;
use crate::peers::AllowedPeers;
use crate::settings::Settings;
use crate::signer::{Domain, ValidatorSigner};
use crate::status::{Counters, Stopper};
use crate::supervisor::{Family, spawn_supervisor};
use arc_malachitebft_app_channel::app::config::ConsensusConfig;
use arc_malachitebft_app_channel::app::engine::consensus::ConsensusRef;
use arc_malachitebft_app_channel::app::engine::network::{NetworkIdentity, NetworkRef};
use arc_malachitebft_app_channel::app::engine::util::events::TxEvent;
use arc_malachitebft_app_channel::app::engine::util::output_port::{
    OutputPort, OutputPortSubscriberTrait,
};
use arc_malachitebft_app_channel::app::metrics::{Metrics, Registry, SharedRegistry};
use arc_malachitebft_app_channel::app::spawn;
use arc_malachitebft_app_channel::{Signer, spawn::spawn_host_actor};
use ledger_types::AccountAddress;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What the engine publishes.
#[derive(Clone)]
pub(crate) struct Shared {
    pub stopper: Stopper,
    pub observed: Arc<Observed>,
    pub allowed: Arc<AllowedPeers>,
    pub counters: Arc<Counters>,
    pub missed_turns: MissedTurns,
    pub metrics: Metrics,
    pub own_address: AccountAddress,
    /// Whether the engine signs.
    pub is_signer: bool,
    /// Number of peers at the start.
    pub peers_at_start: usize,
}

impl Shared {
    pub(crate) fn new(settings: &Settings) -> Self {
        let allowed = Arc::new(AllowedPeers::new(&settings.peers));
        let is_signer = settings.validator_key.is_some();
        let validators = settings.validators.clone();
        Self {
            stopper: Stopper::new(),
            observed: Arc::new(Observed::new(validators, allowed.clone(), is_signer)),
            allowed,
            counters: Arc::default(),
            missed_turns: MissedTurns::default(),
            metrics: Metrics::new(),
            own_address: settings.own_address(),
            is_signer,
            peers_at_start: settings.peers.len(),
        }
    }
}

/// The running actors.
pub(crate) struct Actors {
    pub family: Family,
    pub network: NetworkRef<Ledger>,
    pub consensus: ConsensusRef<Ledger>,
}

fn actor_error(error: impl std::fmt::Display) -> StartError {
    StartError::Actor(error.to_string())
}

/// Checks that the listen address is free. The engine only logs that it is not, and it shares a
/// port with another process that listens like it.
pub(crate) fn check_listen_address(settings: &Settings) -> Result<(), StartError> {
    let address = &settings.listen_address;
    if address.starts_with('/') || address.ends_with(":0") {
        return Ok(());
    }
    let listen_error = |source| StartError::Listen {
        address: address.clone(),
        source,
    };
    let mut resolved = address.to_socket_addrs().map_err(listen_error)?;
    let is_free = resolved.try_for_each(|address| TcpListener::bind(address).map(drop));
    is_free.map_err(listen_error)
}

/// Starts the actors and the adapter.
///
/// # Errors
///
/// Returns the [`StartError`] of the part that does not start. The others are stopped.
pub(crate) async fn start_actors(
    settings: &Settings,
    node: NodeSender,
    commands: mpsc::Receiver<Command>,
    shared: &Shared,
) -> Result<Actors, StartError> {
    let family = spawn_supervisor(shared.stopper.clone()).await;
    let family = family.map_err(actor_error)?;
    let started = start_children(settings, node, commands, shared, &family).await;
    if started.is_err() {
        family.stop();
    }
    started
}

async fn start_children(
    settings: &Settings,
    node: NodeSender,
    commands: mpsc::Receiver<Command>,
    shared: &Shared,
    family: &Family,
) -> Result<Actors, StartError> {
    let validators = Validators::new(settings.validators.clone());
    let validators = validators.ok_or(StartError::ValidatorCount(0))?;
    let config = settings.consensus_config()?;
    // Metrics are read where they are, so no registry is rendered.
    let registry = SharedRegistry::new(Registry::default(), None);
    let codec = LedgerCodec {
        response_bytes_max: settings.response_bytes_max(),
    };

    let network = start_network(settings, &config, &registry, codec).await?;
    family.adopt("network", &network);
    let gate = spawn_gate(GateContext {
        network: network.clone(),
        allowed: shared.allowed.clone(),
        observed: shared.observed.clone(),
        counters: shared.counters.clone(),
        family: family.clone(),
    });
    let gate = gate.await.map_err(actor_error)?;

    let log_path = settings.own_log_path();
    let log = spawn::spawn_wal_actor(&Ledger, codec, &log_path, &registry, family.node());
    let log = log.await.map_err(|reason| StartError::Log {
        path: log_path.display().to_string(),
        reason: reason.to_string(),
    })?;
    family.adopt("log", &log);

    let (host, messages) = spawn_host_actor(shared.metrics.clone())
        .await
        .map_err(actor_error)?;
    family.adopt("host", &host);

    let domain = Domain {
        vendor: settings.vendor.clone(),
        genesis_hash: settings.genesis_hash,
    };
    let signer = settings.validator_key.clone().map(|key| {
        let signer: Box<dyn Signer<Ledger>> = Box::new(ValidatorSigner {
            domain: domain.clone(),
            key,
        });
        signer
    });
    let sync_port = Arc::new(OutputPort::new());
    let own_address = settings.own_address();
    let consensus = spawn::spawn_consensus_actor(
        Ledger,
        Address(own_address),
        config,
        Box::new(domain.clone()),
        signer,
        gate.clone(),
        host.clone(),
        log,
        sync_port.clone(),
        shared.metrics.clone(),
        // The gate observes the network, and the adapter the decisions.
        TxEvent::new(),
        family.node(),
    );
    let consensus = consensus.await.map_err(actor_error)?;
    family.adopt("consensus", &consensus);

    let sync_config = settings.sync_config();
    let sync = spawn::spawn_sync_actor(
        Ledger,
        gate,
        host,
        consensus.clone(),
        codec,
        &sync_config,
        &registry,
    );
    if let Some(sync) = sync.await.map_err(actor_error)? {
        family.adopt("sync", &sync);
        sync.subscribe_to_port(&sync_port);
    }

    let adapter = Adapter::new(AdapterContext {
        node,
        validators,
        own_address,
        key: settings.validator_key.clone(),
        domain,
        timeouts: settings.timeouts.linear(),
        block_bytes_max: settings.block_bytes_max,
        network: network.clone(),
        consensus: consensus.clone(),
        allowed: shared.allowed.clone(),
        observed: shared.observed.clone(),
        counters: shared.counters.clone(),
        missed_turns: shared.missed_turns.clone(),
        stopper: shared.stopper.clone(),
    });
    tokio::spawn(adapter.run(messages, commands));
    Ok(Actors {
        family: family.clone(),
        network,
        consensus,
    })
}

async fn start_network(
    settings: &Settings,
    config: &ConsensusConfig,
    registry: &SharedRegistry,
    codec: LedgerCodec,
) -> Result<NetworkRef<Ledger>, StartError> {
    let keypair = settings.network_key.keypair();
    // Without an address, the node sends no proof of it: peers are known by their network keys.
    let identity = NetworkIdentity::new("node".into(), keypair, None);
    let sync_config = settings.sync_config();
    let network = spawn::spawn_network_actor(config, &sync_config, identity, registry, codec);
    network.await.map_err(actor_error)
}
