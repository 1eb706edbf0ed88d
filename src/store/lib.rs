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
//! | what the state holds at an address | `slots`, `index::digests` |

// What a client sends must not end the process: a panic is for a broken invariant, and says which.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod base;
mod check;
mod consecutive;
mod digest;
mod directory;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod listings;
mod lock;
mod log;
mod numbered;
mod open;
mod prune;
mod query;
mod reader;
mod replay;
mod rows;
mod schema;
mod shield;
mod slots;
mod snapshot;
mod store;
mod stream;
mod sync_stats;
mod usage;
mod view;
mod writer;

#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use index::{filter::FILTER_BYTES_MAX, merge::LOG_BYTES_MAX};
pub use listings::TransactionSummary;
pub use log::logged::{LoggedBlock, LoggedTransaction};
pub use numbered::Take;
pub use prune::Pruned;
pub use query::Query;
pub use reader::StoreReader;
pub use rows::{StoredList, StoredRows};
pub use shield::KEPT_BYTES_MAX;
pub use slots::{Slot, SlotPlace, Slots};
pub use snapshot::{FoundByHash, Snapshot, StateAt, StoredTransaction};
pub use store::{Store, StoreOptions};
pub use stream::{StreamEvent, StreamEvents};
pub use sync_stats::{SyncStats, SyncTimer};
pub use usage::{FileSize, Usage};
pub use writer::StoreWriter;
