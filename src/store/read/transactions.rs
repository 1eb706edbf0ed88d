//! Reads of transactions: by version, by hash, and a scan of consecutive versions.

use super::snapshot::Snapshot;
use crate::{
    StoreError, StoredTransaction,
    index::{Kind, key::hash_entry, reader::EntryRange},
    tables::{rows::TransactionRow, schema::Position},
};
use ledger_crypto::HashValue;
use ledger_types::{BlockInfo, ExecutionStatus};
use redb::Range;
use std::{
    iter::Peekable,
    ops::{ControlFlow, RangeInclusive},
};

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

/// The outcome of a transaction that was looked up by its hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutcomeLookup {
    /// The transaction is in the window.
    InWindow {
        /// The version.
        version: u64,
        /// The status of its execution.
        status: ExecutionStatus,
    },
    /// The transaction was committed at a version that is pruned. Its index entry remains.
    Pruned,
}

impl Snapshot {
    /// Returns the transaction of a version, or `None` if it is above the snapshot or pruned.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is missing.
    pub fn transaction(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let row = self.read_row(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.read_parts(row).map(Some)
    }

    /// Returns the transaction of a version and its block, or `None` if the version is above the
    /// snapshot or pruned.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is missing or the block is damaged.
    pub fn transaction_in_block(
        &self,
        version: u64,
    ) -> Result<Option<TransactionInBlock>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let row = self.read_row(version)?;
        let row = row.ok_or_else(|| missing("transaction", version))?;
        self.read_with_block(row).map(Some)
    }

    /// Reads the row of a transaction, without its events and writes.
    fn read_row(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        let row = self.view.tables.transactions.get(version)?;
        row.map(|row| StoredTransaction::new(version, row.value()))
            .transpose()
    }

    /// Reads the block, events, and writes of a transaction.
    fn read_with_block(&self, row: StoredTransaction) -> Result<TransactionInBlock, StoreError> {
        let block = self.view.block(row.height())?;
        let block = block.ok_or_else(|| missing("the block of transaction", row.version()))?;
        Ok(TransactionInBlock {
            transaction: self.read_parts(row)?,
            block,
        })
    }

    /// Reads the events and writes of a transaction.
    fn read_parts(&self, mut row: StoredTransaction) -> Result<StoredTransaction, StoreError> {
        let parts = (row.version(), 0)..=(row.version(), u32::MAX);
        for event in self.view.tables.events.range(parts.clone())? {
            row.push_event(event?.1.value());
        }
        for write in self.view.tables.writes.range(parts)? {
            row.push_write(write?.1.value());
        }
        Ok(row)
    }

    /// Looks up a transaction by its hash. Its row is read once.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is missing or damaged.
    pub fn transaction_by_hash(&self, hash: &HashValue) -> Result<Option<HashLookup>, StoreError> {
        Ok(match self.row_by_hash(hash)? {
            None => None,
            Some((version, None)) => Some(HashLookup::Pruned { version }),
            Some((_, Some(row))) => {
                let found = self.read_with_block(row)?;
                Some(HashLookup::InWindow(Box::new(found)))
            }
        })
    }

    /// Returns the outcome of the transaction with `hash`, or `None` if there is none. Reads
    /// neither its block nor its events and writes.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn outcome_by_hash(&self, hash: &HashValue) -> Result<Option<OutcomeLookup>, StoreError> {
        Ok(match self.row_by_hash(hash)? {
            None => None,
            Some((_, None)) => Some(OutcomeLookup::Pruned),
            Some((version, Some(row))) => Some(OutcomeLookup::InWindow {
                version,
                status: row.decode()?.info.v0().status.clone(),
            }),
        })
    }

    /// Returns the version of the transaction with `hash`. It may be a pruned one whose index entry
    /// remains.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        Ok(self.row_by_hash(hash)?.map(|(version, _)| version))
    }

    /// Returns the newest version in the index with `hash`, and its row unless it is pruned.
    ///
    /// For a pruned version only the index remains, which compares the first bytes of the hash.
    fn row_by_hash(
        &self,
        hash: &HashValue,
    ) -> Result<Option<(u64, Option<StoredTransaction>)>, StoreError> {
        let range = EntryRange {
            low: &hash_entry(hash, 0),
            high: &hash_entry(hash, self.info.version),
            versions: 0..=self.info.version,
        };
        let found = self.view.index(Kind::Hash).newest_first(&range, |entry| {
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

    /// Returns the row of a version if its transaction has this hash.
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

    /// Returns the transactions of `versions`, which must be in the window, ascending.
    ///
    /// Reads each table in one scan, which is cheaper than a search per version.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails. Items are [`StoreError::Database`]
    /// if it fails later, and [`StoreError::Inconsistent`] if a row is missing.
    pub fn transactions(
        &self,
        versions: RangeInclusive<u64>,
    ) -> Result<impl Iterator<Item = Result<StoredTransaction, StoreError>> + use<>, StoreError>
    {
        let tables = &self.view.tables;
        let parts = (*versions.start(), 0)..=(*versions.end(), u32::MAX);
        Ok(TransactionScan {
            transactions: tables.transactions.range(versions.clone())?,
            events: tables.events.range(parts.clone())?.peekable(),
            writes: tables.writes.range(parts)?.peekable(),
            versions,
        })
    }
}

fn missing(what: &str, version: u64) -> StoreError {
    StoreError::Inconsistent(format!("{what} {version} is missing"))
}

/// Rows by version.
type Rows = Range<'static, u64, &'static [u8]>;
/// Rows by position.
type Parts = Peekable<Range<'static, Position, &'static [u8]>>;

/// A scan of the transactions of consecutive versions, ascending.
struct TransactionScan {
    versions: RangeInclusive<u64>,
    transactions: Rows,
    events: Parts,
    writes: Parts,
}

impl TransactionScan {
    fn read(&mut self, version: u64) -> Result<StoredTransaction, StoreError> {
        let missing = || missing("transaction", version);
        let (found, row) = self.transactions.next().ok_or_else(missing)??;
        if found.value() != version {
            return Err(missing());
        }
        let mut stored = StoredTransaction::new(version, row.value())?;
        for_each_part(&mut self.events, version, |row| stored.push_event(row))?;
        for_each_part(&mut self.writes, version, |row| stored.push_write(row))?;
        Ok(stored)
    }
}

impl Iterator for TransactionScan {
    type Item = Result<StoredTransaction, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let version = self.versions.next()?;
        Some(self.read(version))
    }
}

/// Calls `push` with the next rows, up to and including those of `version`.
fn for_each_part(
    rows: &mut Parts,
    version: u64,
    mut push: impl FnMut(&[u8]),
) -> Result<(), StoreError> {
    // Takes a row that cannot be read as well, so that its error is returned.
    let is_later = |position: Position| position.0 > version;
    while let Some(row) = rows.next_if(|row| {
        !row.as_ref()
            .is_ok_and(|(position, _)| is_later(position.value()))
    }) {
        push(row?.1.value());
    }
    Ok(())
}
