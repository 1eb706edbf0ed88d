//! Outcomes of transactions by their hashes, for a wait for many.

use crate::{RemovalReason, protocol::wait::CommittedHash};
use ledger_crypto::HashValue;
use ledger_store::{OutcomeLookup, Query, Snapshot, StoreError};
use ledger_types::ExecutionStatus;

/// Outcome of one transaction of a wait for many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashOutcome {
    /// The transaction is committed and durable.
    Committed {
        /// Version of the transaction.
        version: u64,
        /// Status of the execution, or `None` if it succeeded.
        failure: Option<Box<ExecutionStatus>>,
    },
    /// The mempool removed the transaction without its execution.
    Removed(Box<RemovalReason>),
    /// The transaction was committed at a version that is pruned.
    Pruned,
    /// The node has no record of the hash.
    Unknown,
    /// The transaction was still pending at the end of the wait.
    Pending,
}

impl HashOutcome {
    /// Returns whether the node does not have the transaction.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Removed(_) | Self::Unknown)
    }
}

/// The query of the outcomes of transactions by their hashes, with their indices in the wait.
pub(super) struct FindOutcomes(pub(super) Vec<(u32, HashValue)>);

/// The result of the look-up of a hash in the store.
pub(super) enum Found {
    Committed(CommittedHash),
    Pruned,
    Unknown,
}

impl Query for FindOutcomes {
    type Output = Vec<Found>;

    fn run(self, snapshot: &Snapshot) -> Result<Vec<Found>, StoreError> {
        let find = |(index, hash): (u32, HashValue)| {
            Ok(match snapshot.outcome_by_hash(&hash)? {
                None => Found::Unknown,
                Some(OutcomeLookup::Pruned { .. }) => Found::Pruned,
                Some(OutcomeLookup::InWindow { version, status }) => {
                    Found::Committed(CommittedHash::new(index, version, &status))
                }
            })
        };
        self.0.into_iter().map(find).collect()
    }
}
