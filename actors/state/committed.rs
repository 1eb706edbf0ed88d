//! Executed blocks in memory, and committed transactions.

use super::account_cache::AccountUpdates;
use ledger_crypto::{HashValue, map::HashMap};
use ledger_store::{StoreError, StoredTransaction, WalBlock, WalTransaction};
use ledger_types::{BlockInfo, ExecutedBlock, ExecutedTransaction};
use std::{ops::Deref, sync::Arc};

/// An executed block with an index of its transactions by hash.
#[derive(Debug)]
pub(crate) struct IndexedBlock {
    handle: Arc<BlockHandle>,
    index_by_hash: HashMap<HashValue, usize>,
    /// Total size of the event data, written keys, and written values of all transactions, in
    /// bytes.
    output_bytes: usize,
    account_updates: AccountUpdates,
    execution_usecs: u64,
}

impl IndexedBlock {
    /// Indexes the transactions of a block. `account_updates` holds the accounts that it changed,
    /// and `execution_usecs` is the processor time of the executor for it, in microseconds.
    pub(crate) fn new(
        block: Arc<ExecutedBlock>,
        account_updates: AccountUpdates,
        execution_usecs: u64,
    ) -> Self {
        let hashes = block.transactions.iter().map(|executed| executed.hash);
        let index_by_hash = hashes.zip(0..).collect();
        let output_bytes = block
            .transactions
            .iter()
            .map(ExecutedTransaction::output_bytes)
            .sum();
        Self {
            handle: Arc::new(BlockHandle {
                block,
                wal_block: None,
            }),
            index_by_hash,
            output_bytes,
            account_updates,
            execution_usecs,
        }
    }

    pub(crate) fn block(&self) -> &Arc<ExecutedBlock> {
        &self.handle.block
    }

    pub(crate) fn output_bytes(&self) -> usize {
        self.output_bytes
    }

    pub(crate) fn execution_usecs(&self) -> u64 {
        self.execution_usecs
    }

    pub(crate) fn account_updates(&self) -> &AccountUpdates {
        &self.account_updates
    }

    /// Returns the transaction with this hash, or `None` if the block does not include it.
    pub(crate) fn committed(&self, hash: &HashValue) -> Option<CommittedTransaction> {
        let index = *self.index_by_hash.get(hash)?;
        self.handle.committed(index)
    }
}

#[cfg(test)]
impl IndexedBlock {
    /// Indexes a block that changes no account.
    pub(crate) fn without_updates(block: Arc<ExecutedBlock>) -> Arc<Self> {
        let updates = AccountUpdates {
            height: block.height(),
            accounts: Vec::new(),
        };
        Arc::new(Self::new(block, updates, 0))
    }
}

/// An executed block that its committed transactions share.
///
/// A notification batch for an HTTP worker thread has a clone of its own, so that threads do not
/// contend for one reference count.
#[derive(Clone, Debug)]
pub(crate) struct BlockHandle {
    pub(crate) block: Arc<ExecutedBlock>,
    /// The encoded form of the block in the write-ahead log, if its log record is still in memory.
    pub(crate) wal_block: Option<Arc<WalBlock>>,
}

impl BlockHandle {
    /// Returns the transaction at `index`, or `None` if the block has fewer transactions.
    pub(crate) fn committed(self: &Arc<Self>, index: usize) -> Option<CommittedTransaction> {
        let block = &self.block;
        (index < block.transactions.len()).then(|| {
            let version = block.first_version + index as u64;
            CommittedTransaction {
                version,
                block_timestamp_usecs: block.header.timestamp_usecs,
                is_block_end: version == block.last_version(),
                source: Source::InMemory(Arc::clone(self), index),
            }
        })
    }
}

/// A committed and durable transaction.
#[derive(Clone, Debug)]
pub struct CommittedTransaction {
    /// Version of the transaction.
    pub version: u64,
    /// Timestamp of its block, in microseconds since the Unix epoch.
    pub block_timestamp_usecs: u64,
    /// Whether it is the last transaction of its block.
    pub is_block_end: bool,
    source: Source,
}

/// The source of a committed transaction's content.
#[derive(Clone, Debug)]
enum Source {
    /// The transaction at this index of a block in memory.
    InMemory(Arc<BlockHandle>, usize),
    /// A transaction that was read from the store.
    Stored(Arc<StoredTransaction>),
}

impl CommittedTransaction {
    /// Creates a committed transaction from its stored form and its block.
    pub fn from_stored(stored: StoredTransaction, block: &BlockInfo) -> Self {
        Self {
            version: stored.version(),
            block_timestamp_usecs: block.header.timestamp_usecs,
            is_block_end: stored.version() == block.last_version,
            source: Source::Stored(Arc::new(stored)),
        }
    }

    /// Returns the stored form, if the transaction was read from the store.
    pub fn stored(&self) -> Option<&StoredTransaction> {
        match &self.source {
            Source::InMemory(..) => None,
            Source::Stored(stored) => Some(stored),
        }
    }

    /// Returns the encoded form of the transaction in the write-ahead log.
    ///
    /// Only the outcome of a wait has it, and only if the log record of its block is still in
    /// memory. Otherwise returns `None`.
    pub fn wal_transaction(&self) -> Option<WalTransaction<'_>> {
        match &self.source {
            Source::InMemory(handle, index) => handle.wal_block.as_ref()?.transaction(*index),
            Source::Stored(_) => None,
        }
    }

    /// Returns the content of the transaction, decoding it if it was read from the store.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the stored form cannot be decoded.
    pub fn content(&self) -> Result<TransactionContent, StoreError> {
        Ok(TransactionContent(match &self.source {
            Source::InMemory(handle, index) => Content::InMemory(Arc::clone(handle), *index),
            Source::Stored(stored) => Content::Decoded(Box::new(stored.decode()?)),
        }))
    }
}

/// The content of a committed transaction: the transaction, and the result of its execution.
#[derive(Debug)]
pub struct TransactionContent(Content);

/// The representation of a transaction's content.
#[derive(Debug)]
enum Content {
    /// The transaction at this index of a block in memory.
    InMemory(Arc<BlockHandle>, usize),
    /// A transaction that was decoded from its stored form.
    Decoded(Box<ExecutedTransaction>),
}

impl Deref for TransactionContent {
    type Target = ExecutedTransaction;

    fn deref(&self) -> &ExecutedTransaction {
        match &self.0 {
            Content::InMemory(handle, index) => &handle.block.transactions[*index],
            Content::Decoded(executed) => executed,
        }
    }
}
