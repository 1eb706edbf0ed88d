//! What a node knows of a transaction that was asked for by its hash.

use crate::{RemovalReason, state::committed::CommittedTransaction};
use ledger_types::CheckedTransaction;
use std::sync::Arc;

/// Status of a transaction hash.
#[derive(Clone, Debug)]
pub enum TransactionStatus {
    /// The transaction is in the mempool, or its block is not durable yet.
    Pending(Arc<CheckedTransaction>),
    /// The transaction is committed and durable.
    Committed(CommittedTransaction),
    /// The transaction was committed at a version that is pruned.
    Pruned {
        /// Version of the transaction.
        version: u64,
    },
    /// The transaction was removed from the mempool without being executed.
    Removed(RemovalReason),
    /// The node has no record of the hash.
    Unknown,
}
