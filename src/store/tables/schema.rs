//! Tables of the database, their keys, and the rows of the table `meta`.
//!
//! Keys of every table that grows with the ledger ascend. Random keys would write a page per row
//! and become slower as the tree grows. The packed runs of [`crate::index`], all in the table
//! `runs`, find rows by random keys.

use crate::StoreError;
use ledger_types::{ChainTip, LedgerInfo};
use redb::{ReadOnlyTable, ReadTransaction, TableDefinition};
use serde::{Deserialize, Serialize};

/// Format that this program writes.
///
/// It is the only one that this program reads: since format 6, trees have other inner nodes, so the
/// roots of an older ledger do not continue in this program.
pub(crate) const FORMAT: u64 = 6;

/// Position of an event or write: version, then index within the transaction.
pub(crate) type Position = (u64, u32);
/// A table of bytes by version or height.
pub(crate) type NumberTable = ReadOnlyTable<u64, &'static [u8]>;
/// A table of bytes by position.
pub(crate) type PositionTable = ReadOnlyTable<Position, &'static [u8]>;
/// The table of runs.
pub(crate) type RunTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// Single values: format, genesis, digest key, head, manifest, log state.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
/// Version to the height of its block, then a [`TransactionRow`](super::rows::TransactionRow).
pub(crate) const TRANSACTIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("transactions");
/// Position to event.
pub(crate) const EVENTS: TableDefinition<Position, &[u8]> = TableDefinition::new("events");
/// Position to state key and write operation.
pub(crate) const WRITES: TableDefinition<Position, &[u8]> = TableDefinition::new("writes");
/// Height to [`BlockInfo`](ledger_types::BlockInfo).
pub(crate) const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("blocks");
/// Run id and first entry to a block of entries; bloom filter id and first key to a segment of the
/// filter.
pub(crate) const RUNS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("runs");

/// `META` key of the format, little endian.
pub(crate) const META_FORMAT: &str = "format";
/// `META` key of the genesis, as JSON.
pub(crate) const META_GENESIS: &str = "genesis";
/// `META` key of the digest key.
pub(crate) const META_DIGEST_KEY: &str = "digest_key";
/// `META` key of the [`PersistedHead`].
pub(crate) const META_HEAD: &str = "head";
/// `META` key of the manifest of runs.
pub(crate) const META_MANIFEST: &str = "catalog";
/// `META` key of the [`LogState`], which is absent in a store that never had a log.
pub(crate) const META_LOG: &str = "log";

/// The state of the write-ahead log at the newest checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LogState {
    /// Generation of the records that follow the checkpoint.
    pub generation: u64,
    /// Whether such records may exist. False after a regular stop.
    pub is_open: bool,
}

/// The persisted ends of the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PersistedHead {
    /// The chain id.
    pub chain_id: u8,
    /// The newest block.
    pub tip: ChainTip,
    /// The oldest readable version, which is the first of a block.
    pub oldest_version: u64,
    /// The height of that block.
    pub oldest_block_height: u64,
}

impl PersistedHead {
    /// Returns the values of the ledger headers.
    pub(crate) fn ledger_info(&self) -> LedgerInfo {
        LedgerInfo {
            chain_id: self.chain_id,
            epoch: self.tip.epoch,
            version: self.tip.version,
            oldest_version: self.oldest_version,
            block_height: self.tip.height,
            oldest_block_height: self.oldest_block_height,
            timestamp_usecs: self.tip.timestamp_usecs,
        }
    }
}

/// The tables of one read transaction.
pub(crate) struct Tables {
    pub transactions: NumberTable,
    pub events: PositionTable,
    pub writes: PositionTable,
    pub blocks: NumberTable,
    pub runs: RunTable,
}

impl Tables {
    /// Opens the tables.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails or a table is absent.
    pub(crate) fn open(transaction: &ReadTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            transactions: transaction.open_table(TRANSACTIONS)?,
            events: transaction.open_table(EVENTS)?,
            writes: transaction.open_table(WRITES)?,
            blocks: transaction.open_table(BLOCKS)?,
            runs: transaction.open_table(RUNS)?,
        })
    }
}
