//! The disk space that writes take, and the check before them.
//!
//! redb keeps the pages of applied blocks in memory and writes them at the next checkpoint. So the
//! writer appends a group of blocks only if the disk also has space for that checkpoint. A group
//! without space waits ([`StoreError::DiskFull`]), and the checkpoint, whose failure would end
//! writing until a restart, does not fail unless another program takes the space after the check.
//!
//! With the constant parts, the factors bound what `src/store/tests/disk_space.rs` measures:
//!
//! | content | measured growth of the database per byte of content |
//! |---|---|
//! | blocks of 1 to 10 transfers | 1.2 to 1.5 |
//! | blocks of 100 to 5,000 transfers, with flushes and merges | 2.3 to 2.8 |
//! | the same with a full window, a prune step per block | 2.4 |

use crate::{
    FileSize, StoreError,
    directory::names::FILE_NAME,
    wal::{CHECKPOINT_AFTER_BYTES, GROWTH_BYTES, WAL_BYTES_MAX},
};
use ledger_types::{ExecutedBlock, SignedTransaction};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Bytes of pages that a checkpoint writes per two bytes of content: rows with their rounding to
/// pages, index entries, merge steps, and copies of inner pages.
const PAGES_PER_TWO_CONTENT_BYTES: u64 = 5;

/// Bytes of pages that a checkpoint writes whatever the content is: the last page of each table,
/// the paths to the roots, the lists of free pages.
const PAGES_BYTES_MIN: u64 = 1024 * 1024;

/// Maximum size of the runs and filters of one flush of all memtables, in bytes: 65,536 entries of
/// 16 to 32 bytes each.
const FLUSH_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Part of the database, one in so many, that the memtables can hold at most. A row has several
/// times the size of its index entries.
const FLUSH_PART: u64 = 8;

/// Bytes of the database file per byte of the allocator state that a checkpoint writes. redb has
/// two bits per page of 4,096 bytes, rounds the size up to a power of two, and keeps the old state
/// until the commit is complete.
const FILE_BYTES_PER_ALLOCATOR_BYTE: u64 = 4096;

/// Bytes of a transaction in the log beside its signed form and its output: hashes, info, types and
/// keys of events.
const TRANSACTION_BYTES: u64 = 512;

/// Bytes of entries that a prune step writes per byte of the writes that it moves: the new run, and
/// merges beside it. Merges read three entries for each new one, but not at all times; the growth
/// is below the bound even if hardly any key is repeated.
const PRUNED_BYTES_PER_WRITE_BYTE: u64 = 2;

/// Maximum size of a ledger without blocks and its log, in bytes: the log up to its maximum, and
/// the genesis of a usual chain with the pages of a checkpoint of a full log.
pub const EMPTY_LEDGER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns the maximum growth of the database on the disk at a checkpoint of `content_bytes`, the
/// size of the log records and pruned writes since the last one.
pub(crate) fn checkpoint_bytes(content_bytes: u64, database: FileSize) -> u64 {
    let pages = content_bytes.saturating_mul(PAGES_PER_TWO_CONTENT_BYTES) / 2;
    let flush = FLUSH_BYTES_MAX.min(database.disk_bytes / FLUSH_PART);
    let allocator = database.file_bytes / FILE_BYTES_PER_ALLOCATOR_BYTE;
    pages
        .saturating_add(PAGES_BYTES_MIN)
        .saturating_add(flush)
        .saturating_add(allocator)
}

/// Returns the disk space that a store takes at most until blocks in flight with records of
/// `content_bytes` are durable and checkpointed, in bytes.
///
/// Covers the growth of the log of `log_bytes`, a checkpoint of a full log and these blocks, and
/// the compaction beside it.
pub fn write_space_bytes(content_bytes: u64, database: FileSize, log_bytes: u64) -> u64 {
    let content = CHECKPOINT_AFTER_BYTES.saturating_add(content_bytes);
    let log = content.saturating_add(GROWTH_BYTES).min(WAL_BYTES_MAX);
    log.saturating_sub(log_bytes)
        .saturating_add(checkpoint_bytes(content, database))
}

/// Returns whether the disk of a data directory has space for a file of `bytes` beside the next
/// writes of its store: a full log and its checkpoint.
///
/// Unknown space is no reason to reject a file. In a directory without a ledger, no write follows.
pub fn has_space_beside_writes(directory: &Path, bytes: u64) -> bool {
    let (Ok(database), Some(free)) = (FileSize::of(directory), free_bytes(directory)) else {
        return true;
    };
    let writes = write_space_bytes(0, database, 0);
    writes.saturating_add(bytes) <= free
}

/// Returns the approximate size of the log record of `blocks`, in bytes.
pub(crate) fn content_bytes(blocks: &[Arc<ExecutedBlock>]) -> u64 {
    let transactions = blocks.iter().flat_map(|block| &block.transactions);
    let bytes = transactions.map(|executed| {
        let signed = executed
            .transaction
            .as_user()
            .map_or(0, SignedTransaction::size_bytes);
        (signed + executed.output_bytes()) as u64 + TRANSACTION_BYTES
    });
    bytes.sum()
}

/// Returns the content that a prune step adds to the next checkpoint if it moves writes of this
/// size, in bytes.
pub(super) fn pruned_content_bytes(write_bytes: usize) -> u64 {
    (write_bytes as u64).saturating_mul(PRUNED_BYTES_PER_WRITE_BYTE)
}

/// Maximum age of a measurement of a disk that bounds its free space.
///
/// Another program writes some hundred megabytes in this time.
const MEASUREMENT_AGE_MAX: Duration = Duration::from_millis(250);

/// Time between two groups after which the second one measures, because another program may have
/// filled a small disk between them. The groups of a lone client are about a millisecond apart.
const MEASUREMENT_PAUSE_MAX: Duration = Duration::from_millis(10);

/// Part of the measured space, one in so many, that a write may need without a new measurement. The
/// rest is left to other programs.
const UNMEASURED_PART: u64 = 2;

/// What a write may take until the checkpoint after it is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpaceNeed {
    /// Content of the checkpoint: of the write, and of those since the last checkpoint.
    pub(super) content_bytes: u64,
    /// Growth of the log by the record of the write.
    pub(super) log_growth_bytes: u64,
}

impl SpaceNeed {
    fn bytes(self, database: FileSize) -> u64 {
        checkpoint_bytes(self.content_bytes, database).saturating_add(self.log_growth_bytes)
    }
}

/// A measurement of a disk.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    begun: Instant,
    /// Time of the last group for which it was used.
    used: Instant,
    /// Free space, in bytes.
    free: u64,
    database: FileSize,
    /// Length of the log, in bytes.
    log_bytes: u64,
}

/// The disk of a data directory.
#[derive(Debug)]
pub(crate) struct LedgerDisk {
    directory: PathBuf,
    last: Option<Measurement>,
    /// Free space that a test sets, in bytes.
    #[cfg(test)]
    pub(crate) free_bytes: Option<u64>,
}

impl LedgerDisk {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            last: None,
            #[cfg(test)]
            free_bytes: None,
        }
    }

    /// Returns the free space for users without privileges, in bytes, or `None` if it cannot be
    /// measured.
    fn free_bytes(&self) -> Option<u64> {
        #[cfg(test)]
        if self.free_bytes.is_some() {
            return self.free_bytes;
        }
        free_bytes(&self.directory.join(FILE_NAME))
    }

    /// Returns whether the last measurement shows that the disk has space for `need`, so that the
    /// caller need not measure. `log_bytes` is the length of the log.
    ///
    /// What the store has written since then is the growth of the log, and pages that are part of
    /// the need: it includes the content since the last checkpoint.
    pub(super) fn is_known_to_have(&mut self, need: SpaceNeed, log_bytes: u64) -> bool {
        #[cfg(test)]
        if self.free_bytes.is_some() {
            return false;
        }
        let Some(last) = &mut self.last else {
            return false;
        };
        let now = Instant::now();
        let used = std::mem::replace(&mut last.used, now);
        let growth = log_bytes.saturating_sub(last.log_bytes);
        let needed = need.bytes(last.database).saturating_add(growth);
        now.duration_since(used) < MEASUREMENT_PAUSE_MAX
            && now.duration_since(last.begun) < MEASUREMENT_AGE_MAX
            && needed <= last.free / UNMEASURED_PART
    }

    /// Discards the last measurement, because a checkpoint has written pages that are part of no
    /// need any more.
    pub(super) fn discard_measurement(&mut self) {
        self.last = None;
    }

    /// Measures the disk and checks that it has space for `need`. `log_bytes` is the length of the
    /// log.
    ///
    /// Unknown space is no reason to reject a write: if the disk is full, the write fails.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if it has not.
    pub(super) fn check(&mut self, need: SpaceNeed, log_bytes: u64) -> Result<(), StoreError> {
        self.discard_measurement();
        let begun = Instant::now();
        let Ok(database) = FileSize::of(&self.directory) else {
            return Ok(());
        };
        let Some(free) = self.free_bytes() else {
            return Ok(());
        };
        let needed = need.bytes(database);
        if needed <= free {
            self.last = Some(Measurement {
                begun,
                used: begun,
                free,
                database,
                log_bytes,
            });
            return Ok(());
        }
        let directory = self.directory.display();
        Err(StoreError::DiskFull(format!(
            "the disk of {directory} has {free} bytes free, and the next write with its checkpoint \
             may take {needed}"
        )))
    }
}

/// Returns the free space on the disk of a file, as [`LedgerDisk::free_bytes`] does.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG_BYTES: u64 = 1024 * 1024;

    /// Returns a need of this content.
    fn need(content_bytes: u64) -> SpaceNeed {
        SpaceNeed {
            content_bytes,
            log_growth_bytes: 0,
        }
    }

    /// Returns a disk whose last measurement found `free` bytes.
    fn measured(free: u64) -> LedgerDisk {
        let mut disk = LedgerDisk::new(Path::new("ledger"));
        // Does not age during a test.
        let begun = Instant::now() + Duration::from_secs(3_600);
        disk.last = Some(Measurement {
            begun,
            used: begun,
            free,
            database: FileSize {
                file_bytes: LOG_BYTES,
                disk_bytes: LOG_BYTES,
            },
            log_bytes: LOG_BYTES,
        });
        disk
    }

    #[test]
    fn a_measurement_suffices_for_a_part_of_its_space_less_the_growth_of_the_log() {
        let small = need(4096);
        let bytes = small.bytes(measured(0).last.unwrap().database);
        let is_known = |free, need, log_bytes| measured(free).is_known_to_have(need, log_bytes);
        let free = bytes * UNMEASURED_PART;
        assert!(is_known(free, small, LOG_BYTES));
        assert!(!is_known(free, small, LOG_BYTES + 1));
        assert!(!is_known(free, need(4098), LOG_BYTES));
        assert!(!is_known(bytes, small, LOG_BYTES));
    }

    #[test]
    fn a_measurement_ends_with_its_age_with_a_pause_and_with_a_checkpoint() {
        let ends: [fn(&mut LedgerDisk); 3] = [
            |disk| {
                let begun = Instant::now().checked_sub(MEASUREMENT_AGE_MAX);
                disk.last.as_mut().unwrap().begun = begun.unwrap();
            },
            |disk| {
                let used = Instant::now().checked_sub(MEASUREMENT_PAUSE_MAX);
                disk.last.as_mut().unwrap().used = used.unwrap();
            },
            LedgerDisk::discard_measurement,
        ];
        for end in ends {
            let mut disk = measured(u64::MAX);
            assert!(disk.is_known_to_have(need(0), LOG_BYTES));
            end(&mut disk);
            assert!(!disk.is_known_to_have(need(0), LOG_BYTES));
        }
    }

    #[test]
    fn a_measurement_without_enough_space_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE_NAME), "").unwrap();
        let mut disk = LedgerDisk::new(directory.path());
        disk.check(need(0), LOG_BYTES).unwrap();
        assert!(disk.last.is_some());
        // No disk has as much.
        disk.check(need(u64::MAX / 8), LOG_BYTES).unwrap_err();
        assert!(!disk.is_known_to_have(need(0), LOG_BYTES));
    }
}
