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
        let Some(row) = self.view.transaction_row(version)? else {
            return Err(StoreError::Inconsistent(format!(
                "transaction {version} is missing"
            )));
        };
        Ok(Some(row.with_parts(
            version,
            self.events_of(version)?,
            self.writes_of(version)?,
        )))
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

    /// The version of the transaction with `hash`; may be a pruned one while its index entry lives.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        let span = Span {
            low: &hash_entry(hash, 0),
            high: &hash_entry(hash, self.info.version),
            versions: 0..=self.info.version,
        };
        let found = self.view.index(Kind::Hash).newest_first(&span, |entry| {
            let version = Kind::Hash.version(entry).unwrap_or_default();
            match self.is_transaction(version, hash) {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(Ok(version)),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        })?;
        found.transpose()
    }

    /// Whether the transaction of `version` has `hash`; of a pruned one only the index can tell,
    /// and it does so by the first bytes.
    fn is_transaction(&self, version: u64, hash: &HashValue) -> Result<bool, StoreError> {
        if version < self.info.oldest_version {
            return Ok(true);
        }
        let row = self.view.transaction_row(version)?;
        Ok(row.is_some_and(|row| row.info.v0().transaction_hash == *hash))
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
