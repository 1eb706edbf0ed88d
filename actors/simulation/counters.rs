//! Counters of events in all simulations, and their names.
//!
//! The counters reveal a run that does not cover a case.

use crate::{NodeError, NotWritable, Overload, RemovalReason, SubmitError, TransactionStatus};
use ledger_store::StoreError;
use std::collections::BTreeMap;

/// Number of events, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(BTreeMap<&'static str, u64>);

impl Counters {
    pub(super) fn count(&mut self, counter: &'static str) {
        self.add(counter, 1);
    }

    pub(super) fn add(&mut self, counter: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(counter).or_default() += count;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (counter, count) in &other.0 {
            self.add(counter, *count);
        }
    }

    pub(super) fn get(&self, counter: &str) -> u64 {
        self.0.get(counter).copied().unwrap_or_default()
    }

    /// Formats each counter as one line.
    pub(super) fn lines(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|(counter, count)| format!("{count:>12} {counter}\n"));
        lines.collect()
    }
}

/// Returns the counter of a look-up's result.
pub(super) fn status_counter(status: &TransactionStatus) -> &'static str {
    match status {
        TransactionStatus::Pending(_) => "status: pending",
        TransactionStatus::Committed(_) => "status: committed",
        TransactionStatus::Pruned { .. } => "status: pruned",
        TransactionStatus::Removed(RemovalReason::Expired { .. }) => "status: expired",
        TransactionStatus::Removed(RemovalReason::Evicted(_)) => "status: evicted",
        TransactionStatus::Removed(RemovalReason::Replaced(_)) => "status: replaced",
        TransactionStatus::Removed(RemovalReason::Rejected(_)) => "status: rejected",
        TransactionStatus::Unknown => "status: unknown",
    }
}

/// Returns the counter of a rejected submission.
pub(super) fn rejection_counter(error: &SubmitError) -> &'static str {
    match error {
        SubmitError::Invalid(_) => "rejected: invalid",
        SubmitError::SequenceNumberTooOld { .. } => "rejected: sequence number too old",
        SubmitError::InvalidUpdate(_) => "rejected: invalid update",
        SubmitError::OtherSignature { .. } => "rejected: other signature",
        SubmitError::AccountFull { .. } => "rejected: account full",
        SubmitError::Full { .. } => "rejected: pool full",
        SubmitError::Node(error) => error_counter(error),
    }
}

/// Returns the counter of a request that ended with an error.
pub(super) fn error_counter(error: &NodeError) -> &'static str {
    match error {
        NodeError::Overloaded(Overload { limit, .. }) => match *limit {
            "actors.mempool.mailbox_capacity" => "overloaded: mempool",
            "actors.committer.mailbox_capacity" => "overloaded: committer",
            _ => "overloaded: storage",
        },
        NodeError::NotApplied => "errors: not applied",
        NodeError::Unresolved => "errors: unresolved",
        NodeError::Stopping => "errors: stopping",
        NodeError::Store(StoreError::VersionOutOfRange { .. }) => "errors: pruned meanwhile",
        NodeError::Store(_) => "errors: store",
        NodeError::NotWritable(NotWritable::WriteFailed(_)) => "errors: write failed",
        NodeError::NotWritable(NotWritable::ReadFailed(_)) => "errors: read failed",
        NodeError::NotWritable(NotWritable::Diverged(_)) => "errors: diverged",
        NodeError::NotWritable(NotWritable::EngineStopped(_)) => "errors: engine stopped",
        NodeError::NotWritable(NotWritable::LowDiskSpace(_)) => "errors: low disk space",
        NodeError::NotWritable(NotWritable::ClockUntrusted(_)) => "errors: clock not trusted",
    }
}
