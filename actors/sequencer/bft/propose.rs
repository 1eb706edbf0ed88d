//! The blocks that this node proposes.

use super::{
    Bft, OwnBatch, WaitingProposal, answer,
    proposals::{Proposal, State},
    return_batch,
    worker::{ConsensusJob, Then},
};
use crate::{
    engine::EncodedBlock,
    protocol::{
        consensus::Turn,
        mempool::{BatchLimits, PullBatch},
        proposed_block::{CheckedBlock, payload_root},
    },
    sequencer::ordering::{Ordering, batch_limits},
};
use ledger_types::{BlockHeader, CheckedTransaction};
use std::sync::Arc;
use tokio::sync::oneshot;

impl Bft {
    /// Replies with this node's block of a round. The same round receives the same block again.
    pub(super) fn propose(
        &mut self,
        height: u64,
        round: u32,
        reply: oneshot::Sender<EncodedBlock>,
        ordering: &mut Ordering,
    ) {
        let Some(proposer) = self.address else {
            return ordering.report(&"the engine of a full node requests a block");
        };
        let turn = Turn {
            height,
            round,
            valid_round: None,
            proposer,
        };
        if let Some(proposal) = self.proposals.of_round(turn) {
            let own = encoded(&proposal.block);
            let then: Then = Box::new(move || answer(reply, own));
            return self.send_job(ConsensusJob::Confirm { then }, ordering);
        }
        self.waiting_proposal = Some(WaitingProposal { turn, reply });
        match &self.own_batch {
            // No block of these transactions is decided at this height.
            Some(own) if own.height == height => {
                let transactions = own.transactions.clone();
                self.complete_proposal(transactions, ordering);
            }
            _ => self.pull(ordering),
        }
    }

    /// Requests the transactions of a block, without waiting for the first.
    fn pull(&mut self, ordering: &mut Ordering) {
        let parameters = self.chain.parameters();
        let own = batch_limits(&ordering.config);
        let within = |limit: u64, own| usize::try_from(limit).map_or(own, |max| max.min(own));
        ordering.peers.mempool.send(PullBatch {
            limits: BatchLimits {
                transactions_max: within(parameters.block_transactions_max, own.transactions_max),
                bytes_max: within(parameters.block_bytes_max, own.bytes_max),
                ..own
            },
            is_immediate: true,
            reply_to: ordering.peers.batches.clone(),
        });
    }

    /// Handles the batch of [`Self::pull`].
    pub(in crate::sequencer) fn handle_batch(
        &mut self,
        transactions: Vec<Arc<CheckedTransaction>>,
        ordering: &mut Ordering,
    ) {
        let height = self
            .waiting_proposal
            .as_ref()
            .map(|waiting| waiting.turn.height);
        match height {
            Some(height) if height == self.parent.height.saturating_add(1) => {
                self.own_batch = Some(OwnBatch {
                    height,
                    transactions: transactions.clone(),
                });
                self.complete_proposal(transactions, ordering);
            }
            // The height was decided meanwhile.
            _ => return_batch(transactions, ordering),
        }
    }

    /// Makes a block of `transactions` for the waiting request. The reply follows when the block is
    /// durable.
    fn complete_proposal(
        &mut self,
        transactions: Vec<Arc<CheckedTransaction>>,
        ordering: &mut Ordering,
    ) {
        let Some(WaitingProposal { turn, reply }) = self.waiting_proposal.take() else {
            return;
        };
        let Some(executed) = self.root_for(turn.height) else {
            ordering.report(&"a height began before the block of its root was executed");
            return;
        };
        let reading = ordering.clock.source().read();
        let now_usecs = ordering.clock.observe_at(reading);
        let header = BlockHeader {
            parent_hash: self.parent.hash,
            height: turn.height,
            epoch: self.parent.epoch,
            round: turn.round.into(),
            proposer: turn.proposer,
            timestamp_usecs: now_usecs.max(self.parent.timestamp_usecs.saturating_add(1)),
            payload_root: payload_root(&transactions, &self.chain),
            executed,
        };
        let block = Arc::new(CheckedBlock::new(header, transactions, &self.chain));
        self.proposals.add(Proposal {
            turn,
            block: Arc::clone(&block),
            state: State::Valid,
            is_answered: true,
            is_synced: false,
        });
        let own = encoded(&block);
        let then: Then = Box::new(move || answer(reply, own));
        self.send_job(ConsensusJob::AddProposal { turn, block, then }, ordering);
    }
}

fn encoded(block: &CheckedBlock) -> EncodedBlock {
    EncodedBlock {
        hash: block.hash,
        bytes: block.bytes.clone(),
    }
}
