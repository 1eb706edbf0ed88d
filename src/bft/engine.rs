//! The running engine.
//!
//! # What the engine's source says
//!
//! Read in version 0.8.2, for reports of older versions. The paths are those of its crate `engine`,
//! unless they name another.
//!
//! * Votes wait for the end of a replay. `consensus.rs` buffers messages of peers unless its phase
//!   is `Running`, which follows the replay within one call of its handler.
//! * The log replies at any height. `wal.rs` sends an empty list if it is at the height already.
//! * Heights start at 1, because `wal.rs` begins with height 0 as the current one: it would neither
//!   reset nor replay it.
//! * A new height of the log is durable before its first signature: `Log::reset` of the crate `wal`
//!   syncs the file, and `consensus.rs` waits for it before it begins the height.
//! * After an error of writing or syncing the log, consensus never continues
//!   (`hang_on_safety_failure`), and the message was not sent. The same holds for an entry that
//!   cannot be read or applied. Both become [`StopReason::Log`].
//! * The log drops an unreadable entry and all after it when it reads them, so the next start would
//!   replay less than was signed. [`log_height`] has no height for such a log: see [`mark_failed`].
//! * A panic of the log's thread becomes [`StopReason::Log`] too. A build that aborts at a panic
//!   ends the process before that.
//! * A node without votes empties its log at each height, so it has another file
//!   ([`Settings::log_path`]). The engine decides by the address whether it votes, not by the key.
//! * `persistent_peers_only` closes the connection of an unknown peer when the peer has identified
//!   itself, and messages before that are accepted. [`gate`](crate::gate) drops them. Until then a
//!   stranger can open connections up to the transport's limits, and each of its messages needs
//!   memory up to 4 MiB: `libp2p-scatter` 0.3 creates its connections with its own default, not
//!   with the configured limit.
//! * A port that is taken is only logged, so [`Engine::start`] tries it first.

use crate::adapter::{Command, NodeSender};
use crate::context::Ledger;
use crate::error::{AdmitError, StartError};
use crate::peers::Peer;
use crate::settings::Settings;
use crate::sizes;
use crate::start::{Actors, Shared, check_listen_address, start_actors};
use crate::status::{EngineStatus, PanicGuard, Step, StopReason};
use arc_malachitebft_app_channel::app::engine::consensus::ConsensusMsg;
use arc_malachitebft_app_channel::app::engine::consensus::state_dump::{StateDump, types};
use arc_malachitebft_app_channel::app::engine::network::NetworkMsg;
use arc_malachitebft_app_channel::app::wal;
use ledger_actors::engine::EngineReport;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// Number of threads for the engine's actors: one that signs and verifies, and one for the network
/// and the log meanwhile.
const WORKER_THREADS: usize = 2;

/// Maximum number of commands that the adapter has not handled. It handles them in microseconds.
const COMMANDS_MAX: usize = 16;

/// The source of an engine's reports.
#[derive(Clone)]
pub struct EngineObserver(Shared);

impl EngineObserver {
    /// Returns the state and the counters of the engine.
    pub fn report(&self) -> EngineReport {
        self.0.report()
    }
}

/// A running engine. Dropping it stops it.
pub struct Engine {
    shared: Shared,
    commands: mpsc::Sender<Command>,
    thread: Option<JoinHandle<()>>,
    log_path: PathBuf,
}

impl Engine {
    /// Starts the engine on threads of its own, and returns when it listens. The node then receives
    /// [`Ready`](ledger_actors::engine::EngineRequest::Ready).
    ///
    /// # Errors
    ///
    /// Returns the [`StartError`] of the part that does not start. Nothing runs then.
    pub fn start(settings: Settings, node: NodeSender) -> Result<Self, StartError> {
        settings.check()?;
        check_listen_address(&settings)?;
        let shared = Shared::new(&settings);
        let log_path = settings.own_log_path();
        let (commands, command_receiver) = mpsc::channel(COMMANDS_MAX);
        let (started_sender, started) = std::sync::mpsc::sync_channel(1);
        let thread = {
            let shared = shared.clone();
            let run = move || {
                let _guard = PanicGuard(shared.stopper.clone());
                run_thread(&settings, node, command_receiver, &shared, &started_sender);
            };
            std::thread::Builder::new()
                .name("consensus".into())
                .spawn(run)
        };
        let mut engine = Self {
            shared,
            commands,
            thread: Some(thread.map_err(StartError::Thread)?),
            log_path,
        };
        match started.recv() {
            Ok(Ok(())) => Ok(engine),
            Ok(Err(error)) => {
                // A log that does not open may be another engine's.
                engine.join_thread();
                if !matches!(error, StartError::Log { .. }) {
                    wait_for_log(&engine.log_path);
                }
                Err(error)
            }
            Err(_) => {
                engine.join_thread();
                Err(StartError::Actor("its thread panicked".into()))
            }
        }
    }

    /// Returns the status, as it changes.
    pub fn status(&self) -> watch::Receiver<EngineStatus> {
        self.shared.stopper.subscribe()
    }

    /// Returns the address that the engine listens on, as a multiaddress.
    pub fn listen_address(&self) -> Option<String> {
        self.shared.observed.listen_address()
    }

    /// Tells the peers that this node has transactions for a height. Peers that wait for work then
    /// receive [`WorkAnnounced`](ledger_actors::engine::EngineRequest::WorkAnnounced). Nothing is
    /// sent if the engine has stopped, or while many such messages wait.
    pub fn announce_work(&self, height: u64) {
        // A full channel has an announcement that the peers have not received yet.
        let _ = self.commands.try_send(Command::AnnounceWork(height));
    }

    /// Accepts connections of a further full node, which dials this validator.
    ///
    /// # Errors
    ///
    /// Returns [`AdmitError::TooMany`] if as many were admitted since the start as the limits of
    /// connections have room for.
    pub fn admit(&self, peer: &Peer) -> Result<(), AdmitError> {
        let allowed = &self.shared.allowed;
        if !allowed.contains(&peer.identity.0) {
            if allowed.len() >= self.shared.peers_at_start + sizes::ADMITTED_PEERS_MAX {
                return Err(AdmitError::TooMany(sizes::ADMITTED_PEERS_MAX));
            }
            allowed.insert(peer);
        }
        Ok(())
    }

    /// Returns the state and the counters of the engine.
    pub fn report(&self) -> EngineReport {
        self.shared.report()
    }

    /// Returns the source of the engine's reports, which does not keep the engine running.
    pub fn observer(&self) -> EngineObserver {
        EngineObserver(self.shared.clone())
    }

    /// Stops the engine, and waits until its threads have ended and its log is free.
    pub fn stop(mut self) {
        self.join_thread();
        wait_for_log(&self.log_path);
    }

    fn join_thread(&mut self) {
        self.shared.stopper.stop(StopReason::Requested);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is in the status.
            let _ = thread.join();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.join_thread();
    }
}

/// Waits until the engine has closed its log. Its thread for the log has no handle to join.
fn wait_for_log(path: &Path) {
    let Ok(file) = std::fs::File::open(path) else {
        return;
    };
    let deadline = Instant::now() + sizes::START_TIMEOUT;
    while file.try_lock().is_err() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the file that records the failure of a log.
fn failure_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    path.as_mut_os_string().push(".failed");
    path
}

/// Records that a log may lack messages of its height. A later height is not affected.
fn mark_failed(path: &Path) -> std::io::Result<()> {
    let height = wal::Log::open(path)?.sequence();
    let mut file = std::fs::File::create(failure_path(path))?;
    file.write_all(height.to_string().as_bytes())?;
    file.sync_all()
}

/// Returns the height of the engine's log, or `None` if it has none yet, or failed at this height.
/// A validator may sign at this height again, because the log has the messages that it signed
/// before.
///
/// # Errors
///
/// Fails if the file cannot be read, is no log, or is open in a running engine.
pub fn log_height(path: &Path) -> std::io::Result<Option<u64>> {
    // Opening creates a file.
    if !path.try_exists()? {
        return Ok(None);
    }
    let height = wal::Log::open(path)?.sequence();
    let has_failed = match std::fs::read_to_string(failure_path(path)) {
        Ok(text) => text == height.to_string(),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    Ok((height > 0 && !has_failed).then_some(height))
}

type Started = std::sync::mpsc::SyncSender<Result<(), StartError>>;

fn run_thread(
    settings: &Settings,
    node: NodeSender,
    commands: mpsc::Receiver<Command>,
    shared: &Shared,
    started: &Started,
) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .thread_name("consensus-io")
        .enable_all()
        .build();
    // An error of sending means that the caller panicked.
    let runtime: Runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Err(StartError::Thread(error)));
            return;
        }
    };
    runtime.block_on(async {
        let result = start(settings, node, commands, shared).await;
        match result {
            Ok(actors) => {
                let _ = started.send(Ok(()));
                watch_actors(&actors, shared).await;
                actors.family.stop();
                // The network closes its connections.
                let _ = actors.network.wait(Some(sizes::POLL_TIMEOUT)).await;
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        }
    });
    // A failed engine has tasks that never end.
    runtime.shutdown_timeout(sizes::POLL_TIMEOUT);
    if matches!(shared.stopper.reason(), Some(StopReason::Log(_))) {
        let path = settings.own_log_path();
        wait_for_log(&path);
        if let Err(error) = mark_failed(&path) {
            tracing::error!(%error, "the failure of the engine's log is not recorded");
        }
    }
}

async fn start(
    settings: &Settings,
    node: NodeSender,
    commands: mpsc::Receiver<Command>,
    shared: &Shared,
) -> Result<Actors, StartError> {
    let actors = start_actors(settings, node, commands, shared).await?;
    let listening = async {
        while shared.observed.listen_address().is_none() {
            // The adapter also waits for progress, so this task may miss a notification.
            let _ = timeout(Duration::from_millis(20), shared.observed.progress()).await;
        }
    };
    if timeout(sizes::START_TIMEOUT, listening).await.is_err() {
        actors.family.stop();
        return Err(StartError::NotListening(settings.listen_address.clone()));
    }
    Ok(actors)
}

/// Publishes the engine's state until it stops.
async fn watch_actors(actors: &Actors, shared: &Shared) {
    let (stopper, counters) = (&shared.stopper, &shared.counters);
    let poll = async {
        loop {
            let (is_responsive, dump) = match dump_consensus(actors).await {
                Some(dump) => (true, dump),
                None => (false, None),
            };
            if is_responsive {
                counters.actor_answers.fetch_add(1, Ordering::Relaxed);
            }
            match dump_network(actors).await {
                Some(true) => {
                    counters.network_answers.fetch_add(1, Ordering::Relaxed);
                }
                Some(false) => return stopper.stop(StopReason::Network),
                None => {}
            }
            stopper.update(|status| {
                status.is_responsive = is_responsive;
                status.peers = shared.observed.peer_count();
                if let Some(dump) = &dump
                    && !status.is_waiting
                {
                    status.step = step(dump);
                }
            });
            tokio::time::sleep(sizes::POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        () = stopper.stopped() => {}
        () = poll => {}
    }
}

fn step(dump: &StateDump<Ledger>) -> Step {
    match dump.consensus.step {
        types::Step::Unstarted => Step::Idle,
        types::Step::Propose => Step::Propose,
        types::Step::Prevote => Step::Prevote,
        types::Step::Precommit => Step::Precommit,
        types::Step::Commit => Step::Commit,
    }
}

/// Returns the state of consensus: `None` if it does not answer, `Some(None)` if it has not begun.
async fn dump_consensus(actors: &Actors) -> Option<Option<StateDump<Ledger>>> {
    let (reply, state) = oneshot::channel();
    // An error means that the actor has ended, which the supervisor records.
    actors
        .consensus
        .cast(ConsensusMsg::DumpState(reply.into()))
        .ok()?;
    timeout(sizes::POLL_TIMEOUT, state).await.ok()?.ok()
}

/// Returns whether the network runs, or `None` if it does not answer.
async fn dump_network(actors: &Actors) -> Option<bool> {
    let (reply, state) = oneshot::channel();
    actors
        .network
        .cast(NetworkMsg::DumpState(reply.into()))
        .ok()?;
    let state = timeout(sizes::POLL_TIMEOUT, state).await.ok()?.ok()?;
    Some(state.is_some())
}
