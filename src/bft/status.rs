//! Status and counters of the engine.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;
use tokio::sync::watch;

/// The reason that the engine stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// It was asked to.
    #[error("the engine was stopped")]
    Requested,
    /// Its log could not be written, or has a bad entry. The validator may have signed messages
    /// that the log does not have.
    #[error("the engine's log failed: {0}")]
    Log(String),
    /// One of its actors ended.
    #[error("the engine's {name} failed: {reason}")]
    Actor {
        /// Name of the actor.
        name: &'static str,
        /// The engine's reason.
        reason: String,
    },
    /// Its network ended.
    #[error("the engine's network ended")]
    Network,
    /// The node did not reply to a request that has no other answer.
    #[error("the node did not reply to {request}: {reason}")]
    NoReply {
        /// Name of the request.
        request: &'static str,
        /// What happened to the reply.
        reason: &'static str,
    },
    /// Its thread panicked.
    #[error("the engine's thread panicked")]
    Panic,
}

/// Whether the engine runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineState {
    /// It listens, but the node has not stated the first height.
    Starting,
    /// It decides blocks, or waits for the node to begin a height.
    Running,
    /// It has stopped, and does not start again.
    Stopped(StopReason),
}

/// The step of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No round has begun.
    Idle,
    /// The proposal is expected.
    Propose,
    /// First votes are expected.
    Prevote,
    /// Second votes are expected.
    Precommit,
    /// The height is decided.
    Commit,
}

/// Status of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineStatus {
    /// Whether it runs.
    pub state: EngineState,
    /// Height that it works on.
    pub height: u64,
    /// Round of the height.
    pub round: u32,
    /// Start of the height.
    pub height_started: Instant,
    /// Start of the round.
    pub round_started: Instant,
    /// Step of the round.
    pub step: Step,
    /// Whether the height is decided, and the node has not begun the next one.
    pub is_waiting: bool,
    /// Whether the engine answered the last question for its state. It does not while it waits for
    /// the node's reply or its log.
    pub is_responsive: bool,
    /// Number of connected peers.
    pub peers: usize,
}

impl EngineStatus {
    pub(crate) fn new() -> Self {
        Self {
            state: EngineState::Starting,
            height: 0,
            round: 0,
            height_started: Instant::now(),
            round_started: Instant::now(),
            step: Step::Idle,
            is_waiting: false,
            is_responsive: true,
            peers: 0,
        }
    }
}

/// Publishes the status. The first reason to stop is kept.
#[derive(Clone, Debug)]
pub(crate) struct Stopper(Arc<watch::Sender<EngineStatus>>);

impl Stopper {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(EngineStatus::new())))
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<EngineStatus> {
        self.0.subscribe()
    }

    pub(crate) fn stop(&self, reason: StopReason) {
        self.0.send_if_modified(|status| {
            let is_first = !matches!(status.state, EngineState::Stopped(_));
            if is_first {
                match reason {
                    StopReason::Requested => tracing::info!("the consensus engine stops"),
                    _ => tracing::error!(%reason, "the consensus engine stops"),
                }
                status.state = EngineState::Stopped(reason);
            }
            is_first
        });
    }

    /// Changes the status, unless the engine has stopped.
    pub(crate) fn update(&self, change: impl FnOnce(&mut EngineStatus)) {
        self.0.send_if_modified(|status| {
            if matches!(status.state, EngineState::Stopped(_)) {
                return false;
            }
            let before = status.clone();
            change(status);
            *status != before
        });
    }

    /// Returns the reason that the engine stopped.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        match &self.0.borrow().state {
            EngineState::Stopped(reason) => Some(reason.clone()),
            EngineState::Starting | EngineState::Running => None,
        }
    }

    /// Waits until the engine has a reason to stop.
    pub(crate) async fn stopped(&self) {
        let mut status = self.subscribe();
        let is_stopped = |status: &EngineStatus| matches!(status.state, EngineState::Stopped(_));
        // The sender is part of `self`, so the channel is open.
        let _ = status.wait_for(is_stopped).await;
    }
}

/// Stops the engine if the thread that holds it panics, for example in a task of the adapter.
pub(crate) struct PanicGuard(pub Stopper);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(StopReason::Panic);
        }
    }
}

/// Counters of the adapter and the gate.
#[derive(Debug, Default)]
pub struct Counters {
    /// Messages of unknown peers that were dropped.
    pub stranger_messages: AtomicU64,
    /// Parts of blocks that broke a rule.
    pub rejected_parts: AtomicU64,
    /// Parts or blocks that found no room.
    pub dropped_parts: AtomicU64,
    /// Turns of this validator that passed before the node had a block.
    pub missed_proposals: AtomicU64,
    /// Requests that were answered without the node, because it was late.
    pub late_replies: AtomicU64,
    /// Contradictory messages of validators.
    pub equivocations: AtomicU64,
    /// Decided blocks that peers sent.
    pub synced_blocks: AtomicU64,
    /// Answers of the engine's actors for their state.
    pub actor_answers: AtomicU64,
    /// Answers of the engine's network for its state.
    pub network_answers: AtomicU64,
}
