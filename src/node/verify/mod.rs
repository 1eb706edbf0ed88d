//! Verification of the ledger in the directory of a stopped node.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs` | the order of the checks, and the two threads |
//! | `rows.rs` | hashes, numbers, links, accumulator and index entries of each block's rows |
//! | `replay.rs` | execution of each block once more, compared with its rows |
//! | `error.rs` | errors that end a verification |
//! | `mismatch.rs` | the first difference, in words |
//! | `progress.rs` | the part that is done |
//!
//! One thread reads and decodes blocks and checks their rows, another executes them. The store is
//! opened so that nothing is written to the directory: the log is applied in memory.

mod error;
mod mismatch;
mod progress;
mod replay;
mod rows;

pub use progress::Progress;

use error::VerifyError;
use ledger_execution::build_chain;
use ledger_store::{ScrubControl, Snapshot, Store, StoreError, StoreOptions, StoredBlock};
use mismatch::Mismatch;
use replay::Replay;
use rows::RowCheck;
use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

/// Name of the thread that executes blocks.
const THREAD: &str = "verify-replay";

/// Maximum number of decoded blocks that wait for their execution. It bounds the memory, because a
/// block has a maximum of output bytes.
const BLOCKS_WAITING_MAX: usize = 16;

/// The options of a verification.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions<'a> {
    /// Options of the opened store.
    pub store: &'a StoreOptions,
    /// Whether the signatures of transactions are checked again.
    pub checks_signatures: bool,
}

/// The result of a verification that found no mismatch.
#[derive(Debug)]
pub struct Verified {
    /// Chain id and vendor word.
    pub chain: String,
    /// Versions that were verified, first and last.
    pub versions: (u64, u64),
    /// Heights that were verified, first and last.
    pub heights: (u64, u64),
    /// Number of blocks that were executed again.
    pub executed_blocks: u64,
    /// Facts that were not verified, each in words.
    pub unchecked: Vec<String>,
}

/// Verifies the ledger in `directory`, and changes nothing there.
///
/// # Errors
///
/// Returns the [`VerifyError`] of the first check that fails. A [`VerifyError::Mismatch`] is the
/// one with the lowest version.
pub fn verify(
    directory: &Path,
    options: VerifyOptions<'_>,
    progress: &Arc<Progress>,
) -> Result<Verified, VerifyError> {
    let control: Arc<dyn ScrubControl> = Arc::<Progress>::clone(progress);
    let store = Store::open_unchanged(directory, options.store, &control)?;
    let genesis = store.genesis()?.ok_or(StoreError::Empty)?;
    let chain = build_chain(&genesis)?;
    let dropped = store.log_replay().and_then(|replay| replay.dropped);
    // The writer publishes the views, so it lives until the end.
    let (_writer, reader) = store.split();
    let (snapshot, tip) = (reader.snapshot()?, reader.chain_tip()?);
    snapshot.check_table_bounds()?;
    let info = *snapshot.ledger_info();
    progress.begin_versions(info.oldest_version, info.version);
    let mut rows = RowCheck::new(&chain, info.oldest_version, &tip)?;
    let replay = Replay::new(&chain, &genesis, &snapshot, options.checks_signatures);
    let (blocks, waiting) = sync_channel(BLOCKS_WAITING_MAX);
    let (read, executed) = thread::scope(|scope| {
        let named = thread::Builder::new().name(THREAD.to_owned());
        let thread = named.spawn_scoped(scope, || replay_all(replay, waiting))?;
        let read = read_all(&snapshot, &mut rows, &blocks, progress);
        // The thread ends when no block can follow.
        drop(blocks);
        let executed = thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok::<_, VerifyError>((read, executed))
    })?;
    let executed_blocks = match (read, executed) {
        (Err(read), Err(executed)) => return Err(first(read, executed)),
        (Err(error), Ok(_)) | (Ok(()), Err(error)) => return Err(error),
        (Ok(()), Ok(blocks)) => blocks,
    };
    rows.check_end(&tip)?;
    let mut unchecked = unchecked(options, info.oldest_version, rows.first_root_version());
    unchecked.extend(dropped.map(|record| {
        format!(
            "record {} of the write-ahead log, which is incomplete ({})",
            record.number, record.defect
        )
    }));
    Ok(Verified {
        chain: format!("{} ({})", genesis.chain_id, genesis.vendor),
        versions: (info.oldest_version, info.version),
        heights: (info.oldest_block_height, info.block_height),
        executed_blocks,
        unchecked,
    })
}

/// Returns the error of the two threads that concerns the lower version.
///
/// The execution names key and values where the check of rows knows only a hash, so its error is
/// returned for the same version. A block that cannot be read follows those that are executed.
fn first(read: VerifyError, executed: VerifyError) -> VerifyError {
    match (&read, &executed) {
        (VerifyError::Mismatch(of_rows), VerifyError::Mismatch(of_replay))
            if of_rows.version < of_replay.version =>
        {
            read
        }
        _ => executed,
    }
}

/// Reads all blocks in order, checks their rows, and sends them to the thread that executes them.
///
/// A block whose rows do not match is sent too, because its execution may name the difference.
fn read_all(
    snapshot: &Snapshot,
    rows: &mut RowCheck<'_>,
    blocks: &SyncSender<Arc<StoredBlock>>,
    progress: &Progress,
) -> Result<(), VerifyError> {
    let info = snapshot.ledger_info();
    for height in info.oldest_block_height..=info.block_height {
        let stored = snapshot.stored_block(height)?;
        let stored = stored.ok_or_else(|| {
            StoreError::Inconsistent(format!("the row of block {height} is missing"))
        })?;
        let stored = Arc::new(stored);
        // The thread may have found a mismatch, which it returns.
        let is_received = blocks.send(Arc::clone(&stored)).is_ok();
        rows.check(&stored)?;
        if let Some(entry) = snapshot.missing_index_entry(&stored)? {
            return Err(Mismatch {
                version: entry.version,
                part: format!("an entry of the index {}", entry.index),
                stored: "absent".to_owned(),
                computed: "needed by the rows".to_owned(),
            }
            .into());
        }
        if !is_received {
            return Ok(());
        }
        progress.finish_version(stored.block.last_version);
    }
    Ok(())
}

/// Executes the received blocks, and returns the number of those that could be executed.
fn replay_all(
    mut replay: Replay<'_>,
    waiting: Receiver<Arc<StoredBlock>>,
) -> Result<u64, VerifyError> {
    let mut executed = 0;
    for stored in waiting {
        executed += u64::from(replay.check(&stored)?);
    }
    Ok(executed)
}

/// Returns the facts that no verification of this ledger checks, in words.
fn unchecked(options: VerifyOptions<'_>, oldest_version: u64, first_root: u64) -> Vec<String> {
    let mut unchecked = vec![
        "the reasons for which transactions were discarded".to_owned(),
        "the votes in certificates".to_owned(),
        "index entries that no row needs".to_owned(),
        "the sum of balances beside the supply, other than by execution".to_owned(),
    ];
    if !options.checks_signatures {
        unchecked.push("signatures (--signatures checks them)".to_owned());
    }
    if oldest_version > 0 {
        unchecked.push(format!("versions below {oldest_version}, which are pruned"));
        unchecked.push(
            "the state below the window, other than by the results of the blocks that read it"
                .to_owned(),
        );
        unchecked
            .push("the execution of the oldest block, whose state before is pruned".to_owned());
        if first_root > oldest_version {
            unchecked.push(format!(
                "the accumulator roots of versions {oldest_version} to {}, whose tree has pruned \
                 leaves",
                first_root - 1
            ));
        }
    }
    unchecked
}
