//! The engine of a validator or a full node, beside the node.

use super::{
    directory::{ConsensusDirectory, DirectoryError, Secrets},
    peers::{PeersFile, PeersFileError},
    relay::{self, RelayFiles},
};
use crate::config::Settings;
use ledger_actors::{
    NodeHandle,
    engine::{ConsensusStart, EngineReport, may_sign},
    relay::{RelayQueues, relay_queues},
};
use ledger_bft::{
    AdmitError, Engine, EngineState, EngineStatus, NodeSender, Peer, PeerIdentity, StartError,
    Timeouts, log_height,
};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_relay::{Relay, RelayState};
use ledger_types::AccountAddress;
use ledger_vm::Chain;
use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::Builder,
    time::Duration,
};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};

/// Name of the thread that replaces an engine.
const START_THREAD: &str = "consensus-start";

/// The reason that a node of several validators does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConsensusError {
    /// A file of the directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The file of peers cannot be used.
    #[error(transparent)]
    Peers(#[from] PeersFileError),
    /// The key that signs votes is of another chain.
    #[error("{0}, the address of its validator.key, is no validator of the genesis")]
    NoValidator(AccountAddress),
    /// The engine's log cannot be read.
    #[error("{path}: {source}")]
    EngineLog {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The engine does not start.
    #[error("the consensus engine does not start: {0}")]
    Engine(#[from] StartError),
    /// The relay does not start.
    #[error("the relay does not start: {0}")]
    Relay(#[from] ledger_relay::StartError),
}

/// An engine that is not started, with what it needs of its directory.
#[derive(Debug)]
pub struct PreparedEngine {
    directory: ConsensusDirectory,
    secrets: Secrets,
    signed_height: Option<u64>,
    /// Height of the engine's log.
    logged_height: Option<u64>,
    notices: Notices,
    relay_queues: RelayQueues,
}

/// Notices of the node to its engine.
#[derive(Debug)]
struct Notices {
    /// Heights for which the node has transactions.
    work: watch::Receiver<u64>,
    /// Receives a value when the node may vote, after it followed without votes.
    may_vote: oneshot::Receiver<()>,
}

impl PreparedEngine {
    /// Reads the directory of a node. Also returns what the node starts with.
    ///
    /// # Errors
    ///
    /// Returns [`ConsensusError`] if a file cannot be used, a validator's key is missing, or the
    /// key is not one of the chain's validators.
    pub fn open(
        directory: ConsensusDirectory,
        chain: &Chain,
    ) -> Result<(Self, ConsensusStart), ConsensusError> {
        let secrets = directory.secrets()?;
        let key = secrets.validator.as_ref();
        let address = key.map(|key| AccountAddress::from_public_key(&key.public_key()));
        if let Some(address) = address
            && chain.validators().get(&address).is_none()
        {
            return Err(ConsensusError::NoValidator(address));
        }
        let log_path = directory.engine_log();
        let logged_height = log_height(&log_path).map_err(|source| ConsensusError::EngineLog {
            path: log_path,
            source,
        })?;
        let (log, signed_height) = directory.consensus_log(logged_height)?;
        // A full node has no record of a height, and the engine's log of one without votes is
        // another file.
        let has_voted = logged_height.is_some() || signed_height.is_some_and(|it| it != u64::MAX);
        if address.is_none() && has_voted {
            return Err(directory.no_validator_key().into());
        }
        let (work, heights) = watch::channel(0);
        let (may_vote, may_vote_receiver) = oneshot::channel();
        let (relay, relay_queues) = relay_queues();
        let start = ConsensusStart {
            address,
            log,
            work,
            may_vote,
            relay: Some(relay),
        };
        let prepared = Self {
            directory,
            secrets,
            signed_height,
            logged_height,
            notices: Notices {
                work: heights,
                may_vote: may_vote_receiver,
            },
            relay_queues,
        };
        Ok((prepared, start))
    }

    /// Starts the engine and the relay. `next_height` is the height that the engine decides first.
    ///
    /// # Errors
    ///
    /// Returns [`ConsensusError`] if a file cannot be used, or the engine or the relay does not
    /// start.
    pub fn start(
        self,
        settings: &Settings,
        node: &NodeHandle,
        genesis_hash: HashValue,
        next_height: u64,
    ) -> Result<RunningEngine, ConsensusError> {
        let chain = node.chain();
        let log_path = self.directory.engine_log();
        let logged = self.logged_height;
        let is_validator = self.secrets.validator.is_some();
        let is_signer = is_validator && may_sign(next_height, self.signed_height, logged);
        if is_validator && !is_signer {
            tracing::warn!(
                next_height,
                signed_height = ?self.signed_height,
                engine_log_height = ?logged,
                "this validator may have signed for a height that its files do not have: it follows \
                 without votes until the others have decided that height"
            );
        }
        if !is_validator {
            tracing::info!(next_height, "this full node follows the validators");
        }
        let peers_file = self.directory.peers();
        let peers = peers_file.peers()?;
        let Secrets {
            validator,
            network,
            relay: relay_key,
        } = self.secrets;
        let relay_files = RelayFiles {
            key: relay_key,
            is_validator,
            peers: &peers,
        };
        let relay = relay::start(relay_files, settings, node, genesis_hash, self.relay_queues)?;
        let engine_settings = ledger_bft::Settings {
            validator_key: validator.clone().filter(|_| is_signer),
            is_validator,
            network_key: network,
            validators: chain.validators().clone(),
            vendor: chain.vendor().clone(),
            genesis_hash,
            listen_address: settings.consensus.listen.to_string(),
            peers: peers.into_iter().map(|peer| peer.peer).collect(),
            log_path,
            timeouts: Timeouts {
                propose: Duration::from_millis(settings.consensus.propose_timeout_ms),
                ..Timeouts::default()
            },
            block_bytes_max: usize::try_from(chain.parameters().encoded_block_bytes_max())
                .unwrap_or(usize::MAX),
        };
        let slot = EngineSlot::start(engine_settings, is_validator, node)?;
        let notices = run(
            slot.clone(),
            self.notices,
            validator,
            node.clone(),
            relay.state(),
        );
        Ok(RunningEngine {
            peers: peers_file,
            slot,
            relay: Arc::new(relay),
            task: tokio::spawn(notices),
        })
    }
}

/// The engine of a node, and how it is started. Clones share it.
#[derive(Clone)]
pub(super) struct EngineSlot {
    state: Arc<Mutex<SlotState>>,
    is_validator: bool,
    node: NodeHandle,
}

/// The state of an [`EngineSlot`].
struct SlotState {
    /// The engine, unless the node stops or the engine did not start again.
    engine: Option<Engine>,
    /// Settings of the engine and of the one that replaces it.
    settings: ledger_bft::Settings,
}

impl EngineSlot {
    /// Starts an engine.
    ///
    /// # Errors
    ///
    /// Returns [`StartError`] if it does not start.
    fn start(
        settings: ledger_bft::Settings,
        is_validator: bool,
        node: &NodeHandle,
    ) -> Result<Self, StartError> {
        let engine = None;
        let slot = Self {
            state: Arc::new(Mutex::new(SlotState { engine, settings })),
            is_validator,
            node: node.clone(),
        };
        slot.start_engine(&mut slot.lock())?;
        Ok(slot)
    }

    /// Starts an engine, whose reports the node shows.
    ///
    /// # Errors
    ///
    /// Returns [`StartError`] if it does not start.
    fn start_engine(&self, state: &mut SlotState) -> Result<(), StartError> {
        let requests = self.node.engine_requests();
        let requests: NodeSender = Arc::new(move |request| requests.send(request));
        let started = Engine::start(state.settings.clone(), requests)?;
        let (observer, is_validator) = (started.observer(), self.is_validator);
        self.node.observe_engine(move || EngineReport {
            is_validator,
            ..observer.report()
        });
        state.engine = Some(started);
        Ok(())
    }

    /// Locks the state. A panic of another holder leaves the engine running or absent.
    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the engine and starts it again with a key, so that it votes. Blocks until it listens.
    ///
    /// # Errors
    ///
    /// Returns [`StartError`] if it does not start. There is no engine then.
    fn start_to_vote(&self, key: Ed25519PrivateKey) -> Result<(), StartError> {
        let mut state = self.lock();
        state.settings.validator_key = Some(key);
        // The node may have stopped it.
        if let Some(follower) = state.engine.take() {
            follower.stop();
            self.start_engine(&mut state)?;
        }
        Ok(())
    }

    /// Returns whether the node is a validator.
    pub(super) fn is_validator(&self) -> bool {
        self.is_validator
    }

    /// Returns the identity of the node.
    pub(super) fn identity(&self) -> PeerIdentity {
        self.lock().settings.network_key.identity()
    }

    /// Lets the engine accept the connections of a further full node.
    ///
    /// # Errors
    ///
    /// Returns [`AdmitError`] if it does not accept them.
    pub(super) fn admit(&self, peer: &Peer) -> Result<(), AdmitError> {
        let mut state = self.lock();
        let engine = state.engine.as_ref().ok_or(AdmitError::Unavailable)?;
        engine.admit(peer)?;
        let peers = &mut state.settings.peers;
        if peers.iter().all(|one| one.identity != peer.identity) {
            peers.push(peer.clone());
        }
        Ok(())
    }
}

/// A running engine and its relay.
pub struct RunningEngine {
    peers: PeersFile,
    slot: EngineSlot,
    relay: Arc<Relay>,
    task: JoinHandle<()>,
}

impl RunningEngine {
    /// Returns the file of the node's peers.
    pub(super) fn peers_file(&self) -> PeersFile {
        self.peers.clone()
    }

    /// Returns the engine, and how it is started.
    pub(super) fn slot(&self) -> EngineSlot {
        self.slot.clone()
    }

    /// Returns the relay.
    pub(super) fn relay(&self) -> &Arc<Relay> {
        &self.relay
    }

    /// Stops the engine and the relay, and waits until their threads have ended.
    pub async fn stop(self) {
        self.task.abort();
        // An error means that it was aborted.
        let _ = self.task.await;
        // Blocks this thread, which has nothing else to do during a stop.
        let engine = self.slot.lock().engine.take();
        drop(engine);
        // The last holder waits for its thread.
        drop(self.relay);
    }
}

/// Passes the notices of the node to the engine, and reports the end of the engine or of the relay
/// to the node. `key` is that of a validator.
async fn run(
    slot: EngineSlot,
    notices: Notices,
    key: Option<Ed25519PrivateKey>,
    node: NodeHandle,
    relay: watch::Receiver<RelayState>,
) {
    let Notices { mut work, may_vote } = notices;
    let reason = tokio::select! {
        reason = announce(&slot, &mut work) => reason,
        () = relay::panicked(relay) => Some("the thread of its relay panicked".to_owned()),
        may_vote = may_vote => match (may_vote, key) {
            (Ok(()), Some(key)) => vote(slot, key, &mut work).await,
            // The node has stopped. A full node has no notice of this kind.
            (Err(_), _) | (_, None) => return,
        },
    };
    if let Some(reason) = reason {
        node.report_engine_stopped(&reason);
    }
}

/// Replaces an engine that follows by one that votes, and continues with it.
async fn vote(
    slot: EngineSlot,
    key: Ed25519PrivateKey,
    work: &mut watch::Receiver<u64>,
) -> Option<String> {
    let (sender, started) = oneshot::channel();
    let start = {
        let slot = slot.clone();
        move || {
            // An error means that the node has stopped.
            let _ = sender.send(slot.start_to_vote(key));
        }
    };
    // The thread ends when the engine listens.
    let thread = Builder::new().name(START_THREAD.to_owned()).spawn(start);
    let started = match thread {
        Ok(_) => started.await,
        Err(error) => Ok(Err(StartError::Thread(error))),
    };
    match started {
        Ok(Ok(())) => {
            tracing::info!("this validator votes again");
            announce(&slot, work).await
        }
        Ok(Err(error)) => Some(format!("it does not start to vote: {error}")),
        Err(_) => Some("the thread that starts it panicked".to_owned()),
    }
}

/// Announces the heights of `work` to the peers until the engine stops. Returns the reason, or
/// `None` if the node has stopped.
async fn announce(slot: &EngineSlot, work: &mut watch::Receiver<u64>) -> Option<String> {
    let mut status = slot.lock().engine.as_ref()?.status();
    loop {
        tokio::select! {
            changed = work.changed() => {
                let height = *work.borrow_and_update();
                changed.ok()?;
                slot.lock().engine.as_ref()?.announce_work(height);
            }
            reason = stop_reason(&mut status) => return Some(reason),
        }
    }
}

/// Waits until the engine stops, and returns the reason.
async fn stop_reason(status: &mut watch::Receiver<EngineStatus>) -> String {
    let is_stopped = |status: &EngineStatus| matches!(status.state, EngineState::Stopped(_));
    match status
        .wait_for(is_stopped)
        .await
        .map(|status| status.state.clone())
    {
        Ok(EngineState::Stopped(reason)) => reason.to_string(),
        Ok(_) | Err(_) => "its thread ended".to_owned(),
    }
}
