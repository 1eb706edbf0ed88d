//! The rules of a proposed block that need the chain before it.

use crate::protocol::{consensus::Turn, proposed_block::CheckedBlock};
use ledger_crypto::HashValue;
use ledger_types::{BlockHeader, LedgerRoot, ValidatorSet};
use std::fmt;

/// Maximum lead of a proposed block's time over this node's, in microseconds.
///
/// Clocks that are kept by a time service differ by milliseconds. A block that is ahead of them by
/// more is not voted for until the time has come, so a validator with a wrong clock costs its turns
/// and cannot push the chain's time ahead.
pub(super) const CLOCK_TOLERANCE_USECS: u64 = 500_000;

/// The end of the decided chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) height: u64,
    pub(super) hash: HashValue,
    pub(super) epoch: u64,
    pub(super) timestamp_usecs: u64,
}

impl Parent {
    /// Returns the parent of the blocks that follow `block`.
    pub(super) fn of(block: &CheckedBlock) -> Self {
        Self {
            height: block.header.height,
            hash: block.hash,
            epoch: block.header.epoch,
            timestamp_usecs: block.header.timestamp_usecs,
        }
    }
}

/// The state of the chain at this node, for the verdict on a proposal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knowledge<'a> {
    pub(super) validators: &'a ValidatorSet,
    pub(super) parent: Parent,
    /// Result of the block whose root the header must have, if this node has executed it.
    pub(super) root: Option<LedgerRoot>,
    /// This node's time, in microseconds since the Unix epoch, if its clock is trusted.
    pub(super) now_usecs: Option<u64>,
}

/// The verdict on a proposed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All validators that know the parent may vote for it.
    Valid,
    /// No validator may vote for it.
    Invalid(Rule),
    /// This node cannot decide yet. Another may.
    Undecided(Rule),
}

/// A rule that a proposed block breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Height,
    Parent,
    Epoch,
    Proposer,
    Time,
    Clock,
    Root,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Height => "its height does not follow the newest decided block",
            Self::Parent => "its parent is not the newest decided block",
            Self::Epoch => "its epoch is not that of the chain",
            Self::Proposer => "it was not proposed by the validator whose turn it was",
            Self::Time => "its time is not above its parent's",
            Self::Clock => "its time is ahead of this node's clock",
            Self::Root => "its root differs from this node's result",
        })
    }
}

/// Decides on a proposal.
///
/// What depends on this node alone (its clock, a block that it has not executed) leaves the verdict
/// undecided.
pub(super) fn judge(header: &BlockHeader, turn: Turn, known: Knowledge<'_>) -> Verdict {
    let rules = [
        check_position(header, turn, known.parent),
        check_proposer(header, turn, known.validators),
        check_root(header, known.root),
        check_clock(header, known.now_usecs),
    ];
    let is_invalid = |verdict: &&Verdict| matches!(verdict, Verdict::Invalid(_));
    let is_undecided = |verdict: &&Verdict| matches!(verdict, Verdict::Undecided(_));
    let found = rules.iter().find(is_invalid);
    let found = found.or_else(|| rules.iter().find(is_undecided));
    *found.unwrap_or(&Verdict::Valid)
}

/// Decides on a block that two thirds of the validators committed to in the round of `turn`, by the
/// rules of the chain alone. Its root is compared when it is executed.
pub(super) fn judge_decided(
    header: &BlockHeader,
    turn: Turn,
    validators: &ValidatorSet,
    parent: Parent,
) -> Verdict {
    match check_position(header, turn, parent) {
        Verdict::Valid => check_first_proposer(header, turn.height, turn.round, validators),
        other => other,
    }
}

/// Checks height, parent, epoch and the lower bound of the time.
fn check_position(header: &BlockHeader, turn: Turn, parent: Parent) -> Verdict {
    let next = parent.height.saturating_add(1);
    if header.height != turn.height || header.height < next {
        return Verdict::Invalid(Rule::Height);
    }
    if header.height > next {
        return Verdict::Undecided(Rule::Height);
    }
    if header.parent_hash != parent.hash {
        return Verdict::Invalid(Rule::Parent);
    }
    if header.epoch != parent.epoch {
        return Verdict::Invalid(Rule::Epoch);
    }
    match header.timestamp_usecs > parent.timestamp_usecs {
        true => Verdict::Valid,
        false => Verdict::Invalid(Rule::Time),
    }
}

/// Checks that the proposer of the round proposes a new block, or one that was proposed before the
/// round in which two thirds voted for it.
fn check_proposer(header: &BlockHeader, turn: Turn, validators: &ValidatorSet) -> Verdict {
    let is_turn = validators
        .proposer(turn.height, turn.round)
        .is_some_and(|validator| validator.address == turn.proposer);
    let first_round_max = match turn.valid_round {
        Some(valid_round) if valid_round < turn.round => Some(valid_round),
        Some(_) => None,
        None => (header.round == u64::from(turn.round)).then_some(turn.round),
    };
    match first_round_max {
        Some(round_max) if is_turn => {
            check_first_proposer(header, turn.height, round_max, validators)
        }
        _ => Verdict::Invalid(Rule::Proposer),
    }
}

/// Checks that the header names the first proposal of the block, in a round up to `round_max`.
fn check_first_proposer(
    header: &BlockHeader,
    height: u64,
    round_max: u32,
    validators: &ValidatorSet,
) -> Verdict {
    let round = u32::try_from(header.round)
        .ok()
        .filter(|round| *round <= round_max);
    let proposer = round.and_then(|round| validators.proposer(height, round));
    match proposer.is_some_and(|validator| validator.address == header.proposer) {
        true => Verdict::Valid,
        false => Verdict::Invalid(Rule::Proposer),
    }
}

fn check_root(header: &BlockHeader, root: Option<LedgerRoot>) -> Verdict {
    match root {
        Some(root) if root == header.executed => Verdict::Valid,
        Some(_) => Verdict::Invalid(Rule::Root),
        None => Verdict::Undecided(Rule::Root),
    }
}

fn check_clock(header: &BlockHeader, now_usecs: Option<u64>) -> Verdict {
    let latest = now_usecs.map(|now| now.saturating_add(CLOCK_TOLERANCE_USECS));
    match latest.is_some_and(|latest| header.timestamp_usecs <= latest) {
        true => Verdict::Valid,
        false => Verdict::Undecided(Rule::Clock),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::Ed25519PrivateKey;
    use ledger_types::AccountAddress;

    const NOW: u64 = 1_000_000_000;

    fn validators() -> ValidatorSet {
        let key = |number| Ed25519PrivateKey::from_seed(&[number; 32]).public_key();
        ValidatorSet::new((1..=4).map(key))
    }

    fn proposer(round: u32) -> AccountAddress {
        validators().proposer(8, round).unwrap().address
    }

    fn root(number: u8) -> LedgerRoot {
        LedgerRoot {
            version: 70,
            accumulator_root: HashValue::new([number; 32]),
        }
    }

    fn parent() -> Parent {
        Parent {
            height: 7,
            hash: HashValue::new([7; 32]),
            epoch: 1,
            timestamp_usecs: NOW - 1_000,
        }
    }

    /// Returns the header of a valid block that was first proposed in `round`.
    fn header(round: u32) -> BlockHeader {
        BlockHeader {
            parent_hash: parent().hash,
            height: 8,
            epoch: 1,
            round: round.into(),
            proposer: proposer(round),
            timestamp_usecs: NOW,
            payload_root: HashValue::new([1; 32]),
            executed: root(1),
        }
    }

    fn turn(round: u32, valid_round: Option<u32>) -> Turn {
        Turn {
            height: 8,
            round,
            valid_round,
            proposer: proposer(round),
        }
    }

    fn verdict(header: &BlockHeader, turn: Turn) -> Verdict {
        let validators = validators();
        judge(
            header,
            turn,
            Knowledge {
                validators: &validators,
                parent: parent(),
                root: Some(root(1)),
                now_usecs: Some(NOW),
            },
        )
    }

    /// Returns the verdict on the header of round 0 after a change.
    fn changed(change: impl FnOnce(&mut BlockHeader)) -> Verdict {
        let mut header = header(0);
        change(&mut header);
        verdict(&header, turn(0, None))
    }

    #[test]
    fn accepts_a_block_in_its_first_round_and_unchanged_in_later_ones() {
        assert_eq!(verdict(&header(0), turn(0, None)), Verdict::Valid);
        assert_eq!(verdict(&header(2), turn(2, None)), Verdict::Valid);
        assert_eq!(verdict(&header(0), turn(3, Some(1))), Verdict::Valid);
        assert_eq!(verdict(&header(1), turn(3, Some(1))), Verdict::Valid);
    }

    #[test]
    fn rejects_a_block_that_its_proposer_could_not_propose() {
        let invalid = Verdict::Invalid(Rule::Proposer);
        assert_eq!(verdict(&header(0), turn(1, None)), invalid, "an old header");
        assert_eq!(verdict(&header(2), turn(1, None)), invalid, "a later round");
        assert_eq!(
            verdict(&header(2), turn(3, Some(1))),
            invalid,
            "first proposed after two thirds voted"
        );
        assert_eq!(verdict(&header(1), turn(1, Some(1))), invalid);
        assert_eq!(changed(|header| header.proposer = proposer(1)), invalid);
        assert_eq!(changed(|header| header.round = 1 << 32), invalid);
        let other = Turn {
            proposer: proposer(1),
            ..turn(0, None)
        };
        assert_eq!(verdict(&header(0), other), invalid);
    }

    #[test]
    fn rejects_a_block_that_does_not_extend_the_chain() {
        let invalid = Verdict::Invalid;
        assert_eq!(changed(|header| header.height = 7), invalid(Rule::Height));
        assert_eq!(
            changed(|header| header.parent_hash = HashValue::new([6; 32])),
            invalid(Rule::Parent)
        );
        assert_eq!(changed(|header| header.epoch = 2), invalid(Rule::Epoch));
        let not_later = parent().timestamp_usecs;
        assert_eq!(
            changed(|header| header.timestamp_usecs = not_later),
            invalid(Rule::Time)
        );
        assert_eq!(
            changed(|header| header.executed = root(2)),
            invalid(Rule::Root)
        );
    }

    #[test]
    fn what_depends_on_this_node_is_undecided() {
        let validators = validators();
        let known = Knowledge {
            validators: &validators,
            parent: parent(),
            root: Some(root(1)),
            now_usecs: Some(NOW),
        };
        let (header, turn) = (header(0), turn(0, None));
        let judge = |known| judge(&header, turn, known);
        let ahead = |usecs| Knowledge {
            now_usecs: Some(NOW - usecs),
            ..known
        };
        assert_eq!(judge(ahead(CLOCK_TOLERANCE_USECS)), Verdict::Valid);
        assert_eq!(
            judge(ahead(CLOCK_TOLERANCE_USECS + 1)),
            Verdict::Undecided(Rule::Clock)
        );
        let untrusted = Knowledge {
            now_usecs: None,
            ..known
        };
        assert_eq!(judge(untrusted), Verdict::Undecided(Rule::Clock));
        let not_executed = Knowledge {
            root: None,
            ..known
        };
        assert_eq!(judge(not_executed), Verdict::Undecided(Rule::Root));
        let behind = Knowledge {
            parent: Parent {
                height: 6,
                ..parent()
            },
            ..known
        };
        assert_eq!(judge(behind), Verdict::Undecided(Rule::Height));
        let invalid = Knowledge {
            root: None,
            now_usecs: None,
            parent: Parent {
                hash: HashValue::ZERO,
                ..parent()
            },
            ..known
        };
        assert_eq!(judge(invalid), Verdict::Invalid(Rule::Parent));
    }

    #[test]
    fn a_decided_block_is_judged_by_the_chain_alone() {
        let validators = validators();
        let decided = |header: &BlockHeader, round| {
            judge_decided(header, turn(round, None), &validators, parent())
        };
        let mut other = header(0);
        other.timestamp_usecs = NOW + 10 * CLOCK_TOLERANCE_USECS;
        other.executed = root(2);
        assert_eq!(decided(&other, 0), Verdict::Valid);
        assert_eq!(decided(&header(1), 3), Verdict::Valid);
        let invalid = Verdict::Invalid(Rule::Proposer);
        assert_eq!(decided(&header(2), 1), invalid);
        other.parent_hash = HashValue::ZERO;
        assert_eq!(decided(&other, 0), Verdict::Invalid(Rule::Parent));
    }
}
