//! Questions answered at one moment of the ledger.

use crate::{
    StoreError,
    base::decode_write,
    index::{Kind, entry::hash_entry, lookup::Span},
    schema::{TransactionRow, decode},
    view::View,
};
use bytes::Bytes;
use ledger::{
    BlockInfo, ContractEvent, ExecutedTransaction, HashValue, LedgerInfo, StateError, StateKey, StateView,
    WriteSet,
};
use std::{ops::ControlFlow, sync::Arc};

/// One moment of the ledger. Pages that it reads stay on disk until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) view: Arc<View>,
    pub(crate) info: LedgerInfo,
}

/// A committed transaction as it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTransaction {
    /// Its version.
    pub version: u64,
    /// It and everything it did.
    pub executed: ExecutedTransaction,
}

/// What is known of a transaction that was asked for by its hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FoundByHash {
    /// It is in the window: the transaction and its block.
    Kept(Box<StoredTransaction>, Box<BlockInfo>),
    /// It was committed at this version, which is pruned while its index entry lives.
    Pruned {
        /// The version.
        version: u64,
    },
}

/// A version, with its row and the height of its block where it is not pruned.
type FoundRow = (u64, Option<(TransactionRow, u64)>);

impl TransactionRow {
    /// The transaction of a row with its events and writes.
    pub(crate) fn with_parts(
        self,
        version: u64,
        events: Vec<ContractEvent>,
        writes: WriteSet,
    ) -> StoredTransaction {
        let Self {
            transaction,
            info,
            accumulator_root,
        } = self;
        let executed = ExecutedTransaction {
            transaction,
            hash: info.v0().transaction_hash,
            info,
            events,
            writes,
            accumulator_root,
        };
        StoredTransaction { version, executed }
    }
}

impl Snapshot {
    pub(crate) fn new(view: Arc<View>, info: LedgerInfo) -> Self {
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
        Err(StoreError::NoSuchMoment {
            asked: version,
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
        let row = self.view.transaction_row(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.with_parts(row, version).map(Some)
    }

    /// The transaction of a version and its block; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction_in_block(
        &self,
        version: u64,
    ) -> Result<Option<(StoredTransaction, BlockInfo)>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let row = self.view.transaction_row_in_block(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.in_block(row, version).map(Some)
    }

    fn in_block(
        &self,
        (row, height): (TransactionRow, u64),
        version: u64,
    ) -> Result<(StoredTransaction, BlockInfo), StoreError> {
        let block = self.view.block(height)?;
        let block = block.ok_or_else(|| missing("the block of transaction", version))?;
        Ok((self.with_parts(row, version)?, block))
    }

    fn with_parts(&self, row: TransactionRow, version: u64) -> Result<StoredTransaction, StoreError> {
        Ok(row.with_parts(version, self.events_of(version)?, self.writes_of(version)?))
    }

    fn events_of(&self, version: u64) -> Result<Vec<ContractEvent>, StoreError> {
        let rows = self
            .view
            .tables
            .events
            .range((version, 0)..=(version, u32::MAX))?;
        rows.map(|row| decode(row?.1.value(), format_args!("an event of version {version}")))
            .collect()
    }

    fn writes_of(&self, version: u64) -> Result<WriteSet, StoreError> {
        let rows = self
            .view
            .tables
            .writes
            .range((version, 0)..=(version, u32::MAX))?;
        let writes =
            rows.map(|row| decode_write(row?.1.value(), format_args!("a write of version {version}")));
        // The rows stand in the order in which the set had them.
        writes.collect::<Result<_, _>>().map(WriteSet::from_ascending)
    }

    /// The transaction with `hash`, its row read once.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction_by_hash(&self, hash: &HashValue) -> Result<Option<FoundByHash>, StoreError> {
        Ok(match self.row_by_hash(hash)? {
            None => None,
            Some((version, None)) => Some(FoundByHash::Pruned { version }),
            Some((version, Some(row))) => {
                let (transaction, block) = self.in_block(row, version)?;
                Some(FoundByHash::Kept(Box::new(transaction), Box::new(block)))
            }
        })
    }

    /// The version of the transaction with `hash`; may be a pruned one while its index entry lives.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        Ok(self.row_by_hash(hash)?.map(|(version, _)| version))
    }

    /// The newest version that the index has under `hash`, with its row and the height of its block: `None` in their place
    /// where the version is pruned. Of such a one only the index can tell, and it does so by the first bytes.
    fn row_by_hash(&self, hash: &HashValue) -> Result<Option<FoundRow>, StoreError> {
        let span = Span {
            low: &hash_entry(hash, 0),
            high: &hash_entry(hash, self.info.version),
            versions: 0..=self.info.version,
        };
        let found = self.view.index(Kind::Hash).newest_first(&span, |entry| {
            let version = Kind::Hash.version(entry).unwrap_or_default();
            if version < self.info.oldest_version {
                return ControlFlow::Break(Ok((version, None)));
            }
            match self.view.transaction_row_in_block(version) {
                Ok(Some((row, height))) if row.info.v0().transaction_hash == *hash => {
                    ControlFlow::Break(Ok((version, Some((row, height)))))
                }
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        })?;
        found.transpose()
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
    /// [`StoreError::NoSuchMoment`] when `version` is above the head or pruned; else when the
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
