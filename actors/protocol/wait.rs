//! Identifiers and outcomes of waits for a transaction.

use crate::{RemovalReason, state::committed::CommittedTransaction};
use ledger_types::LedgerInfo;

/// Identifier of a waiter, unique within the committer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(pub(crate) u64);

/// Outcome of a wait for a transaction.
#[derive(Debug)]
pub(crate) enum WaitOutcome {
    /// The transaction is durable. The ledger info is that of the first `Head` that includes the
    /// block of the transaction.
    Committed(LedgerInfo, CommittedTransaction),
    /// The transaction was removed from the mempool without being executed.
    Removed(RemovalReason),
    /// The mempool does not hold the transaction. If it was removed and the mempool remembers the
    /// removal, the reason is included. If it was committed, the `Head` or the store has it.
    NotPending(Option<RemovalReason>),
}
