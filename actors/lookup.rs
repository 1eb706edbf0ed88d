//! What is known of a transaction that was asked for by its hash.

use crate::LeaveReason;
use ledger::{BlockInfo, CheckedTransaction, ExecutedBlock, ExecutedTransaction, LedgerInfo};
use ledger_store::{StoreError, StoredRows};
use std::{ops::Deref, sync::Arc};

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
    source: Source,
}

/// Where the transaction lies.
#[derive(Clone, Debug)]
enum Source {
    /// At that place of a block. One commit answers many waiters, so a block is shared.
    Block(Arc<ExecutedBlock>, usize),
    Store(Arc<StoredRows>),
}

/// A committed transaction with all it did.
#[derive(Debug)]
pub enum CommittedTransaction {
    /// At that place of a block.
    InBlock(Arc<ExecutedBlock>, usize),
    /// Made of what was stored.
    Decoded(Box<ExecutedTransaction>),
}

impl Deref for CommittedTransaction {
    type Target = ExecutedTransaction;

    fn deref(&self) -> &ExecutedTransaction {
        match self {
            Self::InBlock(block, index) => &block.transactions[*index],
            Self::Decoded(executed) => executed,
        }
    }
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
            source: Source::Block(Arc::clone(block), index),
        })
    }

    /// A transaction as the store gave it, with its block.
    pub fn stored(rows: StoredRows, block: &BlockInfo) -> Self {
        Self {
            version: rows.version(),
            block_timestamp_usecs: block.header.timestamp_usecs,
            is_block_end: rows.version() == block.last_version,
            source: Source::Store(Arc::new(rows)),
        }
    }

    /// The transaction as it was stored, if the store gave it.
    pub fn rows(&self) -> Option<&StoredRows> {
        match &self.source {
            Source::Block(..) => None,
            Source::Store(rows) => Some(rows),
        }
    }

    /// The transaction with all it did.
    ///
    /// # Errors
    /// When what was stored is damaged.
    pub fn transaction(&self) -> Result<CommittedTransaction, StoreError> {
        Ok(match &self.source {
            Source::Block(block, index) => CommittedTransaction::InBlock(Arc::clone(block), *index),
            Source::Store(rows) => CommittedTransaction::Decoded(Box::new(rows.decode()?.executed)),
        })
    }
}
