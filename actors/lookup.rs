//! What is known of a transaction that was asked for by its hash.

use crate::LeaveReason;
use ledger::{BlockInfo, CheckedTransaction, ExecutedBlock, ExecutedTransaction, LedgerInfo};
use ledger_store::StoredTransaction;
use std::sync::Arc;

/// A transaction that the pool took.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The moment of the ledger that it was checked against.
    pub ledger_info: LedgerInfo,
    /// The transaction as the pool holds it: of several with the same content, the first.
    pub transaction: Arc<CheckedTransaction>,
}

/// What is known of a hash.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// It waits in the pool, or its block is not durable yet.
    Pending(Arc<CheckedTransaction>),
    /// It is committed and durable.
    Committed(Committed),
    /// It was committed at this version, which is pruned.
    Pruned {
        /// The version.
        version: u64,
    },
    /// It left the pool unexecuted.
    Left(LeaveReason),
    /// Nobody knows it.
    Unknown,
}

/// A committed transaction.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Its version.
    pub version: u64,
    /// The time of its block, microseconds since the Unix epoch.
    pub block_timestamp_usecs: u64,
    /// Whether it is the last of its block.
    pub is_block_end: bool,
    executed: Executed,
}

/// Where the transaction lies. One commit answers many waiters, so a block is shared.
#[derive(Clone, Debug)]
enum Executed {
    InBlock(Arc<ExecutedBlock>, usize),
    Stored(Arc<ExecutedTransaction>),
}

impl Committed {
    /// The transaction at `index` of a durable block, or `None` when the block has no such index.
    pub(crate) fn in_block(block: &Arc<ExecutedBlock>, index: usize) -> Option<Self> {
        block.transactions.get(index)?;
        let version = block.first_version + index as u64;
        Some(Self {
            version,
            block_timestamp_usecs: block.header.timestamp_usecs,
            is_block_end: version == block.last_version(),
            executed: Executed::InBlock(Arc::clone(block), index),
        })
    }

    /// A transaction as the store gave it, with its block.
    pub fn stored(transaction: StoredTransaction, block: &BlockInfo) -> Self {
        Self {
            version: transaction.version,
            block_timestamp_usecs: block.header.timestamp_usecs,
            is_block_end: transaction.version == block.last_version,
            executed: Executed::Stored(Arc::new(transaction.executed)),
        }
    }

    /// The transaction with all it did.
    pub fn transaction(&self) -> &ExecutedTransaction {
        match &self.executed {
            Executed::InBlock(block, index) => &block.transactions[*index],
            Executed::Stored(transaction) => transaction,
        }
    }
}
