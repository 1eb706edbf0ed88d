//! The blocks that other validators propose, and decided blocks of peers.

use super::{
    Bft, answer,
    proposals::{Proposal, State},
    rules::{Knowledge, Verdict, judge},
    worker::{ConsensusJob, Then},
};
use crate::{
    engine::SyncedBlock,
    protocol::{
        consensus::{BlockChecked, BlockReply, Turn},
        proposed_block::CheckedBlock,
    },
    sequencer::ordering::Ordering,
};
use bytes::Bytes;
use std::sync::Arc;

impl Bft {
    /// Sends the bytes of a block to the thread, unless the height is over.
    pub(super) fn check(
        &mut self,
        turn: Turn,
        bytes: Bytes,
        reply: BlockReply,
        ordering: &mut Ordering,
    ) {
        let next = self.parent.height.saturating_add(1);
        let is_near = turn.height == next || turn.height == next.saturating_add(1);
        let is_synced = matches!(reply, BlockReply::Synced(_));
        if is_near && self.proposals.has_room(turn, is_synced) && self.has_room_for_peers() {
            self.send_job(ConsensusJob::Check { turn, bytes, reply }, ordering);
        } else {
            refuse(reply, SyncedBlock::Unavailable);
        }
    }

    /// Adds a block that passed the checks without state, and decides on it.
    pub(in crate::sequencer) fn handle_checked(
        &mut self,
        checked: BlockChecked,
        ordering: &mut Ordering,
    ) {
        let BlockChecked { turn, block, reply } = checked;
        if turn.height <= self.parent.height {
            // The height was decided during the check, so no rule says anything about the block.
            return refuse(reply, SyncedBlock::Unavailable);
        }
        let block = match block {
            Ok(block) => block,
            Err(error) => {
                self.meter.rejected.increment();
                tracing::warn!(
                    height = turn.height,
                    round = turn.round,
                    proposer = %turn.proposer,
                    %error,
                    "a proposed block was rejected"
                );
                return refuse(reply, SyncedBlock::Malformed);
            }
        };
        let is_synced = matches!(reply, BlockReply::Synced(_));
        // A decided block is judged again: this node may have called it invalid or undecided for a
        // reason of its own, such as another result, and the engine never decides an invalid block.
        let known = self.proposals.get(turn, block.hash);
        let is_known = known.is_some();
        if let Some(known) = known.filter(|known| !is_synced || known.state == State::Valid) {
            let known = known.clone();
            let then: Then = Box::new(move || accept(reply, &known));
            return self.send_job(ConsensusJob::Confirm { then }, ordering);
        }
        if is_synced && turn.height > self.parent.height.saturating_add(1) {
            return refuse(reply, SyncedBlock::Unavailable);
        }
        let verdict = match is_synced {
            // The peer may have sent another block than the one that was decided. The engine
            // compares it with the votes, and the rules follow in [`Self::decide`].
            true => Verdict::Valid,
            false => self.judge(&block, turn, ordering),
        };
        let state = match verdict {
            Verdict::Valid => State::Valid,
            Verdict::Undecided(_) => State::Undecided,
            Verdict::Invalid(rule) => {
                self.meter.rejected.increment();
                tracing::warn!(
                    height = turn.height,
                    round = turn.round,
                    proposer = %turn.proposer,
                    %rule,
                    "a proposed block was rejected"
                );
                State::Invalid
            }
        };
        let has_room = is_known || self.proposals.has_room(turn, is_synced);
        if !has_room || !self.has_room_for_peers() {
            return refuse(reply, SyncedBlock::Unavailable);
        }
        let proposal = Proposal {
            turn,
            block: Arc::clone(&block),
            state,
            is_answered: state != State::Undecided,
            is_synced: is_synced && !is_known,
        };
        self.proposals.add(proposal.clone());
        let then: Then = Box::new(move || accept(reply, &proposal));
        self.send_job(ConsensusJob::AddProposal { turn, block, then }, ordering);
    }

    /// Decides on a proposal with what this node knows now.
    fn judge(&self, block: &CheckedBlock, turn: Turn, ordering: &Ordering) -> Verdict {
        let now_usecs = ordering.clock.observe();
        let known = Knowledge {
            validators: self.validators(),
            parent: self.parent,
            root: self.root_for(turn.height),
            now_usecs: ordering.clock.is_trusted().then_some(now_usecs),
        };
        judge(&block.header, turn, known)
    }

    /// Decides again on the proposals of a height that were undecided.
    pub(super) fn judge_undecided(&mut self, height: u64, ordering: &Ordering) {
        let undecided: Vec<_> = self
            .proposals
            .at_mut(height)
            .filter(|proposal| proposal.state == State::Undecided)
            .map(|proposal| (proposal.turn, Arc::clone(&proposal.block)))
            .collect();
        for (turn, block) in undecided {
            let state = match self.judge(&block, turn, ordering) {
                Verdict::Valid => State::Valid,
                Verdict::Invalid(_) => State::Invalid,
                Verdict::Undecided(_) => continue,
            };
            let same = |proposal: &&mut Proposal| {
                proposal.turn == turn && proposal.block.hash == block.hash
            };
            if let Some(proposal) = self.proposals.at_mut(height).find(same) {
                proposal.state = state;
            }
        }
    }
}

/// Replies that a block is of no use to this node.
fn refuse(reply: BlockReply, synced: SyncedBlock) {
    match reply {
        BlockReply::Proposed(reply) => answer(reply, None),
        BlockReply::Synced(reply) => answer(reply, synced),
    }
}

/// Replies with the verdict on a block.
fn accept(reply: BlockReply, proposal: &Proposal) {
    let proposed = proposal.proposed();
    match reply {
        BlockReply::Proposed(reply) => {
            answer(
                reply,
                (proposal.state != State::Undecided).then_some(proposed),
            );
        }
        BlockReply::Synced(reply) => answer(reply, SyncedBlock::Stored(proposed)),
    }
}
