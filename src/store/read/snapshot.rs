//! Questions answered at one moment of the ledger.

use crate::{
    StoreError,
    index::{Kind, key::hash_entry, reader::EntryRange},
    read::view::ReadView,
    tables::rows::{StoredTransaction, TransactionRow},
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{BlockInfo, LedgerInfo, StateError, StateKey, StateView};
use std::{ops::ControlFlow, sync::Arc};

/// One moment of the ledger. Pages that it reads stay on disk until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) view: Arc<ReadView>,
    pub(crate) info: LedgerInfo,
}

/// A committed transaction with the block that contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionInBlock {
    /// The transaction.
    pub transaction: StoredTransaction,
    /// Its block.
    pub block: BlockInfo,
}

/// The result of a look-up by transaction hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HashLookup {
    /// The transaction is in the window.
    InWindow(Box<TransactionInBlock>),
    /// The transaction was committed at this version, which is pruned. Its index entry remains.
    Pruned {
        /// The version.
        version: u64,
    },
}

impl Snapshot {
    pub(crate) fn new(view: Arc<ReadView>, info: LedgerInfo) -> Self {
        Self { view, info }
    }

    /// The facts about the ledger at this moment.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.info
    }

    fn has_version(&self, version: u64) -> bool {
        (self.info.oldest_version..=self.info.version).contains(&version)
    }

    /// Refuses a version whose state cannot be read.
    pub(crate) fn check_version(&self, version: u64) -> Result<(), StoreError> {
        if self.has_version(version) {
            return Ok(());
        }
        Err(StoreError::VersionOutOfRange {
            requested: version,
            oldest: self.info.oldest_version,
            newest: self.info.version,
        })
    }

    /// The transaction of a version; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let row = self.row(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.with_parts(row).map(Some)
    }

    /// The rows of the transaction of a version, and its block; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction_in_block(
        &self,
        version: u64,
    ) -> Result<Option<TransactionInBlock>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let row = self.row(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.in_block(row).map(Some)
    }

    /// A transaction's own row, with its events and writes still to come.
    fn row(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        let row = self.view.tables.transactions.get(version)?;
        row.map(|row| StoredTransaction::new(version, row.value()))
            .transpose()
    }

    fn in_block(&self, row: StoredTransaction) -> Result<TransactionInBlock, StoreError> {
        let block = self.view.block(row.height())?;
        let block = block.ok_or_else(|| missing("the block of transaction", row.version()))?;
        Ok(TransactionInBlock {
            transaction: self.with_parts(row)?,
            block,
        })
    }

    fn with_parts(&self, mut row: StoredTransaction) -> Result<StoredTransaction, StoreError> {
        let parts = (row.version(), 0)..=(row.version(), u32::MAX);
        for event in self.view.tables.events.range(parts.clone())? {
            row.push_event(event?.1.value());
        }
        for write in self.view.tables.writes.range(parts)? {
            row.push_write(write?.1.value());
        }
        Ok(row)
    }

    /// The transaction with `hash`, its row read once.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction_by_hash(&self, hash: &HashValue) -> Result<Option<HashLookup>, StoreError> {
        Ok(match self.row_by_hash(hash)? {
            None => None,
            Some((version, None)) => Some(HashLookup::Pruned { version }),
            Some((_, Some(row))) => Some(HashLookup::InWindow(Box::new(self.in_block(row)?))),
        })
    }

    /// The version of the transaction with `hash`; may be a pruned one while its index entry lives.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        Ok(self.row_by_hash(hash)?.map(|(version, _)| version))
    }

    /// The newest version that the index has under `hash`, with its own row: `None` in its place where the version is
    /// pruned. Of such a one only the index can tell, and it does so by the first bytes.
    fn row_by_hash(
        &self,
        hash: &HashValue,
    ) -> Result<Option<(u64, Option<StoredTransaction>)>, StoreError> {
        let span = EntryRange {
            low: &hash_entry(hash, 0),
            high: &hash_entry(hash, self.info.version),
            versions: 0..=self.info.version,
        };
        let found = self.view.index(Kind::Hash).newest_first(&span, |entry| {
            let version = Kind::Hash.version(entry).unwrap_or_default();
            if version < self.info.oldest_version {
                return ControlFlow::Break(Ok((version, None)));
            }
            match self.row_with_hash(version, hash) {
                Ok(Some(row)) => ControlFlow::Break(Ok((version, Some(row)))),
                Ok(None) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        })?;
        found.transpose()
    }

    /// The row of a version, if its transaction has that hash.
    fn row_with_hash(
        &self,
        version: u64,
        hash: &HashValue,
    ) -> Result<Option<StoredTransaction>, StoreError> {
        let Some(row) = self.view.tables.transactions.get(version)? else {
            return Ok(None);
        };
        let found = TransactionRow::decode(row.value(), version)?
            .info
            .v0()
            .transaction_hash;
        let row = (found == *hash).then(|| StoredTransaction::new(version, row.value()));
        row.transpose()
    }

    /// The block of a height; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !(self.info.oldest_block_height..=self.info.block_height).contains(&height) {
            return Ok(None);
        }
        self.view.block(height)
    }

    /// The block that a version is in; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        self.view.block_of_version(version)
    }

    /// The value of `key` after `version`.
    ///
    /// # Errors
    /// [`StoreError::VersionOutOfRange`] when `version` is above the head or pruned; else when the
    /// database fails or a row is damaged.
    pub fn state_value(&self, key: &StateKey, version: u64) -> Result<Option<Bytes>, StoreError> {
        self.check_version(version)?;
        self.view.state_value(key, version)
    }

    /// The state after `version`, which is inside the window.
    pub fn state_at(&self, version: u64) -> StateAt<'_> {
        StateAt {
            snapshot: self,
            version,
        }
    }
}

fn missing(what: &str, version: u64) -> StoreError {
    StoreError::Inconsistent(format!("{what} {version} is missing"))
}

/// The state after one version, as execution reads it.
#[derive(Clone, Copy, Debug)]
pub struct StateAt<'a> {
    snapshot: &'a Snapshot,
    version: u64,
}

impl StateView for StateAt<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        self.snapshot
            .state_value(key, self.version)
            .map_err(|error| StateError(error.to_string()))
    }
}
