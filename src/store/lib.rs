//! The durable ledger on redb: commits blocks, answers queries on snapshots, and prunes.
//!
//! The crate is synchronous and knows no actors. A store has one [`StoreWriter`], for one thread,
//! and any number of [`StoreReader`]s. A commit is atomic, durable when it returns, and included in
//! snapshots only then. The write-ahead log or the database makes it durable, whichever costs less.
//!
//! Folders, from left to right: a folder imports only from those left of it.
//!
//! | folder | content |
//! |---|---|
//! | `io` | isolation of disk faults, timing of syncs |
//! | `tables` | tables, keys, rows, digests |
//! | `wal`, `index` | write-ahead log; memtables, runs, compaction, bloom filters |
//! | `read` | views, snapshots, queries, pages |
//! | `directory` | names, lock, format, checksums |
//! | `write` | writer, commits, pruning, recovery |

// Client input must not end the process. A panic reports a broken invariant and names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod directory;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod io;
mod options;
mod read;
mod store;
mod tables;
mod wal;
mod write;

#[cfg(test)]
mod tests;

pub use directory::open::FileSize;
pub use error::StoreError;
pub use index::bloom_set::BLOOM_BYTES_MAX;
pub use io::{
    overlay::OVERLAY_BYTES_MAX,
    sync_stats::{SyncStats, SyncTimer},
};
pub use options::StoreOptions;
pub use read::{
    accounts::TransactionSummary,
    events::{StreamEvent, StreamEvents},
    pager::PageEnd,
    query::Query,
    reader::StoreReader,
    snapshot::{Snapshot, StateAt},
    state_keys::{AddressStateEntry, AddressStateKeys, StateKeyCursor},
    transactions::{HashLookup, TransactionInBlock},
};
pub use store::{Store, Usage};
pub use tables::rows::{EncodedList, StoredTransaction};
pub use wal::{
    WAL_BYTES_MAX,
    block::{WalBlock, WalTransaction},
};
pub use write::{prune::Pruned, writer::StoreWriter};
