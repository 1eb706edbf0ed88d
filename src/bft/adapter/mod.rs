//! The adapter between the engine and the node.
//!
//! The engine's host actor handles one message at a time and waits for the reply, except for
//! decisions. A reply that does not come would freeze the engine at its next round. So the adapter
//! answers each message within a bound: with the node's reply, or without it if there is a safe
//! answer ([`replies`]). Where there is none, it stops the engine with a reason.
//!
//! The adapter itself never waits: a task per message does. There are few at a time, because the
//! engine sends the next message after the reply to the last one.

mod blocks;
mod context;
mod replies;

pub use context::NodeSender;
pub(crate) use context::{AdapterContext, MissedTurns};

use crate::certificate;
use crate::context::Ledger;
use crate::status::{EngineState, PanicGuard, Step, StopReason};
use arc_malachitebft_app_channel::AppMsg;
use blocks::Blocks;
use context::answer;
use ledger_actors::engine::EngineRequest;
use replies::Replies;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;

/// A command of the node to the adapter.
#[derive(Debug)]
pub(crate) enum Command {
    /// Tell the peers that this node has transactions for a height.
    AnnounceWork(u64),
}

pub(crate) struct Adapter {
    context: Arc<AdapterContext>,
    replies: Replies,
    blocks: Blocks,
    // The next height, while the node has not begun it.
    waiting: Option<u64>,
    // The last height for which the node received `WorkAnnounced`.
    announced: u64,
    // Whether the node shall learn of a quorum: it follows and did not yet.
    is_quorum_wanted: bool,
}

impl Adapter {
    pub(crate) fn new(context: AdapterContext) -> Self {
        let context = Arc::new(context);
        Self {
            is_quorum_wanted: context.key.is_none(),
            replies: Replies::new(context.clone()),
            blocks: Blocks::new(context.clone()),
            context,
            waiting: None,
            announced: 0,
        }
    }

    /// Handles messages until the engine stops.
    pub(crate) async fn run(
        mut self,
        mut messages: mpsc::Receiver<AppMsg<Ledger>>,
        mut commands: mpsc::Receiver<Command>,
    ) {
        let observed = self.context.observed.clone();
        let stopper = self.context.stopper.clone();
        let _guard = PanicGuard(stopper.clone());
        loop {
            tokio::select! {
                () = stopper.stopped() => return,
                message = messages.recv() => match message {
                    Some(message) => self.handle(message),
                    None => return stopper.stop(StopReason::Actor {
                        name: "host",
                        reason: "its channel is closed".into(),
                    }),
                },
                () = observed.progress() => {
                    self.announce_peers_work();
                    self.report_quorum();
                }
                Some(command) = commands.recv() => match command {
                    Command::AnnounceWork(height) => blocks::announce_work(&self.context, height),
                },
            }
        }
    }

    fn handle(&mut self, message: AppMsg<Ledger>) {
        match message {
            AppMsg::ConsensusReady { reply } => self.replies.ready(reply),
            AppMsg::StartedRound {
                height,
                round,
                proposer,
                reply_value,
                ..
            } => {
                let round = round.as_u32().unwrap_or_default();
                self.started_round(height.0, round);
                let replies = &self.replies;
                replies.started_round(height.0, round, proposer.0, reply_value);
            }
            AppMsg::GetValue {
                height,
                round,
                timeout,
                reply,
            } => self.replies.propose(height, round, timeout, reply),
            // The chain has no vote extensions.
            AppMsg::ExtendVote { reply, .. } => answer(reply, None),
            AppMsg::VerifyVoteExtensions {
                extensions, reply, ..
            } => {
                let verdicts = extensions.into_iter();
                answer(
                    reply,
                    verdicts.map(|(address, ())| (address, Ok(()))).collect(),
                );
            }
            AppMsg::RestreamProposal {
                height,
                round,
                valid_round,
                address,
                value_id,
            } => self
                .blocks
                .restream(height, round, valid_round, address, value_id),
            AppMsg::GetHistoryMinHeight { reply } => self.replies.oldest_height(reply),
            // The block follows through the engine's own messages, so the host never waits for it.
            AppMsg::ReceivedProposalPart {
                published_by,
                part,
                reply,
                ..
            } => {
                answer(reply, None);
                if let (Some(publisher), Some(part)) = (published_by, part.content.into_data()) {
                    self.blocks.receive_part(publisher, part);
                }
            }
            AppMsg::Decided {
                certificate, reply, ..
            } => match certificate::to_ledger(&certificate) {
                Some(certificate) => self.replies.decided(certificate, reply),
                None => self.stop_for("Decided", "the certificate has no round"),
            },
            AppMsg::Finalized {
                certificate,
                evidence,
                reply,
                ..
            } => match certificate::to_ledger(&certificate) {
                Some(certificate) => {
                    let equivocations = certificate::equivocations(&evidence);
                    let counter = &self.context.counters.equivocations;
                    counter.fetch_add(equivocations.len() as u64, Ordering::Relaxed);
                    let height = certificate.height;
                    self.replies.finalized(certificate, equivocations, reply);
                    self.wait_for_work(height + 1);
                }
                None => self.stop_for("Finalized", "the certificate has no round"),
            },
            AppMsg::GetDecidedValues { range, reply } => {
                self.replies
                    .decided_blocks(range.start().0, range.end().0, reply);
            }
            AppMsg::ProcessSyncedValue {
                height,
                round,
                proposer,
                value_bytes,
                reply,
            } => self
                .replies
                .synced(height, round, proposer, value_bytes, reply),
        }
    }

    fn stop_for(&self, request: &'static str, reason: &'static str) {
        let stopper = &self.context.stopper;
        stopper.stop(StopReason::NoReply { request, reason });
    }

    fn started_round(&mut self, height: u64, round: u32) {
        self.waiting = None;
        self.context.observed.begin(height);
        self.blocks.start_round(height, round);
        if let Some(last) = round.checked_sub(1) {
            let set = self.context.validators.set();
            if let Some(proposer) = set.proposer(height, last) {
                let missed = self.context.missed_turns.lock();
                // Valid even if the holder panicked: each change is complete.
                let mut missed = missed.unwrap_or_else(PoisonError::into_inner);
                *missed.entry(proposer.address).or_default() += 1;
            }
        }
        self.context.stopper.update(|status| {
            let now = Instant::now();
            if status.state != EngineState::Running || status.height != height {
                status.height_started = now;
            }
            status.state = EngineState::Running;
            status.height = height;
            status.round = round;
            status.round_started = now;
            status.step = Step::Propose;
            status.is_waiting = false;
        });
    }

    fn wait_for_work(&mut self, next: u64) {
        self.waiting = Some(next);
        self.context.stopper.update(|status| {
            status.step = Step::Commit;
            status.is_waiting = true;
        });
        // Peers may have begun the height before this node had decided the last one.
        self.announce_peers_work();
    }

    /// Reports to the node of a follower, once, how far a quorum of validators is.
    fn report_quorum(&mut self) {
        if self.is_quorum_wanted
            && let Some(height) = self.context.observed.quorum_tip()
        {
            self.is_quorum_wanted = false;
            (self.context.node)(EngineRequest::QuorumReached { height });
        }
    }

    /// Tells the node that peers have begun the height that it waits for: once for each height.
    fn announce_peers_work(&mut self) {
        let Some(height) = self.waiting else { return };
        if self.announced != height && self.context.observed.has_begun(height) {
            self.announced = height;
            (self.context.node)(EngineRequest::WorkAnnounced { height });
        }
    }
}
