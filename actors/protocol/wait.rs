//! Types of waits for a transaction.

use crate::{RemovalReason, state::committed::CommittedTransaction};
use ledger_types::LedgerInfo;

/// Identifier of a waiter of the committer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(pub(crate) u64);

/// Outcome of a wait for a transaction.
#[derive(Debug)]
pub(crate) enum WaitOutcome {
    /// The transaction is durable. The ledger info is that of the first Head with its block.
    Committed(LedgerInfo, CommittedTransaction),
    /// The transaction was removed from the mempool without being executed.
    Removed(RemovalReason),
    /// The mempool did not hold the transaction when it received the check, with the reason of the
    /// removal if that is recorded. If the transaction was committed, Head or store has it.
    NotPending(Option<RemovalReason>),
}
