//! The times at which the newest blocks reached each stage, for an operator who looks for the
//! thread that holds up a block.

use crate::Clock;
use ledger_store::{has_space_beside_writes, write_flight_file};
use serde::Serialize;
use std::{
    array,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
            fence,
        },
    },
    time::Duration,
};

/// Maximum number of blocks in a recording. A loaded node orders that many in a minute or more.
/// They take 720 KB of memory.
const ENTRIES_MAX: usize = 10_000;

/// Number of the form of a recording. A change that breaks its readers increments it.
const FORMAT: u32 = 1;

/// A stage that a block reaches. The values are indices, in the order of the stages; `Visible` and
/// `Applied` have no fixed order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockStage {
    /// The sequencer has ordered the block.
    Ordered = 0,
    /// The executor has received the block.
    ExecutionBegun = 1,
    /// The executor has sent the block to the writer.
    Executed = 2,
    /// The record of the block is synced, or the checkpoint that holds it.
    Durable = 3,
    /// The committer has published the block in the Head.
    Visible = 4,
    /// The block is in the database.
    Applied = 5,
}

/// Number of stages.
const STAGES: usize = 6;

/// A recorder of the newest blocks. Clones share it. Cheap to clone.
///
/// The thread that brings a block to a stage records it, in the time that a reading of the clock
/// takes. The six stages of a block took 2.4 us on a busy virtual machine of two cores. The
/// recorder is no part of the protocol, and no decision depends on its entries.
#[derive(Clone, Debug)]
pub struct FlightRecorder(Arc<Shared>);

/// The state that clones of a recorder share.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// Block `height` is in the slot `height % ENTRIES_MAX`, until a newer one replaces it.
    slots: Box<[Slot]>,
    /// Whether a file is being written, so that two files do not get the same name.
    is_writing: AtomicBool,
}

/// The entry of a block.
///
/// The fields are written relaxed. The height is a sequence lock around them: it is 0 while the
/// sequencer replaces the entry, and a reader that finds another height afterwards drops what it
/// has read.
#[derive(Debug, Default)]
struct Slot {
    /// Height of the block, or 0 if the slot is empty. Block 0 is genesis, which no actor orders.
    height: AtomicU64,
    transactions: AtomicU64,
    bytes: AtomicU64,
    /// Elapsed time of each stage in microseconds, or 0 if the block has not reached it.
    elapsed_usecs: [AtomicU64; STAGES],
}

/// A recording that was written.
#[derive(Clone, Debug)]
pub struct FlightFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Number of blocks in it.
    pub blocks: usize,
}

/// Reason why a recording was not written.
#[derive(Debug, thiserror::Error)]
pub enum FlightError {
    /// Another recording is being written.
    #[error("another recording is being written")]
    Busy,
    /// The data directory does not take the file. It holds no part of it, unless only older files
    /// could not be removed.
    #[error("the recording cannot be written into {}: {source}", directory.display())]
    Io {
        /// The data directory.
        directory: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

/// A block in a recording. Each `*_after_usecs` is the time from the order of the block to the
/// stage, or `None` if the block has not reached it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct BlockEntry {
    height: u64,
    transactions: u64,
    bytes: u64,
    ordered_at_unix_usecs: u64,
    execution_begun_after_usecs: Option<u64>,
    executed_after_usecs: Option<u64>,
    durable_after_usecs: Option<u64>,
    visible_after_usecs: Option<u64>,
    applied_after_usecs: Option<u64>,
}

impl FlightRecorder {
    /// Creates an empty recorder that reads the elapsed time of `clock`.
    pub(crate) fn new(clock: Clock) -> Self {
        Self(Arc::new(Shared {
            clock,
            slots: (0..ENTRIES_MAX).map(|_| Slot::default()).collect(),
            is_writing: AtomicBool::new(false),
        }))
    }

    /// Begins the entry of a block that is ordered now, which replaces the one of an old block.
    ///
    /// `transactions` and `bytes` are the number and the total size of its user transactions. Only
    /// the sequencer calls this.
    pub(crate) fn record_ordered(&self, height: u64, transactions: usize, bytes: usize) {
        let slot = self.slot(height);
        slot.height.store(0, Relaxed);
        fence(Release);
        slot.transactions.store(transactions as u64, Relaxed);
        slot.bytes.store(bytes as u64, Relaxed);
        for stage in &slot.elapsed_usecs {
            stage.store(0, Relaxed);
        }
        let ordered = &slot.elapsed_usecs[BlockStage::Ordered as usize];
        ordered.store(self.elapsed_usecs(), Relaxed);
        slot.height.store(height, Release);
    }

    /// Records that blocks have reached a stage now. Ignores blocks without an entry.
    pub(crate) fn record(&self, stage: BlockStage, heights: impl IntoIterator<Item = u64>) {
        let elapsed_usecs = self.elapsed_usecs();
        for height in heights {
            let slot = self.slot(height);
            if slot.height.load(Acquire) == height {
                slot.elapsed_usecs[stage as usize].store(elapsed_usecs, Relaxed);
            }
        }
    }

    /// Returns the time since a block reached a stage, or `None` if it has no entry, or has not
    /// reached the stage.
    pub(crate) fn time_since(&self, stage: BlockStage, height: u64) -> Option<Duration> {
        let slot = self.slot(height);
        let reached_usecs = slot.elapsed_usecs[stage as usize].load(Relaxed);
        let is_of_block = slot.height.load(Acquire) == height;
        (is_of_block && reached_usecs > 0)
            .then(|| Duration::from_micros(self.elapsed_usecs().saturating_sub(reached_usecs)))
    }

    /// Records that all blocks up to `height` are applied now, except those that were before.
    pub(crate) fn record_applied(&self, height: u64) {
        let elapsed_usecs = self.elapsed_usecs();
        for height in (1..=height).rev() {
            let slot = self.slot(height);
            let applied = &slot.elapsed_usecs[BlockStage::Applied as usize];
            if slot.height.load(Acquire) != height || applied.load(Relaxed) != 0 {
                return;
            }
            applied.store(elapsed_usecs, Relaxed);
        }
    }

    /// Writes the recording as `flight-<time>.json` into the data directory, completely or not at
    /// all, and removes the oldest recordings beyond the maximum number.
    ///
    /// `reason` states why it is written. Blocks the thread for as long as the disk takes.
    ///
    /// # Errors
    ///
    /// Returns [`FlightError::Busy`] if another thread writes one, and [`FlightError::Io`] if the
    /// file system fails, or if the disk has no space for the file beside the next writes of the
    /// ledger. The reserve of disk space therefore does not count these files.
    pub fn write(&self, directory: &Path, reason: &str) -> Result<FlightFile, FlightError> {
        if self.0.is_writing.swap(true, Acquire) {
            return Err(FlightError::Busy);
        }
        let written = self.write_file(directory, reason);
        self.0.is_writing.store(false, Release);
        written.map_err(|source| FlightError::Io {
            directory: directory.to_owned(),
            source,
        })
    }

    fn write_file(&self, directory: &Path, reason: &str) -> io::Result<FlightFile> {
        let now_usecs = self.0.clock.now_usecs();
        let entries = self.entries(now_usecs);
        let text = encode(&entries, now_usecs, reason)?;
        if !has_space_beside_writes(directory, text.len() as u64) {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the disk has no space for it beside the next writes of the ledger",
            ));
        }
        Ok(FlightFile {
            path: write_flight_file(directory, now_usecs, text.as_bytes())?,
            blocks: entries.len(),
        })
    }

    /// Returns the entries in order of height. `now_usecs` is the time since the Unix epoch.
    fn entries(&self, now_usecs: u64) -> Vec<BlockEntry> {
        let epoch = Epoch {
            unix_usecs: now_usecs,
            elapsed_usecs: self.elapsed_usecs(),
        };
        let slots = self.0.slots.iter();
        let mut entries: Vec<_> = slots.filter_map(|slot| slot.entry(&epoch)).collect();
        entries.sort_unstable_by_key(|entry| entry.height);
        entries
    }

    fn slot(&self, height: u64) -> &Slot {
        &self.0.slots[(height % ENTRIES_MAX as u64) as usize]
    }

    /// Returns the clock that the recorder reads.
    pub(crate) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Returns the elapsed time of the clock, which is never 0.
    fn elapsed_usecs(&self) -> u64 {
        self.0.clock.elapsed_usecs().max(1)
    }
}

/// One moment on both clocks.
struct Epoch {
    unix_usecs: u64,
    elapsed_usecs: u64,
}

impl Slot {
    /// Returns the entry, or `None` if the slot is empty or is replaced meanwhile.
    fn entry(&self, now: &Epoch) -> Option<BlockEntry> {
        let height = self.height.load(Acquire);
        let transactions = self.transactions.load(Relaxed);
        let bytes = self.bytes.load(Relaxed);
        let stages: [u64; STAGES] = array::from_fn(|stage| self.elapsed_usecs[stage].load(Relaxed));
        fence(Acquire);
        if height == 0 || self.height.load(Relaxed) != height {
            return None;
        }
        let ordered = stages[BlockStage::Ordered as usize];
        let after_usecs = |stage: BlockStage| match stages[stage as usize] {
            0 => None,
            reached => Some(reached.saturating_sub(ordered)),
        };
        Some(BlockEntry {
            height,
            transactions,
            bytes,
            ordered_at_unix_usecs: now
                .unix_usecs
                .saturating_sub(now.elapsed_usecs.saturating_sub(ordered)),
            execution_begun_after_usecs: after_usecs(BlockStage::ExecutionBegun),
            executed_after_usecs: after_usecs(BlockStage::Executed),
            durable_after_usecs: after_usecs(BlockStage::Durable),
            visible_after_usecs: after_usecs(BlockStage::Visible),
            applied_after_usecs: after_usecs(BlockStage::Applied),
        })
    }
}

/// Returns the recording as JSON, with one block per line.
fn encode(entries: &[BlockEntry], now_usecs: u64, reason: &str) -> io::Result<String> {
    /// The fields before the blocks.
    #[derive(Serialize)]
    struct Heading<'a> {
        format: u32,
        node_version: &'a str,
        reason: &'a str,
        written_at_unix_usecs: u64,
    }
    let heading = serde_json::to_string(&Heading {
        format: FORMAT,
        node_version: env!("CARGO_PKG_VERSION"),
        reason,
        written_at_unix_usecs: now_usecs,
    })?;
    let mut text = heading;
    // The closing brace follows the blocks.
    text.pop();
    text += ",\"blocks\":[";
    for (index, entry) in entries.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}\n{}", serde_json::to_string(entry)?);
    }
    text += "\n]}\n";
    Ok(text)
}

#[cfg(test)]
mod tests;
