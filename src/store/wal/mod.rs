//! The block log: what makes blocks durable with one write and one sync, before the database has them on disk.
//!
//! A group of blocks is one record: all that the writer was given, so that the same rows can be made of it
//! again without executing anything. So is a step of pruning: where it ended. The database takes the blocks
//! some groups later, without a sync. A *checkpoint* is a
//! durable commit of the database; after it nothing in the log is needed, and the log begins anew at its first
//! byte, over what stands there: so it does not grow, and a sync of it changes no metadata of the file. The
//! checkpoint says in the database which generation of the log comes after it; records of any other are stale.
//!
//! What does not fit into the log goes into the database as a checkpoint, which costs no more than any other.

pub(crate) mod block;
pub(crate) mod entry;
mod reader;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use reader::{WalReadError, WalReader};

use crate::{StoreError, SyncTimer, tables::digest::LogKey};
use record::{HEADER_BYTES, Header, PAGE_BYTES};
use redb::{StorageBackend, StorageError};
use std::{io, sync::Arc};

/// The file grows by this much at a time, with zeros: while records are written into what is there, a sync has no
/// metadata to write.
const GROWTH_BYTES: u64 = 256 * 1024;
/// Memory that became more than this by a large group is not kept.
const BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A log that is written.
#[derive(Debug)]
pub(crate) struct Wal {
    file: Arc<dyn StorageBackend>,
    key: LogKey,
    generation: u64,
    /// The number of the next record.
    number: u64,
    /// Where the next record begins.
    end: u64,
    /// How long the file is.
    length: u64,
    /// The newest record, of whose memory the next is made where nobody else has it then.
    newest: Record,
    sync_timer: SyncTimer,
}

/// The bytes of a record.
pub(crate) type Record = Arc<Vec<u8>>;

impl Wal {
    /// A log in `file` whose records of `generation` are not needed, or are none; `sync_timer`
    /// counts its syncs.
    ///
    /// # Errors
    /// When the disk does not tell how long the file is.
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
        })
    }

    /// The generation of the records that are written now.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// How many bytes the records of the generation take.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Reads the records of the generation.
    ///
    /// # Errors
    /// When the disk does not tell how long the file is.
    pub(crate) fn reader(&self) -> io::Result<WalReader> {
        WalReader::new(Arc::clone(&self.file), self.key, self.generation)
    }

    /// Begins the log anew: nothing that stands in it is needed any more.
    pub(crate) fn restart(&mut self, generation: u64) {
        (self.generation, self.number, self.end) = (generation, 0, 0);
    }

    /// Appends a record, durable when this returns, if it ends within the first `bytes_max` bytes of the log;
    /// gives it with what `content` gave, which writes what it holds. `height` is that of the ledger before it.
    ///
    /// # Errors
    /// When the disk fails; what is in the log from here on is not known then.
    pub(crate) fn append<T>(
        &mut self,
        bytes_max: u64,
        height: u64,
        content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Record, T)>, StoreError> {
        let room = bytes_max.saturating_sub(self.end) / PAGE_BYTES * PAGE_BYTES;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let Some((mut buffer, holds)) = self.fill(room, height, content)? else {
            return Ok(None);
        };
        let written = buffer.len() as u64;
        self.grow_ahead(&mut buffer, bytes_max);
        self.file
            .write(self.end, &buffer)
            .map_err(|error| failed("writing", &error))?;
        self.sync_timer
            .time(|| self.file.sync_data())
            .map_err(|error| failed("syncing", &error))?;
        self.length = self.length.max(self.end + buffer.len() as u64);
        self.end += written;
        self.number += 1;
        let record = Arc::new(buffer);
        if record.capacity() <= BUFFER_BYTES_MAX {
            self.newest = Arc::clone(&record);
        }
        Ok(Some((record, holds)))
    }

    /// Makes the next record, if it takes no more than `room` bytes.
    fn fill<T>(
        &mut self,
        room: usize,
        height: u64,
        content: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<(Vec<u8>, T)>, StoreError> {
        if room < HEADER_BYTES {
            return Ok(None);
        }
        let newest = std::mem::take(&mut self.newest);
        let usual_bytes = newest.len();
        let mut buffer =
            Arc::try_unwrap(newest).unwrap_or_else(|_| Vec::with_capacity(usual_bytes));
        buffer.clear();
        buffer.resize(HEADER_BYTES, 0);
        let mut bounded = RecordWriter {
            buffer: &mut buffer,
            bytes_max: room,
            is_full: false,
        };
        let filled = content(&mut bounded);
        if bounded.is_full {
            return Ok(None);
        }
        let holds = filled?;
        let content = &buffer[HEADER_BYTES..];
        let header = Header::of(content, &self.key, (self.generation, self.number), height);
        buffer[..HEADER_BYTES].copy_from_slice(&header.encode(&self.key));
        let whole = buffer.len().next_multiple_of(PAGE_BYTES as usize);
        buffer.resize(whole, 0);
        Ok(Some((buffer, holds)))
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

    /// Gives the room of a log back that is not needed until the next start.
    ///
    /// # Errors
    /// When the disk fails.
    pub(crate) fn truncate(&mut self) -> Result<(), StoreError> {
        self.file
            .set_len(0)
            .map_err(|error| failed("emptying", &error))?;
        self.length = 0;
        Ok(())
    }
}

/// Writes into a buffer up to a bound.
pub(crate) struct RecordWriter<'a> {
    buffer: &'a mut Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl RecordWriter<'_> {
    /// Where in the record the next byte comes.
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

    /// All or nothing, without the loop of the default: hashes and addresses come byte by byte.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failure of the disk, as the database would tell it.
pub(crate) fn failed(doing: &str, error: &io::Error) -> StoreError {
    let cause = io::Error::new(error.kind(), format!("{doing} the block log: {error}"));
    StorageError::from(cause).into()
}
