//! What happened in all simulations together, so that a run that tests nothing is noticed; under which names.

use crate::{LeaveReason, Lookup, ReadError, SubmitError, Unwritable};
use ledger_store::StoreError;
use std::collections::BTreeMap;

/// How often something happened, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures(BTreeMap<&'static str, u64>);

impl Figures {
    pub(super) fn count(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    pub(super) fn add(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            self.add(what, *count);
        }
    }

    pub(super) fn get(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// One line for each.
    pub(super) fn lines(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|(what, count)| format!("{count:>12} {what}\n"));
        lines.collect()
    }
}

/// What is counted for a look-up.
pub(super) fn found(lookup: &Lookup) -> &'static str {
    match lookup {
        Lookup::Pending(_) => "answers: pending",
        Lookup::Committed(_) => "answers: committed",
        Lookup::Pruned { .. } => "answers: pruned by hash",
        Lookup::Left(LeaveReason::Expired { .. }) => "answers: expired",
        Lookup::Left(LeaveReason::Evicted(_)) => "answers: evicted",
        Lookup::Left(LeaveReason::Replaced(_)) => "answers: replaced",
        Lookup::Left(LeaveReason::Rejected(_)) => "answers: rejected",
        Lookup::Unknown => "answers: unknown",
    }
}

/// What is counted for a refused submission.
pub(super) fn refusal(error: &SubmitError) -> &'static str {
    match error {
        SubmitError::Invalid(_) => "refused: invalid",
        SubmitError::SequenceNumberTooOld { .. } => "refused: number given to a block",
        SubmitError::InvalidUpdate(_) => "refused: place taken",
        SubmitError::OtherSignature { .. } => "refused: signed again",
        SubmitError::AccountFull { .. } => "refused: account full",
        SubmitError::Full { .. } => "refused: pool full",
        SubmitError::Unanswered(error) => no_answer(error),
    }
}

/// What is counted for a question without an answer.
pub(super) fn no_answer(error: &ReadError) -> &'static str {
    match error {
        ReadError::Overloaded { actor: "mempool" } => "overloaded: mempool",
        ReadError::Overloaded { actor: "committer" } => "overloaded: committer",
        ReadError::Overloaded { .. } => "overloaded: storage",
        ReadError::Stopping => "no answer: stopping",
        ReadError::Store(StoreError::VersionOutOfRange { .. }) => "no answer: pruned meanwhile",
        ReadError::Store(_) => "no answer: the disk failed",
        ReadError::Unwritable(Unwritable::Failed(_)) => "no answer: unwritable",
        ReadError::Unwritable(Unwritable::Unreadable(_)) => "no answer: unreadable",
        ReadError::Unwritable(Unwritable::NoRoom(_)) => "no answer: no room on the disk",
        ReadError::Unwritable(Unwritable::Clock(_)) => "no answer: the clock is not believed",
    }
}
