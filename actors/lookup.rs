//! What is known of a transaction that was asked for by its hash.

use crate::RemovalReason;
use ledger_store::{StoreError, StoredTransaction, WalBlock, WalTransaction};
use ledger_types::{BlockInfo, CheckedTransaction, ExecutedBlock, ExecutedTransaction, LedgerInfo};
use std::{ops::Deref, sync::Arc};

/// A transaction that the pool took.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The moment of the ledger that it was checked against.
    pub ledger_info: LedgerInfo,
    /// The pool's copy of the submitted transaction.
    pub transaction: Arc<CheckedTransaction>,
}

/// What is known of a hash.
#[derive(Clone, Debug)]
pub enum TransactionStatus {
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
    Removed(RemovalReason),
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
    Block(Arc<BlockHandle>, usize),
    Store(Arc<StoredTransaction>),
}

/// A block in memory.
#[derive(Clone, Debug)]
pub(crate) struct BlockHandle {
    pub(crate) block: Arc<ExecutedBlock>,
    /// As the log has it, while that is in memory too.
    pub(crate) logged: Option<Arc<WalBlock>>,
}

impl BlockHandle {
    /// Its transaction at `index`, or `None` when it has no such index.
    pub(crate) fn committed(self: &Arc<Self>, index: usize) -> Option<Committed> {
        let block = &self.block;
        (index < block.transactions.len()).then(|| {
            let version = block.first_version + index as u64;
            Committed {
                version,
                block_timestamp_usecs: block.header.timestamp_usecs,
                is_block_end: version == block.last_version(),
                source: Source::Block(Arc::clone(self), index),
            }
        })
    }
}

/// A committed transaction with all it did.
#[derive(Debug)]
pub struct CommittedTransaction(Whole);

/// Where all of a transaction lies.
#[derive(Debug)]
enum Whole {
    /// At that place of a block.
    InBlock(Arc<BlockHandle>, usize),
    /// Made of what was stored.
    Decoded(Box<ExecutedTransaction>),
}

impl Deref for CommittedTransaction {
    type Target = ExecutedTransaction;

    fn deref(&self) -> &ExecutedTransaction {
        match &self.0 {
            Whole::InBlock(held, index) => &held.block.transactions[*index],
            Whole::Decoded(executed) => executed,
        }
    }
}

impl Committed {
    /// A transaction as the store gave it, with its block.
    pub fn stored(rows: StoredTransaction, block: &BlockInfo) -> Self {
        Self {
            version: rows.version(),
            block_timestamp_usecs: block.header.timestamp_usecs,
            is_block_end: rows.version() == block.last_version,
            source: Source::Store(Arc::new(rows)),
        }
    }

    /// The transaction as it was stored, if the store gave it.
    pub fn rows(&self) -> Option<&StoredTransaction> {
        match &self.source {
            Source::Block(..) => None,
            Source::Store(rows) => Some(rows),
        }
    }

    /// The transaction as the log has it, if it is answered to somebody who waited for that.
    pub fn logged(&self) -> Option<WalTransaction<'_>> {
        match &self.source {
            Source::Block(held, index) => held.logged.as_ref()?.transaction(*index),
            Source::Store(_) => None,
        }
    }

    /// The transaction with all it did.
    ///
    /// # Errors
    /// When what was stored is damaged.
    pub fn transaction(&self) -> Result<CommittedTransaction, StoreError> {
        Ok(CommittedTransaction(match &self.source {
            Source::Block(held, index) => Whole::InBlock(Arc::clone(held), *index),
            Source::Store(rows) => Whole::Decoded(Box::new(rows.decode()?)),
        }))
    }
}
