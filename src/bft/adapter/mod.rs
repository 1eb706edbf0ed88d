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
mod replies;

use crate::assembly::Assembly;
use crate::certificate;
use crate::context::{Ledger, Validators};
use crate::observed::Observed;
use crate::signer::Domain;
use crate::sizes;
use crate::status::{Counters, EngineState, Step, StopReason, Stopper};
use arc_malachitebft_app_channel::AppMsg;
use arc_malachitebft_app_channel::app::engine::consensus::ConsensusRef;
use arc_malachitebft_app_channel::app::engine::network::NetworkRef;
use arc_malachitebft_app_channel::app::types::core::{HeightParams, LinearTimeouts, Round};
use blocks::RejectionLog;
use ledger_actors::engine::EngineRequest;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::AccountAddress;
use replies::Replies;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{Semaphore, mpsc};

/// Receives the engine's requests. It returns at once: the reply follows through the request.
pub type NodeSender = Arc<dyn Fn(EngineRequest) + Send + Sync>;

/// The number of turns of each validator that ended without a decision.
pub(crate) type MissedTurns = Arc<Mutex<BTreeMap<AccountAddress, u64>>>;

/// A command of the node to the adapter.
#[derive(Debug)]
pub(crate) enum Command {
    /// Tell the peers that this node has transactions for a height.
    AnnounceWork(u64),
}

/// What the adapter needs of the engine.
pub(crate) struct AdapterContext {
    pub node: NodeSender,
    pub validators: Validators,
    pub own_address: AccountAddress,
    pub key: Option<Ed25519PrivateKey>,
    pub domain: Domain,
    pub timeouts: LinearTimeouts,
    pub block_bytes_max: usize,
    pub network: NetworkRef<Ledger>,
    pub consensus: ConsensusRef<Ledger>,
    pub allowed: Arc<crate::peers::AllowedPeers>,
    pub observed: Arc<Observed>,
    pub counters: Arc<Counters>,
    pub missed_turns: MissedTurns,
    pub stopper: Stopper,
}

pub(crate) struct Adapter {
    context: Arc<AdapterContext>,
    replies: Replies,
    assembly: Assembly,
    rejections: RejectionLog,
    blocks_in_check: Arc<Semaphore>,
    // The next height, while the node has not begun it.
    waiting: Option<u64>,
    // The last height for which the node received `WorkAnnounced`.
    announced: u64,
}

impl Adapter {
    pub(crate) fn new(context: AdapterContext) -> Self {
        let context = Arc::new(context);
        let validators = context.validators.set().clone();
        let assembly = Assembly::new(context.domain.clone(), validators, context.block_bytes_max);
        Self {
            replies: Replies::new(context.clone()),
            context,
            assembly,
            rejections: RejectionLog::default(),
            blocks_in_check: Arc::new(Semaphore::new(sizes::BLOCKS_IN_CHECK_MAX)),
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
                () = observed.progress() => self.announce_peers_work(),
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
            } => self.restream(height, round, valid_round, address, value_id),
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
                    self.receive_part(publisher, part);
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
        self.assembly.start_round(height, round);
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
            status.state = EngineState::Running;
            status.height = height;
            status.round = round;
            status.round_started = Instant::now();
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

    /// Tells the node that peers have begun the height that it waits for: once for each height.
    fn announce_peers_work(&mut self) {
        let Some(height) = self.waiting else { return };
        if self.announced != height && self.context.observed.has_begun(height) {
            self.announced = height;
            (self.context.node)(EngineRequest::WorkAnnounced { height });
        }
    }
}

impl AdapterContext {
    fn height_params(&self) -> HeightParams<Ledger> {
        HeightParams::new(self.validators.clone(), self.timeouts, None)
    }
}

/// Sends a reply to the engine. An error means that the engine has stopped.
fn answer<T>(reply: tokio::sync::oneshot::Sender<T>, value: T) {
    let _ = reply.send(value);
}

fn round_number(round: Round) -> u32 {
    round.as_u32().unwrap_or_default()
}
