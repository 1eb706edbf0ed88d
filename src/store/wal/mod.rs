//! The write-ahead log: makes blocks durable with one write and one sync.
//!
//! A record holds a group of blocks as the writer received them, or the end of a step of pruning.
//! Recovery makes the same rows from it without executing anything. The writer applies records to
//! the database later, in commits without a sync.
//!
//! A *checkpoint* is a durable commit of the database. Nothing in the log is needed after it, so
//! the log restarts at its first byte and overwrites its old records. It does not grow, and syncs
//! change no metadata of the file. The database stores the generation of the log that follows the
//! checkpoint; records of other generations are stale.

pub(crate) mod block;
pub(crate) mod entry;
mod error;
pub(crate) mod reader;
mod record;
pub(crate) mod scrub;
#[cfg(test)]
mod tests;
pub(crate) mod torn;

use crate::{StoreError, SyncTimer, tables::digest::LogKey};
pub(crate) use error::failed;
use reader::WalReader;
pub(crate) use record::PAGE_BYTES;
use record::{HEADER_BYTES, Header};
use redb::StorageBackend;
use scrub::{SyncedRecords, WalScrubber};
use std::{io, sync::Arc};

/// Maximum size of the write-ahead log, in bytes.
///
/// One record of this size is encoded in memory. A larger group is written as a checkpoint.
pub const WAL_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Size of the log from which the next write is a checkpoint, in bytes.
///
/// A checkpoint writes as many pages as the log has, one at a time, while all clients wait. With
/// 32 MB that takes a tenth of a second or more. With this size it takes less time than a block
/// takes through the node. With a much smaller size, the fixed cost of a checkpoint (some ms)
/// dominates.
pub(crate) const CHECKPOINT_AFTER_BYTES: u64 = 4 * 1024 * 1024;

/// Number of unapplied blocks from which the next group forces an apply.
///
/// One database commit of several small blocks costs little more than a commit of one of them, but
/// a read of the newest block waits for all of them.
const UNAPPLIED_BLOCKS_MAX: usize = 16;

/// Size of unapplied log records from which the next group forces an apply, in bytes.
///
/// One block of some hundred transfers reaches it.
const UNAPPLIED_BYTES_MAX: u64 = 512 * 1024;

/// Number of bytes by which the file grows, filled with zeros.
///
/// A sync writes no metadata while records overwrite existing bytes.
pub(crate) const GROWTH_BYTES: u64 = 256 * 1024;

/// Maximum size of the buffer that the log retains for the next record, in bytes.
const BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Limits of the write-ahead log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalConfig {
    /// Maximum size of the log, in bytes.
    pub(crate) bytes_max: u64,
    /// Size of the log from which the next write is a checkpoint, in bytes.
    pub(crate) checkpoint_after_bytes: u64,
    /// Number of unapplied blocks from which the next group forces an apply.
    pub(crate) unapplied_blocks_max: usize,
    /// Size of unapplied log records from which the next group forces an apply, in bytes. This
    /// bounds the memory of unapplied blocks.
    pub(crate) unapplied_bytes_max: u64,
}

impl WalConfig {
    /// A configuration for tests, with a small log.
    pub(crate) const SMALL: Self = Self {
        bytes_max: 64 * 1024,
        checkpoint_after_bytes: u64::MAX,
        unapplied_blocks_max: UNAPPLIED_BLOCKS_MAX,
        unapplied_bytes_max: UNAPPLIED_BYTES_MAX,
    };
}

impl Default for WalConfig {
    fn default() -> Self {
        Self {
            bytes_max: WAL_BYTES_MAX,
            checkpoint_after_bytes: CHECKPOINT_AFTER_BYTES,
            unapplied_blocks_max: UNAPPLIED_BLOCKS_MAX,
            unapplied_bytes_max: UNAPPLIED_BYTES_MAX,
        }
    }
}

/// The write-ahead log of a store.
#[derive(Debug)]
pub(crate) struct Wal {
    file: Arc<dyn StorageBackend>,
    key: LogKey,
    generation: u64,
    /// Number of the next record within the generation.
    number: u64,
    /// Offset of the next record, in bytes.
    end: u64,
    /// Length of the file, in bytes.
    length: u64,
    /// The newest record. Its buffer serves the next record if nothing else refers to it then.
    newest: Record,
    sync_timer: SyncTimer,
    /// The records that a scrubber may read.
    synced: SyncedRecords,
}

/// The bytes of a record.
pub(crate) type Record = Arc<Vec<u8>>;

impl Wal {
    /// Creates a log in `file` that appends records of `generation` at its first byte.
    ///
    /// [`Self::reader`] reads the records of this generation that `file` holds. `sync_timer` counts
    /// the syncs.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the length of the file cannot be read.
    pub(crate) fn new(
        file: Arc<dyn StorageBackend>,
        key: LogKey,
        generation: u64,
        sync_timer: SyncTimer,
    ) -> Result<Self, StoreError> {
        let length = file.len().map_err(|error| failed("reading", &error))?;
        Ok(Self {
            file,
            key,
            generation,
            number: 0,
            end: 0,
            length,
            newest: Record::default(),
            sync_timer,
            synced: SyncedRecords::default(),
        })
    }

    /// Returns the generation of the records that are appended.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the size of the records of this generation, in bytes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the length of the file, in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.length
    }

    /// Returns the number of bytes by which a record of `record_bytes` makes the file longer at
    /// most.
    pub(crate) fn growth(&self, record_bytes: u64) -> u64 {
        let end = self.end.saturating_add(record_bytes);
        match end > self.length {
            true => (end - self.length).saturating_add(GROWTH_BYTES),
            false => 0,
        }
    }

    /// Returns a reader of the records of this generation.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of the file cannot be read.
    pub(crate) fn reader(&self) -> io::Result<WalReader> {
        WalReader::new(Arc::clone(&self.file), self.key, self.generation)
    }

    /// Returns a scrubber of the records that this log appends.
    pub(crate) fn scrubber(&self) -> WalScrubber {
        WalScrubber::new(Arc::clone(&self.file), self.key, self.synced.clone())
    }

    /// Restarts the log with a new generation, which overwrites all records.
    pub(crate) fn restart(&mut self, generation: u64) {
        (self.generation, self.number, self.end) = (generation, 0, 0);
        self.synced.set(self.generation, self.end);
    }

    /// Appends a record and syncs it.
    ///
    /// `height` is the height of the newest block before the record. `write_content` writes the
    /// content. Returns the record and the result of `write_content`, or `None`, without writing
    /// anything, if the record would end after the first `bytes_max` bytes of the log.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::DiskFull`] if the disk or a quota has no space for the record. The log
    /// then ends at the record before, and the caller can append again once space is free. Returns
    /// [`StoreError::Database`] if the disk fails in another way; the content of the log after its
    /// last record is then unknown. Returns the error of `write_content` without writing anything.
    pub(crate) fn append<T>(
        &mut self,
        bytes_max: u64,
        height: u64,
        write_content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        let capacity = bytes_max.saturating_sub(self.end) / PAGE_BYTES * PAGE_BYTES;
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        let Some((mut buffer, written)) = self.encode(capacity, height, write_content)? else {
            return Ok(None);
        };
        let record_bytes = buffer.len() as u64;
        self.grow_ahead(&mut buffer, bytes_max);
        if let Err(error) = self.file.write(self.end, &buffer) {
            return Err(self.undo_write(&error));
        }
        self.sync_timer
            .time(|| self.file.sync_data())
            .map_err(|error| failed("syncing", &error))?;
        self.length = self.length.max(self.end + buffer.len() as u64);
        self.end += record_bytes;
        self.number += 1;
        self.synced.set(self.generation, self.end);
        let record = Arc::new(buffer);
        if record.capacity() <= BUFFER_BYTES_MAX {
            self.newest = Arc::clone(&record);
        }
        Ok(Some((record, written)))
    }

    /// Undoes a write that failed because the disk or a quota was full, and returns the error of
    /// the append.
    ///
    /// The record may be partly written, or complete except for the zeros after it. Recovery must
    /// not find it: its blocks are not acknowledged, and a stop may give them up. No sync follows,
    /// because a power failure before the next sync leaves what a torn write leaves.
    fn undo_write(&mut self, error: &io::Error) -> StoreError {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        if !matches!(error.kind(), StorageFull | QuotaExceeded) {
            return failed("writing", error);
        }
        match self.cut_back() {
            Ok(()) => StoreError::DiskFull(format!("writing the write-ahead log: {error}")),
            Err(undo_error) => failed("cutting back", &undo_error),
        }
    }

    /// Restores the state in which the log ends at [`Self::end`].
    ///
    /// # Errors
    ///
    /// Returns the error of the disk. The content of the log after its last record is then unknown.
    fn cut_back(&mut self) -> io::Result<()> {
        if self.file.len()? > self.length {
            self.file.set_len(self.length)?;
        }
        let first_page = [0; PAGE_BYTES as usize];
        let overwritten = self.length.saturating_sub(self.end).min(PAGE_BYTES) as usize;
        let result = self.file.write(self.end, &first_page[..overwritten]);
        // Overwriting takes space if the file has a hole there, or if the file system copies on
        // write. A shorter file never does.
        if result.is_err() {
            self.file.set_len(self.end)?;
            self.length = self.end;
        }
        Ok(())
    }

    /// Encodes the next record, or returns `None` if it takes more than `capacity` bytes.
    fn encode<T>(
        &mut self,
        capacity: usize,
        height: u64,
        write_content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Vec<u8>, T)>, StoreError> {
        if capacity < HEADER_BYTES {
            return Ok(None);
        }
        let newest = std::mem::take(&mut self.newest);
        let usual_bytes = newest.len();
        let mut buffer =
            Arc::try_unwrap(newest).unwrap_or_else(|_| Vec::with_capacity(usual_bytes));
        buffer.clear();
        buffer.resize(HEADER_BYTES, 0);
        let mut writer = RecordWriter {
            buffer: &mut buffer,
            bytes_max: capacity,
            is_full: false,
        };
        let result = write_content(&mut writer);
        if writer.is_full {
            return Ok(None);
        }
        let written = result?;
        let content = &buffer[HEADER_BYTES..];
        let header = Header::new(content, &self.key, self.generation, self.number, height);
        buffer[..HEADER_BYTES].copy_from_slice(&header.encode(&self.key));
        let padded_bytes = buffer.len().next_multiple_of(PAGE_BYTES as usize);
        buffer.resize(padded_bytes, 0);
        Ok(Some((buffer, written)))
    }

    /// Appends zeros to a record that makes the file longer.
    fn grow_ahead(&self, record: &mut Vec<u8>, bytes_max: u64) {
        let end = self.end + record.len() as u64;
        if end > self.length {
            let length = end.next_multiple_of(GROWTH_BYTES).min(bytes_max).max(end);
            let ahead = usize::try_from(length - end).unwrap_or_default();
            record.resize(record.len() + ahead, 0);
        }
    }

    /// Syncs the file, which has no unsynced records, to measure the duration of a sync.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the disk fails.
    pub(crate) fn probe_sync(&self) -> Result<(), StoreError> {
        self.sync_timer
            .time(|| self.file.sync_data())
            .map_err(|error| failed("syncing", &error))
    }

    /// Truncates the file, so that a stopped store takes no space for its log.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the disk fails.
    pub(crate) fn truncate(&mut self) -> Result<(), StoreError> {
        self.file
            .set_len(0)
            .map_err(|error| failed("emptying", &error))?;
        self.length = 0;
        Ok(())
    }
}

/// A writer into the buffer of a record, up to a maximum size.
pub(crate) struct RecordWriter<'a> {
    buffer: &'a mut Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl RecordWriter<'_> {
    /// Returns the offset of the next byte in the record.
    fn position(&self) -> usize {
        self.buffer.len()
    }
}

impl io::Write for RecordWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.bytes_max - self.buffer.len() {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Writes all bytes or none, without the loop of the default implementation: serializers write
    /// hashes and addresses byte by byte.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
