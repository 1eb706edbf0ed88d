//! Decided blocks, and the start of the next height.

use super::{
    Bft, OwnBatch, answer, return_batch,
    rules::{Parent, Verdict, judge_decided},
    worker::{ConsensusJob, Then},
};
use crate::{
    protocol::{
        consensus::{TransactionsDecided, Turn, WatchReady},
        proposed_block::CheckedBlock,
    },
    sequencer::ordering::Ordering,
};
use ledger_types::{CommitCertificate, OrderedBlock};
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::oneshot;

/// Maximum number of heights by which a height that a validator signed is above the tip of another
/// one that voted for the height before it.
const HEIGHTS_ABOVE_TIP: u64 = 2;

impl Bft {
    /// Makes a decision durable, and then acknowledges it. A decided block that breaks a rule of
    /// the chain ends the node.
    pub(super) fn decide(
        &mut self,
        certificate: CommitCertificate,
        reply: oneshot::Sender<()>,
        ordering: &mut Ordering,
    ) {
        let height = certificate.height;
        if height <= self.parent.height {
            // The engine repeats a decision after a restart. The first one may not be durable yet.
            let then: Then = Box::new(move || answer(reply, ()));
            return self.send_job(ConsensusJob::Confirm { then }, ordering);
        }
        let Some(proposal) = self.proposals.of_block(height, certificate.block_hash) else {
            ordering.report(&format_args!(
                "block {height} was decided, and this node does not have it"
            ));
            return;
        };
        let block = Arc::clone(&proposal.block);
        let turn = Turn {
            round: certificate.round,
            ..proposal.turn
        };
        if let Verdict::Invalid(rule) | Verdict::Undecided(rule) =
            judge_decided(&block.header, turn, self.validators(), self.parent)
        {
            ordering.report(&format_args!(
                "two thirds of the validators decided block {height}, and {rule}"
            ));
            return;
        }
        self.parent = Parent::of(&block);
        self.proposals.remove_decided(height);
        self.decided.push_back((certificate.clone(), block));
        let job = ConsensusJob::Decide {
            certificate,
            ledger_height: self.ledger_height,
            reply,
        };
        self.send_job(job, ordering);
        self.vote_above_signed(ordering);
    }

    /// Bounds the heights for which a validator without a record may have signed.
    ///
    /// `height` is the highest tip among validators that are a quorum with this one. To sign for a
    /// height, this validator needed a quorum of votes for the height before it. One validator of
    /// both quorums is another one and honest, because at most a third is faulty and this one is:
    /// it voted for the height before after the height before that was durable.
    pub(super) fn bound_signed_height(&mut self, height: u64, ordering: &Ordering) {
        if !self.is_signer && self.signed_height == u64::MAX {
            self.signed_height = height.saturating_add(HEIGHTS_ABOVE_TIP);
            self.vote_above_signed(ordering);
        }
    }

    /// Lets the engine of a validator that follows start again, to vote, if no later height is one
    /// for which the validator may have signed.
    fn vote_above_signed(&mut self, ordering: &Ordering) {
        let height = self.parent.height;
        if self.is_signer || self.address.is_none() || height < self.signed_height {
            return;
        }
        if let Some(may_vote) = self.may_vote.take() {
            let then: Then = Box::new(move || answer(may_vote, ()));
            self.send_job(ConsensusJob::RecordHeight { height, then }, ordering);
        }
    }

    /// Executes a decided block that is durable.
    pub(in crate::sequencer) fn execute_decided(&mut self, height: u64, ordering: &mut Ordering) {
        let next = self.decided.pop_front();
        let Some((certificate, block)) = next.filter(|(_, block)| block.header.height == height)
        else {
            return ordering.report(&format_args!("block {height} is durable out of order"));
        };
        let own = self.own_batch.take_if(|own| own.height <= height);
        if let Some(OwnBatch { transactions, .. }) = own {
            let decided: BTreeSet<_> = block
                .transactions
                .iter()
                .map(|checked| checked.hash())
                .collect();
            let left_out = transactions
                .into_iter()
                .filter(|checked| !decided.contains(&checked.hash()));
            return_batch(left_out.collect(), ordering);
        }
        if !block.transactions.is_empty() {
            let decided = TransactionsDecided(block.transactions.clone());
            ordering.peers.decided.send(decided);
        }
        let reading = ordering.clock.source().read();
        ordering.execute_at(ordered(&certificate, &block), reading);
        self.start_next_height(ordering);
    }

    /// Starts the next height if the newest one is finalized and nothing speaks against it.
    pub(in crate::sequencer) fn start_next_height(&mut self, ordering: &mut Ordering) {
        let height = self.parent.height.saturating_add(1);
        // The engine's log covers one height, and its next height replaces it. Without a durable
        // decision, a validator that is killed then would have neither and could not sign again.
        let is_durable = self.decided.is_empty();
        let is_held = ordering.is_stopped
            || ordering.is_paused
            || !is_durable
            || ordering.in_flight >= ordering.config.blocks_in_flight_max;
        if self.next_height.is_none() || is_held {
            return;
        }
        // A full node has no turn, so what waits in its mempool begins no height.
        let is_validator = self.address.is_some();
        let is_due = is_validator && (self.has_work || ordering.is_heartbeat_due());
        if !is_due && self.announced_height < height {
            if is_validator && !self.is_watching {
                self.is_watching = true;
                let reply_to = ordering.peers.ready.clone();
                ordering.peers.watch_ready.send(WatchReady { reply_to });
            }
            return;
        }
        if std::mem::take(&mut self.has_work) && is_validator {
            self.work.send_replace(height);
        }
        if let Some(reply) = self.next_height.take() {
            answer(reply, height);
        }
    }
}

/// Returns a decided block in the form in which it is executed.
fn ordered(certificate: &CommitCertificate, block: &CheckedBlock) -> OrderedBlock {
    let header = &block.header;
    OrderedBlock {
        height: header.height,
        epoch: header.epoch,
        round: header.round,
        proposer: header.proposer,
        timestamp_usecs: header.timestamp_usecs,
        transactions: block.transactions.clone(),
        executed: Some(header.executed),
        certificate: certificate.to_bytes(),
    }
}
