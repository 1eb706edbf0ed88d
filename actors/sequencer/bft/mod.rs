//! Ordering by several validators: the node's side of the consensus engine.
//!
//! The engine decides one height after the other. The node proposes blocks from its mempool, checks
//! those of others, and makes durable what it must not forget. Decided blocks are executed in order
//! while the engine decides later ones, at most `blocks_in_flight_max`.
//!
//! Each request of the engine is answered at once, or by the thread `consensus-log` after a write.
//! The reply to [`EngineRequest::Finalized`] starts the next height. It is withheld while a
//! decision is not durable, while too many decided blocks are not in the ledger, while disk space
//! is low, and while no validator has a transaction. A full node answers the same requests, except
//! for those of a proposer, and begins a height only after a validator.

mod decide;
pub(crate) mod meter;
mod proposals;
mod propose;
mod receive;
pub(crate) mod restore;
mod rules;
pub(crate) mod worker;

use super::ordering::Ordering;
use crate::{
    engine::{EncodedBlock, EngineRequest, Equivocation, ProposedBlock},
    protocol::{
        consensus::{BlockReply, ReturnBatch, Turn},
        proposed_block::CheckedBlock,
    },
    state::head::HeadReader,
};
use crossbeam_channel::{Sender, TrySendError};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, CommitCertificate, ExecutedBlock, LedgerRoot,
    RecentRoots, ValidatorSet,
};
use ledger_vm::Chain;
use meter::ProposalMeter;
use proposals::{Proposal, Proposals, State};
use rules::Parent;
use std::{collections::VecDeque, sync::Arc};
use tokio::sync::{oneshot, watch};
use worker::{ConsensusJob, PEER_JOBS_MAX, Then};

/// What a node begins with: the end of its ledger and the content of its consensus log.
#[derive(Debug)]
pub(crate) struct BftStart {
    pub(crate) chain: Chain,
    /// Address of this validator. `None` for a full node.
    pub(crate) address: Option<AccountAddress>,
    /// Receives each height that this validator begins because it has transactions.
    pub(crate) work: watch::Sender<u64>,
    /// Receives a value when a node that followed without votes may vote.
    pub(crate) may_vote: oneshot::Sender<()>,
    pub(crate) tip: ChainTip,
    /// Newest height for which this node may have signed, [`u64::MAX`] without a record.
    pub(crate) signed_height: u64,
    /// Decided blocks above the tip, in order.
    pub(crate) decided: Vec<(CommitCertificate, CheckedBlock)>,
    /// Proposals at the height above them.
    pub(crate) proposals: Vec<(Turn, CheckedBlock)>,
}

impl BftStart {
    /// Returns the height that the engine decides first.
    pub(crate) fn next_height(&self) -> u64 {
        let decided = self.decided.len() as u64;
        self.tip.height.saturating_add(1).saturating_add(decided)
    }
}

/// A request for a block that waits for the mempool's batch.
#[derive(Debug)]
struct WaitingProposal {
    turn: Turn,
    reply: oneshot::Sender<EncodedBlock>,
}

/// The transactions of this node's proposals at a height.
#[derive(Debug)]
struct OwnBatch {
    height: u64,
    transactions: Vec<Arc<CheckedTransaction>>,
}

/// The node's side of the consensus engine.
#[derive(Debug)]
pub(crate) struct Bft {
    chain: Chain,
    /// Address of this validator. `None` for a full node.
    address: Option<AccountAddress>,
    /// Queue of the thread that checks blocks and writes the log.
    jobs: Sender<ConsensusJob>,
    meter: Arc<ProposalMeter>,
    /// The newest decided block.
    parent: Parent,
    /// Roots of the newest blocks of the ledger.
    roots: RecentRoots,
    /// Height of the newest block of the ledger.
    ledger_height: u64,
    /// The Head, whose oldest height pruning raises.
    head: HeadReader,
    /// Newest height for which this node may have signed, [`u64::MAX`] without a record.
    signed_height: u64,
    proposals: Proposals,
    /// Decided blocks that are not durable yet, in order.
    decided: VecDeque<(CommitCertificate, Arc<CheckedBlock>)>,
    waiting_proposal: Option<WaitingProposal>,
    own_batch: Option<OwnBatch>,
    /// The withheld reply to the newest finalized height.
    next_height: Option<oneshot::Sender<u64>>,
    /// Announces heights for which this node has transactions.
    work: watch::Sender<u64>,
    /// Receives a value when a node that followed without votes may vote.
    may_vote: Option<oneshot::Sender<()>>,
    /// Whether the engine signs.
    is_signer: bool,
    /// Highest height for which a peer has transactions.
    announced_height: u64,
    /// Whether the mempool has a transaction for a block.
    has_work: bool,
    is_watching: bool,
}

impl Bft {
    /// Creates the engine's counterpart. [`Self::started`] executes the decided blocks.
    pub(crate) fn new(
        start: BftStart,
        jobs: Sender<ConsensusJob>,
        meter: Arc<ProposalMeter>,
        head: HeadReader,
    ) -> Self {
        let tip = &start.tip;
        let mut bft = Self {
            parent: Parent {
                height: tip.height,
                hash: tip.block_hash,
                // Genesis belongs to epoch 0, and the blocks after it belong to epoch 1.
                epoch: tip.epoch.max(1),
                timestamp_usecs: tip.timestamp_usecs,
            },
            roots: tip.roots.clone(),
            ledger_height: tip.height,
            chain: start.chain,
            address: start.address,
            jobs,
            meter,
            head,
            signed_height: start.signed_height,
            proposals: Proposals::default(),
            decided: VecDeque::new(),
            waiting_proposal: None,
            own_batch: None,
            next_height: None,
            work: start.work,
            may_vote: Some(start.may_vote),
            is_signer: false,
            announced_height: 0,
            has_work: false,
            is_watching: false,
        };
        for (certificate, block) in start.decided {
            bft.parent = Parent::of(&block);
            bft.decided.push_back((certificate, Arc::new(block)));
        }
        for (turn, block) in start.proposals {
            bft.proposals.add(Proposal {
                turn,
                block: Arc::new(block),
                state: State::Undecided,
                is_answered: false,
                is_synced: false,
            });
        }
        bft
    }

    /// Sends the decided blocks of the log to the committer.
    pub(super) fn started(&mut self, ordering: &mut Ordering) {
        while let Some((_, block)) = self.decided.front() {
            let height = block.header.height;
            self.execute_decided(height, ordering);
        }
    }

    fn validators(&self) -> &ValidatorSet {
        self.chain.validators()
    }

    /// Handles a request of the engine.
    pub(super) fn handle(&mut self, request: EngineRequest, ordering: &mut Ordering) {
        match request {
            EngineRequest::Ready { is_signer, reply } => self.begin(is_signer, reply, ordering),
            EngineRequest::RoundStarted {
                height,
                round,
                reply,
                ..
            } => self.start_round(height, round, reply, ordering),
            EngineRequest::Propose {
                height,
                round,
                reply,
                ..
            } => self.propose(height, round, reply, ordering),
            EngineRequest::BlockReceived {
                height,
                round,
                valid_round,
                proposer,
                bytes,
                reply,
            } => {
                let turn = Turn {
                    height,
                    round,
                    valid_round,
                    proposer,
                };
                self.check(turn, bytes, BlockReply::Proposed(reply), ordering);
            }
            EngineRequest::QuorumReached { height } => self.bound_signed_height(height, ordering),
            EngineRequest::WorkAnnounced { height } => {
                self.announced_height = self.announced_height.max(height);
                self.start_next_height(ordering);
            }
            EngineRequest::GetBlock {
                height,
                hash,
                reply,
            } => {
                let proposal = self.proposals.of_block(height, hash);
                answer(reply, proposal.map(|proposal| proposal.block.bytes.clone()));
            }
            EngineRequest::Decided { certificate, reply } => {
                self.decide(certificate, reply, ordering);
            }
            EngineRequest::Finalized {
                equivocations,
                reply,
                ..
            } => {
                report(&equivocations);
                self.next_height = Some(reply);
                self.start_next_height(ordering);
            }
            EngineRequest::GetOldestHeight { reply } => {
                // Peers have the genesis block themselves.
                answer(reply, self.head.ledger_info().oldest_block_height.max(1));
            }
            EngineRequest::GetDecidedBlocks { first, last, reply } => {
                if !self.has_room_for_peers() {
                    return answer(reply, Vec::new());
                }
                let job = ConsensusJob::ReadDecided {
                    first,
                    last,
                    ledger_height: self.ledger_height,
                    reply,
                };
                self.send_job(job, ordering);
            }
            EngineRequest::BlockSynced {
                height,
                round,
                proposer,
                bytes,
                reply,
            } => {
                let turn = Turn {
                    height,
                    round,
                    valid_round: None,
                    proposer,
                };
                self.check(turn, bytes, BlockReply::Synced(reply), ordering);
            }
        }
    }

    /// Replies with the height above the newest decided block to an engine that has started.
    ///
    /// An engine may follow with the log that it votes with. Up to the recorded height, that log
    /// then lacks the signatures of before, so the record is raised first.
    fn begin(&mut self, is_signer: bool, reply: oneshot::Sender<u64>, ordering: &Ordering) {
        self.is_signer = is_signer;
        // An engine that ran before waits for nothing, and this one has none of its blocks.
        self.next_height = None;
        self.waiting_proposal = None;
        self.proposals.forget_answers();
        let next_height = self.parent.height.saturating_add(1);
        if is_signer {
            // The record may be of the height that begins: the engine's log has its signatures, and
            // the height is recorded again.
            self.signed_height = self.signed_height.min(self.parent.height);
        } else if (next_height..u64::MAX).contains(&self.signed_height) {
            self.signed_height += 1;
            let then: Then = Box::new(move || answer(reply, next_height));
            let height = self.signed_height;
            return self.send_job(ConsensusJob::RecordHeight { height, then }, ordering);
        }
        answer(reply, next_height);
    }

    /// Replies with the blocks of the round when they are durable and the height is recorded.
    ///
    /// From then on the engine may sign for the height.
    fn start_round(
        &mut self,
        height: u64,
        round: u32,
        reply: oneshot::Sender<Vec<ProposedBlock>>,
        ordering: &mut Ordering,
    ) {
        self.judge_undecided(height, ordering);
        let mut known = Vec::new();
        for proposal in self.proposals.at_mut(height) {
            let is_new = !proposal.is_answered || proposal.turn.round == round;
            if is_new && proposal.state != State::Undecided {
                proposal.is_answered = true;
                known.push(proposal.proposed());
            }
        }
        let then: Then = Box::new(move || answer(reply, known));
        let job = if self.is_signer && height > self.signed_height {
            self.signed_height = height;
            ConsensusJob::RecordHeight { height, then }
        } else {
            ConsensusJob::Confirm { then }
        };
        self.send_job(job, ordering);
    }

    /// Returns the root that the header at `height` must have, if the block is in the ledger.
    fn root_for(&self, height: u64) -> Option<LedgerRoot> {
        let delay = self.chain.parameters().root_delay_blocks;
        self.roots
            .at(height.saturating_sub(delay), self.ledger_height)
    }

    /// Records a block of the ledger.
    pub(super) fn record_committed(&mut self, block: &ExecutedBlock) {
        self.ledger_height = block.height();
        self.roots = block.tip.roots.clone();
    }

    /// Handles the notification that the mempool has a transaction for a block.
    pub(super) fn handle_ready(&mut self, ordering: &mut Ordering) {
        self.is_watching = false;
        self.has_work = true;
        self.start_next_height(ordering);
    }

    /// Returns whether a peer may cause a further job.
    fn has_room_for_peers(&self) -> bool {
        self.jobs.len() < PEER_JOBS_MAX
    }

    fn send_job(&self, job: ConsensusJob, ordering: &Ordering) {
        // A job follows each change of the proposals.
        self.meter.undecided.set(self.proposals.len());
        // A disconnected queue means that the thread has ended, which it has reported.
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            ordering.report(&"the queue of the consensus log is full");
        }
    }
}

/// Logs contradictory messages of validators.
fn report(equivocations: &[Equivocation]) {
    for equivocation in equivocations {
        tracing::warn!(
            validator = %equivocation.validator,
            height = equivocation.height,
            round = equivocation.round,
            kind = ?equivocation.kind,
            "a validator signed two different messages for one step"
        );
    }
}

/// Returns transactions of which no block became decided to the mempool.
fn return_batch(transactions: Vec<Arc<CheckedTransaction>>, ordering: &Ordering) {
    if !transactions.is_empty() {
        ordering.peers.returned.send(ReturnBatch(transactions));
    }
}

/// Sends a reply. An error means that the engine has stopped or does not wait any more.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    let _ = reply.send(value);
}

#[cfg(test)]
mod tests;
