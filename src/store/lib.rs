//! The durable ledger on redb: commit blocks, answer queries on one snapshot, prune.
//!
//! Synchronous, no actors: one [`StoreWriter`] for one thread, as many [`StoreReader`]s as wanted.
//! Every commit is atomic and durable when it returns, and visible to snapshots only then.
//! It is durable by the block log or by the database, whichever costs less; a start brings them together.
//!
//! | to find | look in |
//! |---|---|
//! | opening a directory, and what is refused; pages in use | `store`, `open`, `directory`, `lock`, `usage` |
//! | tables and rows | `schema` |
//! | the write path: rows, then index entries, then the head | `writer`, `check` |
//! | what makes a commit durable; what a start makes of it | `log`; `replay` |
//! | finding rows by hash, key, account or stream | `index`, `digest` |
//! | a disk that fails; how often it syncs | `shield`, `sync_stats` |
//! | the window's lower end | `prune`, `base` |
//! | what readers see | `view`, `reader`, `snapshot`, `query` |
//! | pages: events, an account's transactions and summaries | `stream`, `listings`, `numbered` |
//! | what the state holds at an address | `state_keys`, `index::digests` |

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
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
pub use index::{bloom_set::BLOOM_BYTES_MAX, compaction::WAL_BYTES_MAX};
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
    snapshot::{HashLookup, Snapshot, StateAt, TransactionInBlock},
    state_keys::{AddressStateEntry, AddressStateKeys, StateKeyCursor},
};
pub use store::{Store, Usage};
pub use tables::rows::{EncodedList, StoredTransaction};
pub use wal::block::{WalBlock, WalTransaction};
pub use write::{prune::Pruned, writer::StoreWriter};
