//! The durable ledger on redb: commit blocks, answer queries on one snapshot, prune.
//!
//! Synchronous, no actors: one [`StoreWriter`] for one thread, as many [`StoreReader`]s as wanted.

mod error;
mod snapshot;
mod store;
mod writer;

pub use error::StoreError;
pub use snapshot::{Query, Snapshot, StateAt, StoreReader, StoredTransaction};
pub use store::{Store, StoreOptions};
pub use writer::{Pruned, StoreWriter};
