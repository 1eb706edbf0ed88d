//! Whole blocks as they are stored, and the checks of a ledger that need its tables and indices.

use super::snapshot::Snapshot;
use crate::{
    StoreError,
    index::{Kind, batch::IndexBatch, reader::EntryRange},
};
use ledger_types::{BlockInfo, ExecutedTransaction};
use redb::{ReadableTable as _, ReadableTableMetadata as _};
use std::ops::ControlFlow;

/// A committed block with the rows of its transactions, decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredBlock {
    /// The row of the block.
    pub block: BlockInfo,
    /// Its transactions in order, with events and writes. The `hash` of each is that of its info.
    pub transactions: Vec<ExecutedTransaction>,
}

/// An index entry that the rows of a version need and that the index does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingEntry {
    /// Version of the rows.
    pub version: u64,
    /// Name of the index (docs/internals/storage.md#runs).
    pub index: &'static str,
}

impl Snapshot {
    /// Returns the block at a height with its transactions, or `None` if it is above the snapshot
    /// or pruned.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is missing or damaged, or if the row of a transaction names another block.
    pub fn stored_block(&self, height: u64) -> Result<Option<StoredBlock>, StoreError> {
        let Some(block) = self.block(height)? else {
            return Ok(None);
        };
        let mut transactions = Vec::new();
        for stored in self.transactions(block.first_version..=block.last_version)? {
            let stored = stored?;
            if stored.height() != height {
                return Err(StoreError::Inconsistent(format!(
                    "transaction {} names block {}, and block {height} contains it",
                    stored.version(),
                    stored.height()
                )));
            }
            transactions.push(stored.decode()?);
        }
        Ok(Some(StoredBlock {
            block,
            transactions,
        }))
    }

    /// Returns the first index entry of a block's rows that a search in its index does not find.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub fn missing_index_entry(
        &self,
        stored: &StoredBlock,
    ) -> Result<Option<MissingEntry>, StoreError> {
        let mut batch = IndexBatch::new(self.view.digest_key);
        for (version, executed) in (stored.block.first_version..).zip(&stored.transactions) {
            batch.add(version, executed);
        }
        for (kind, entries) in Kind::OF_ROWS.into_iter().zip(batch.into_sorted()) {
            let index = self.view.index(kind);
            for entry in entries.chunks_exact(kind.width()) {
                let version = kind.version(entry).unwrap_or_default();
                let range = EntryRange {
                    low: entry,
                    high: entry,
                    versions: version..=version,
                };
                let found = index.newest_first(&range, |_| ControlFlow::Break(()))?;
                if found.is_none() {
                    let index = match kind {
                        Kind::Hash => "hash",
                        Kind::State => "state",
                        Kind::Account => "account",
                        Kind::Stream => "stream",
                        Kind::PrunedState => "pruned state",
                    };
                    return Ok(Some(MissingEntry { version, index }));
                }
            }
        }
        Ok(None)
    }

    /// Checks that the tables have rows of exactly the blocks and versions of the snapshot, which
    /// must be the newest one.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`], which names the table, if they do not, and
    /// [`StoreError::Database`] if the database fails.
    pub fn check_table_bounds(&self) -> Result<(), StoreError> {
        let (tables, info) = (&self.view.tables, &self.info);
        let versions = info.oldest_version..=info.version;
        let heights = info.oldest_block_height..=info.block_height;
        for (name, table, numbers) in [
            ("transactions", &tables.transactions, &versions),
            ("blocks", &tables.blocks, &heights),
        ] {
            let (rows, expected) = (table.len()?, numbers.end() - numbers.start() + 1);
            let first = table.first()?.map(|(number, _)| number.value());
            if rows != expected || first != Some(*numbers.start()) {
                return Err(StoreError::Inconsistent(format!(
                    "the table {name} has {rows} rows from {first:?} on, and the head names those \
                     from {} to {}",
                    numbers.start(),
                    numbers.end()
                )));
            }
        }
        for (name, table) in [("events", &tables.events), ("writes", &tables.writes)] {
            for row in [table.first()?, table.last()?].into_iter().flatten() {
                let (version, index) = row.0.value();
                if !versions.contains(&version) {
                    return Err(StoreError::Inconsistent(format!(
                        "the table {name} has a row {index} of version {version}, outside of the \
                         window from {} to {}",
                        versions.start(),
                        versions.end()
                    )));
                }
            }
        }
        Ok(())
    }
}
