//! What stands in the database: tables, their rows, and how rows become bytes.
//!
//! Every table that grows with the ledger has ascending keys: random keys cost a page each per
//! row and slow down as the tree grows. What must be found by a random key lies in the packed
//! runs of `index`, all of them in the table `runs`.

use crate::StoreError;
use ledger_types::{ChainTip, LedgerInfo};
use redb::{ReadOnlyTable, ReadTransaction, TableDefinition};
use serde::{Deserialize, Serialize};

/// The format that this program writes. Since 2 the digests of the state keys of an address begin alike. Since 3
/// the newest blocks may be in the block log only, so that a program that does not know it would lose them.
pub(crate) const FORMAT: u64 = 3;
/// The oldest format that this program reads. It has no log, and becomes the newest when it is opened.
pub(crate) const FORMAT_OLDEST: u64 = 2;
/// A place among the events or writes: version, then number within the transaction.
pub(crate) type Position = (u64, u32);
/// A table of bytes by a number.
pub(crate) type NumberTable = ReadOnlyTable<u64, &'static [u8]>;
/// A table of bytes by a place.
pub(crate) type PositionTable = ReadOnlyTable<Position, &'static [u8]>;
/// The table of runs.
pub(crate) type RunTable = ReadOnlyTable<&'static [u8], &'static [u8]>;
/// Single values: format, genesis, digest key, head, catalog, state of the log.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
/// Version to the height of its block, then the [`TransactionRow`].
pub(crate) const TRANSACTIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("transactions");
/// Position to event.
pub(crate) const EVENTS: TableDefinition<Position, &[u8]> = TableDefinition::new("events");
/// Position to state key and write operation.
pub(crate) const WRITES: TableDefinition<Position, &[u8]> = TableDefinition::new("writes");
/// Height to [`BlockInfo`].
pub(crate) const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("blocks");
/// Run number and first entry to a block of entries; number of a run's filter and first key to a segment of it.
pub(crate) const RUNS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("runs");
/// `META` key of the format number, little endian.
pub(crate) const META_FORMAT: &str = "format";
/// `META` key of the genesis, JSON.
pub(crate) const META_GENESIS: &str = "genesis";
/// `META` key of the secret of the digests.
pub(crate) const META_DIGEST_KEY: &str = "digest_key";
/// `META` key of the [`PersistedHead`].
pub(crate) const META_HEAD: &str = "head";
/// `META` key of the catalog of runs.
pub(crate) const META_MANIFEST: &str = "catalog";
/// `META` key of the [`LogState`]; absent where there never was a log.
pub(crate) const META_LOG: &str = "log";

/// What the newest checkpoint knows of the block log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LogState {
    /// Only records of this generation hold blocks that come after the checkpoint.
    pub generation: u64,
    /// Whether there may be any. Not after a stop.
    pub is_open: bool,
}

/// Where the ledger begins and ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PersistedHead {
    /// The chain id.
    pub chain_id: u8,
    /// The newest block.
    pub tip: ChainTip,
    /// The oldest version that can be read; the first of a block.
    pub oldest_version: u64,
    /// The height of that block.
    pub oldest_block_height: u64,
}

impl PersistedHead {
    /// The facts for the headers of answers.
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

/// The tables of one moment, opened for reading.
pub(crate) struct Tables {
    pub transactions: NumberTable,
    pub events: PositionTable,
    pub writes: PositionTable,
    pub blocks: NumberTable,
    pub runs: RunTable,
}

impl Tables {
    /// Opens the tables of a moment.
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
