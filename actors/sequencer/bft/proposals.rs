//! The blocks that were proposed at the current height and the next, in memory.

use crate::{
    engine::ProposedBlock,
    protocol::{consensus::Turn, proposed_block::CheckedBlock},
};
use ledger_crypto::HashValue;
use std::sync::Arc;

/// Maximum number of blocks that are kept for one round.
///
/// A correct proposer has one. One that sends different blocks to different validators can have at
/// most one decided, and a validator that lacks it receives it as a decided block from its peers.
const BLOCKS_PER_ROUND_MAX: usize = 2;

/// Maximum number of blocks that are kept for one height.
///
/// Each further round lasts longer than the one before, so honest validators reach this number
/// after many minutes without a decision. The newest are dropped, because an older one may be
/// locked by a validator.
const BLOCKS_PER_HEIGHT_MAX: usize = 64;

/// Whether validators may vote for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The block is valid.
    Valid,
    /// The block breaks a rule.
    Invalid,
    /// This node cannot decide yet.
    Undecided,
}

/// A block that was proposed in a round.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) turn: Turn,
    pub(super) block: Arc<CheckedBlock>,
    pub(super) state: State,
    /// Whether the engine has the verdict.
    pub(super) is_answered: bool,
    /// Whether a peer sent it as a decided block, which this node had missed.
    pub(super) is_synced: bool,
}

impl Proposal {
    /// Returns the block as the engine votes on it.
    pub(super) fn proposed(&self) -> ProposedBlock {
        ProposedBlock {
            height: self.turn.height,
            round: self.turn.round,
            valid_round: self.turn.valid_round,
            proposer: self.turn.proposer,
            hash: self.block.hash,
            is_valid: self.state == State::Valid,
        }
    }
}

/// The proposals of the heights that are not decided.
#[derive(Debug, Default)]
pub(super) struct Proposals(Vec<Proposal>);

impl Proposals {
    /// Returns the number of proposals.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the proposals of a height.
    pub(super) fn at_mut(&mut self, height: u64) -> impl Iterator<Item = &mut Proposal> {
        self.0
            .iter_mut()
            .filter(move |proposal| proposal.turn.height == height)
    }

    /// Returns a proposal of a round with this block.
    pub(super) fn get(&self, turn: Turn, hash: HashValue) -> Option<&Proposal> {
        self.0
            .iter()
            .find(|proposal| proposal.turn == turn && proposal.block.hash == hash)
    }

    /// Returns the block that this proposer proposed in a round.
    pub(super) fn of_round(&self, turn: Turn) -> Option<&Proposal> {
        self.0.iter().find(|proposal| proposal.turn == turn)
    }

    /// Returns a proposal of a block of a height.
    pub(super) fn of_block(&self, height: u64, hash: HashValue) -> Option<&Proposal> {
        self.0
            .iter()
            .find(|proposal| proposal.turn.height == height && proposal.block.hash == hash)
    }

    /// Returns whether a block can be added to a round.
    ///
    /// Decided blocks of peers are counted apart. Otherwise a proposer that sends two other blocks
    /// to a validator would keep it from the decided one.
    pub(super) fn has_room(&self, turn: Turn, is_synced: bool) -> bool {
        let is_alike = |proposal: &&Proposal| {
            proposal.turn.height == turn.height && proposal.is_synced == is_synced
        };
        let at_height = self.0.iter().filter(is_alike);
        let in_round = at_height
            .clone()
            .filter(|proposal| proposal.turn.round == turn.round);
        at_height.count() < BLOCKS_PER_HEIGHT_MAX
            && (is_synced || in_round.count() < BLOCKS_PER_ROUND_MAX)
    }

    /// Adds a proposal, or replaces the one of its round with its block.
    pub(super) fn add(&mut self, proposal: Proposal) {
        let is_other = |other: &Proposal| {
            other.turn != proposal.turn || other.block.hash != proposal.block.hash
        };
        self.0.retain(is_other);
        self.0.push(proposal);
    }

    /// Records that the engine has no verdict.
    pub(super) fn forget_answers(&mut self) {
        for proposal in &mut self.0 {
            proposal.is_answered = false;
        }
    }

    /// Removes the proposals up to a decided height.
    pub(super) fn remove_decided(&mut self, height: u64) {
        self.0.retain(|proposal| proposal.turn.height > height);
    }
}
