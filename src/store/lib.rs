//! The durable ledger on redb: commits blocks, answers queries on snapshots, and prunes.
//!
//! A [`Store`] has one [`StoreWriter`], for one thread, and any number of [`StoreReader`]s, which
//! return [`Snapshot`]s. A folder imports only from those above it:
//!
//! | folder | content |
//! |---|---|
//! | `io` | isolation of disk faults, identity of files, files in memory, timing of syncs, number of pages |
//! | `tables` | tables, keys, rows, digests |
//! | `wal`, `index`, `consensus_log` | write-ahead log; memtables, runs, compaction, bloom filters; [`ConsensusLog`], the memory of a validator |
//! | `read` | views, snapshots, queries, pages |
//! | `scrub` | verification of the files of an open store, and of the pages of a closed one |
//! | `directory` | names, lock, format, checksums |
//! | `write` | writer, commits, pruning, recovery |
//!
//! `docs/internals/storage.md` describes the files of a data directory and the rules of their
//! content.
//!
//! # Rules
//!
//! * The crate is synchronous and knows no actors.
//! * A commit is atomic, durable when it returns, and included in snapshots only then.
//! * The write-ahead log or the database makes a commit durable, whichever costs less.
//!
//! # Example
//!
//! ```
//! use ledger_store::{Store, StoreOptions};
//! use ledger_test_support::{MemoryChain, test_genesis};
//! use ledger_types::Parameters;
//!
//! let genesis = test_genesis(Parameters::default());
//! let block = &MemoryChain::new(&genesis).blocks[0];
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(directory.path(), &StoreOptions::default())?;
//! store.initialize(&genesis, block)?;
//!
//! let (writer, reader) = store.split();
//! let snapshot = reader.snapshot()?;
//! let stored = snapshot.block(0)?.expect("block 0 is committed");
//! assert_eq!(stored.hash, block.tip.block_hash);
//! let (key, op) = block.transactions[0].writes.iter().next().expect("genesis writes");
//! assert_eq!(snapshot.state_value(key, 0)?.as_ref(), op.value());
//!
//! // The directory is locked until writer, readers and snapshots are dropped.
//! drop((writer, reader, snapshot));
//! let store = Store::open(directory.path(), &StoreOptions::default())?;
//! assert_eq!(store.genesis()?, Some(genesis));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Client input must not end the process. A panic reports a broken invariant and names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod consensus_log;
mod directory;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod io;
mod options;
mod read;
mod scrub;
mod store;
mod tables;
mod wal;
mod write;

#[cfg(test)]
mod tests;

pub use consensus_log::{CONSENSUS_LOG_FILE, ConsensusLog, LoggedDecision, LoggedProposal};
pub use directory::{
    flight_files::{FLIGHT_FILES_MAX, write_flight_file},
    inspect::{Inspection, inspect_directory},
    names::OVERRIDES_NAME,
    open::FileSize,
};
pub use error::{PathChange, StoreError};
pub use index::bloom_set::BLOOM_BYTES_MAX;
pub use io::{
    file_identity::StoreFiles,
    overlay::OVERLAY_BYTES_MAX,
    sync_stats::{SyncStats, SyncTimer},
};
pub use options::{MEMORY_LEDGER_BYTES_MAX, StoreOptions};
pub use read::{
    accounts::TransactionSummary,
    committed::{MissingEntry, StoredBlock},
    decided::StoredDecidedBlock,
    events::{StreamEvent, StreamEvents, StreamPage, StreamPosition, StreamRow, StreamRows},
    pager::PageEnd,
    query::Query,
    reader::StoreReader,
    snapshot::{Snapshot, StateAt},
    state_keys::{AddressStateEntry, AddressStateKeys, StateKeyCursor},
    transactions::{HashLookup, OutcomeLookup, TransactionInBlock},
    usage::{StoreUsage, UsageMeter},
};
pub use scrub::{ScrubOutcome, StoreScrubber, control::ScrubControl};
pub use store::{Compacted, Store, Usage};
pub use tables::rows::{EncodedList, StoredTransaction};
pub use wal::{
    WAL_BYTES_MAX,
    block::{WalBlock, WalTransaction},
    torn::{RecordDefect, TornRecord},
};
pub use write::{
    applier::StoreApplier,
    disk_space::{EMPTY_LEDGER_BYTES_MAX, has_space_beside_writes, write_space_bytes},
    prune::Pruned,
    prune_bound::PruneBound,
    recovery::LogReplay,
    writer::StoreWriter,
};
