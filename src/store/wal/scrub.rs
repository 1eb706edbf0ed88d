//! Verification of the records of an open log.
//!
//! The writer publishes generation and end of its synced records. Records below the end do not
//! change until the log restarts, so a record that does not match its digests is damaged if the
//! generation is still the same after it was read.

use super::{
    error::failed,
    reader::{WalReadError, WalReader},
};
use crate::{StoreError, tables::digest::LogKey};
use redb::StorageBackend;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of reads of a record before it counts as damaged.
const ATTEMPTS: usize = 2;

/// The synced records of the newest generation. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncedRecords(Arc<Mutex<Extent>>);

/// The bytes of the log that synced records of one generation take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Extent {
    generation: u64,
    /// Offset after the last synced record, in bytes.
    end: u64,
}

impl SyncedRecords {
    /// Publishes the end of the synced records. Called before a record of another generation
    /// overwrites the first one.
    pub(super) fn set(&self, generation: u64, end: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Extent { generation, end };
    }

    fn get(&self) -> Extent {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A verifier of the synced records of an open log. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct WalScrubber {
    file: Arc<dyn StorageBackend>,
    key: LogKey,
    synced: SyncedRecords,
}

impl WalScrubber {
    pub(super) fn new(file: Arc<dyn StorageBackend>, key: LogKey, synced: SyncedRecords) -> Self {
        Self { file, key, synced }
    }

    /// Compares the synced records with their digests.
    ///
    /// Calls `on_read` with the size of each record, in bytes; it returns whether to continue. Ends
    /// early if the log restarts meanwhile.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if a record is damaged or the disk cannot be read.
    pub(crate) fn scrub(&self, on_read: impl Fn(u64) -> bool) -> Result<(), StoreError> {
        let synced = self.synced.get();
        for _ in 1..ATTEMPTS {
            if self.scrub_extent(synced, &on_read).is_ok() {
                return Ok(());
            }
        }
        match self.scrub_extent(synced, &on_read) {
            // The log has restarted, so newer records may have replaced the ones that were read.
            Err(_) if self.synced.get().generation != synced.generation => Ok(()),
            outcome => outcome,
        }
    }

    fn scrub_extent(
        &self,
        synced: Extent,
        on_read: &impl Fn(u64) -> bool,
    ) -> Result<(), StoreError> {
        let unreadable = |error| failed("reading", &error);
        let reader = WalReader::new(Arc::clone(&self.file), self.key, synced.generation);
        let mut reader = reader.map_err(unreadable)?;
        while reader.offset() < synced.end {
            let begin = reader.offset();
            let damage = match reader.next() {
                Ok(Some(_)) if on_read(reader.offset() - begin) => continue,
                Ok(Some(_)) => return Ok(()),
                Ok(None) => format!("the record at byte {begin} does not match its digests"),
                Err(WalReadError::Damaged(reason)) => reason,
                Err(WalReadError::Unreadable(error)) => return Err(unreadable(error)),
            };
            return Err(unreadable(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                damage,
            )));
        }
        Ok(())
    }
}
