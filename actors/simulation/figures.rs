//! Counters of events in all simulations, and their names.
//!
//! The counters reveal a run that does not cover a case.

use crate::{NodeError, RemovalReason, StorageUnavailable, SubmitError, TransactionStatus};
use ledger_store::StoreError;
use std::collections::BTreeMap;

/// Number of events, by name.
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

    /// Formats each counter as one line.
    pub(super) fn lines(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|(what, count)| format!("{count:>12} {what}\n"));
        lines.collect()
    }
}

/// Returns the counter of a look-up's result.
pub(super) fn found(lookup: &TransactionStatus) -> &'static str {
    match lookup {
        TransactionStatus::Pending(_) => "answers: pending",
        TransactionStatus::Committed(_) => "answers: committed",
        TransactionStatus::Pruned { .. } => "answers: pruned by hash",
        TransactionStatus::Removed(RemovalReason::Expired { .. }) => "answers: expired",
        TransactionStatus::Removed(RemovalReason::Evicted(_)) => "answers: evicted",
        TransactionStatus::Removed(RemovalReason::Replaced(_)) => "answers: replaced",
        TransactionStatus::Removed(RemovalReason::Rejected(_)) => "answers: rejected",
        TransactionStatus::Unknown => "answers: unknown",
    }
}

/// Returns the counter of a rejected submission.
pub(super) fn refusal(error: &SubmitError) -> &'static str {
    match error {
        SubmitError::Invalid(_) => "refused: invalid",
        SubmitError::SequenceNumberTooOld { .. } => "refused: number given to a block",
        SubmitError::InvalidUpdate(_) => "refused: place taken",
        SubmitError::OtherSignature { .. } => "refused: signed again",
        SubmitError::AccountFull { .. } => "refused: account full",
        SubmitError::Full { .. } => "refused: pool full",
        SubmitError::Node(error) => no_answer(error),
    }
}

/// Returns the counter of a request that ended with an error.
pub(super) fn no_answer(error: &NodeError) -> &'static str {
    match error {
        NodeError::Overloaded { actor: "mempool" } => "overloaded: mempool",
        NodeError::Overloaded { actor: "committer" } => "overloaded: committer",
        NodeError::Overloaded { .. } => "overloaded: storage",
        NodeError::Stopping => "no answer: stopping",
        NodeError::Store(StoreError::VersionOutOfRange { .. }) => "no answer: pruned meanwhile",
        NodeError::Store(_) => "no answer: the disk failed",
        NodeError::StorageUnavailable(StorageUnavailable::WriteFailed(_)) => {
            "no answer: unwritable"
        }
        NodeError::StorageUnavailable(StorageUnavailable::ReadFailed(_)) => "no answer: unreadable",
        NodeError::StorageUnavailable(StorageUnavailable::LowDiskSpace(_)) => {
            "no answer: no room on the disk"
        }
        NodeError::StorageUnavailable(StorageUnavailable::ClockUnbelieved(_)) => {
            "no answer: the clock is not believed"
        }
    }
}
