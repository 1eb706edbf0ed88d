//! Isolation of the database from disk faults, so that the ledger stays readable after a failed
//! write.
//!
//! After a failed write or sync, redb also rejects reads of pages that are not in its cache. The
//! backend therefore hides such a failure from the database. From the first failure on:
//!
//! * The backend writes nothing more to the disk. The disk holds what a crash at that time would
//!   have left.
//! * Pages that the database still writes are held in memory, in a [`FaultOverlay`].
//! * The writer calls [`DiskStatus::check`] after every commit, returns the failure, and rejects
//!   further writes.
//! * Open snapshots stay readable: their pages are on the disk or in memory, and redb does not
//!   overwrite pages that a snapshot references.
//!
//! Between two checkpoints, pages of applied commits are written but not synced. After a failure
//! the system may drop such pages from its cache, and the disk then returns their previous
//! content. The backend therefore reads them back at the first failure and holds them in memory.
//! The next start does not need them, because the write-ahead log has their content.
//!
//! A failed read is retried a few times. If it still fails, the database receives the error, and
//! reads only from its cache until it is reopened.

use crate::StoreError;
use crate::io::{
    overlay::{FaultOverlay, parts, read},
    sync_stats::SyncTimer,
};
use redb::{BackendError, StorageBackend};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    ops::Bound,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// The fault state and the sync counters of a disk. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskStatus(Arc<SharedState>);

#[derive(Debug, Default)]
struct SharedState {
    /// Whether a write or sync has failed. Checked before `overlay` is locked, which is needed
    /// only after a failure.
    has_failed: AtomicBool,
    /// Last known length of the file, in bytes. A failing disk may not report it.
    length: AtomicU64,
    /// Numbers of the pages that are written but not synced.
    unsynced: Mutex<BTreeSet<u64>>,
    sync_timer: SyncTimer,
    overlay: RwLock<Option<FaultOverlay>>,
}

impl SharedState {
    fn unsynced(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskStatus {
    /// Checks that every write and sync so far has succeeded.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] with the first failure.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.has_failed() {
            return Ok(());
        }
        let overlay = self
            .0
            .overlay
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        match &*overlay {
            Some(overlay) => Err(redb::StorageError::from(overlay.error()).into()),
            None => Ok(()),
        }
    }

    /// Returns the timer of the syncs of this disk.
    pub(crate) fn sync_timer(&self) -> SyncTimer {
        self.0.sync_timer.clone()
    }

    fn has_failed(&self) -> bool {
        self.0.has_failed.load(Ordering::Acquire)
    }
}

/// A storage backend between the database and its disk, which hides failed writes and syncs.
#[derive(Debug)]
pub(crate) struct FaultIsolatingBackend<B> {
    backend: B,
    disk: DiskStatus,
}

impl<B: StorageBackend> FaultIsolatingBackend<B> {
    /// Wraps `backend`. Returns the wrapper and the status of its disk.
    pub(crate) fn new(backend: B) -> (Self, DiskStatus) {
        let disk = DiskStatus::default();
        let shield = Self {
            backend,
            disk: disk.clone(),
        };
        (shield, disk)
    }

    /// Wraps `backend` so that writes stay in memory, to check a file without changing it.
    ///
    /// # Errors
    ///
    /// Returns the error of the disk if it does not report the length of the file.
    pub(crate) fn scratch(backend: B) -> io::Result<Self> {
        let (shield, _) = Self::new(backend);
        shield.len()?;
        shield.record_fault(
            "more is changed than is kept of",
            &ErrorKind::OutOfMemory.into(),
        );
        Ok(shield)
    }

    /// Changes the disk with `on_disk`, or the overlay with `afterwards` if the disk has failed.
    ///
    /// `doing` names the operation in the error of [`DiskStatus::check`].
    fn modify(
        &self,
        doing: &str,
        on_disk: impl FnOnce(&B) -> io::Result<()>,
        afterwards: impl FnOnce(&mut FaultOverlay) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.disk.has_failed() {
            match on_disk(&self.backend) {
                Ok(()) => return Ok(()),
                Err(error) => self.record_fault(doing, &error),
            }
        }
        let mut overlay = self
            .disk
            .0
            .overlay
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        overlay.as_mut().map_or(Ok(()), afterwards)
    }

    /// Records the first failure and reads back unsynced pages. Ignores later failures.
    fn record_fault(&self, doing: &str, error: &io::Error) {
        let seen = &self.disk.0.length;
        let length = self
            .backend
            .len()
            .unwrap_or_else(|_| seen.load(Ordering::Acquire));
        let mut overlay = self
            .disk
            .0
            .overlay
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        overlay.get_or_insert_with(|| {
            let mut overlay = FaultOverlay {
                kind: error.kind(),
                cause: format!("{doing} the file of the ledger: {error}"),
                length,
                disk_length: length,
                pages: BTreeMap::new(),
            };
            overlay.read_back(&self.backend, &std::mem::take(&mut *self.disk.0.unsynced()));
            overlay
        });
        self.disk.0.has_failed.store(true, Ordering::Release);
    }
}

impl<B: StorageBackend> StorageBackend for FaultIsolatingBackend<B> {
    fn len(&self) -> io::Result<u64> {
        if self.disk.has_failed()
            && let Some(overlay) = &*self
                .disk
                .0
                .overlay
                .read()
                .unwrap_or_else(PoisonError::into_inner)
        {
            return Ok(overlay.length);
        }
        let length = self.backend.len()?;
        self.disk.0.length.store(length, Ordering::Release);
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.disk.has_failed()
            && let Some(overlay) = &*self
                .disk
                .0
                .overlay
                .read()
                .unwrap_or_else(PoisonError::into_inner)
        {
            return overlay.read(&self.backend, offset, out);
        }
        read(&self.backend, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.modify(
            "changing the length of",
            |disk| {
                disk.set_len(length)?;
                self.disk.0.length.store(length, Ordering::Release);
                Ok(())
            },
            |overlay| {
                overlay.set_length(length);
                Ok(())
            },
        )
    }

    fn sync_data(&self) -> io::Result<()> {
        let sync = |disk: &B| {
            let written = std::mem::take(&mut *self.disk.0.unsynced());
            let synced = self.disk.0.sync_timer.time(|| disk.sync_data());
            if synced.is_err() {
                self.disk.0.unsynced().extend(written);
            }
            synced
        };
        self.modify("syncing", sync, |_| Ok(()))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.modify(
            "writing",
            |disk| {
                disk.write(offset, data)?;
                let end = offset.saturating_add(data.len() as u64);
                self.disk.0.length.fetch_max(end, Ordering::AcqRel);
                let pages = parts(offset, data.len()).map(|(number, ..)| number);
                self.disk.0.unsynced().extend(pages);
                Ok(())
            },
            |overlay| overlay.write(&self.backend, offset, data),
        )
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.backend.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::FaultIsolatingBackend;
    use redb::{StorageBackend, backends::InMemoryBackend};
    use std::{
        io,
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
        },
    };

    const PAGE: usize = 4096;

    /// A disk in memory with injectable faults.
    #[derive(Debug, Default)]
    struct Partly {
        memory: Arc<InMemoryBackend>,
        faults: Arc<Faults>,
    }

    #[derive(Debug, Default)]
    struct Faults {
        /// Number of the next reads that fail.
        reads: AtomicU32,
        changes: AtomicBool,
        len: AtomicBool,
    }

    fn fails_if(is_failing: bool) -> io::Result<()> {
        match is_failing {
            true => Err(io::Error::other("as the test wants it")),
            false => Ok(()),
        }
    }

    impl StorageBackend for Partly {
        fn len(&self) -> io::Result<u64> {
            fails_if(self.faults.len.load(SeqCst))?;
            self.memory.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            let left = self
                .faults
                .reads
                .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            fails_if(left.is_ok())?;
            self.memory.read(offset, out)
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            fails_if(self.faults.changes.load(SeqCst))?;
            self.memory.set_len(length)
        }

        fn sync_data(&self) -> io::Result<()> {
            fails_if(self.faults.changes.load(SeqCst))
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            fails_if(self.faults.changes.load(SeqCst))?;
            self.memory.write(offset, data)
        }
    }

    /// Returns a backend with two pages of ones, and the faults of its disk.
    fn shielded() -> (FaultIsolatingBackend<Partly>, Arc<Faults>) {
        let partly = Partly::default();
        let faults = Arc::clone(&partly.faults);
        let (shield, _) = FaultIsolatingBackend::new(partly);
        shield.set_len(2 * PAGE as u64).unwrap();
        shield.write(0, &[1; 2 * PAGE]).unwrap();
        (shield, faults)
    }

    fn page(shield: &FaultIsolatingBackend<Partly>, number: usize) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE];
        shield.read((number * PAGE) as u64, &mut page)?;
        Ok(page)
    }

    #[test]
    fn a_read_that_fails_now_and_then_is_answered_and_one_that_always_does_is_not() {
        let (shield, faults) = shielded();
        for failing in 1..=3 {
            faults.reads.store(failing, SeqCst);
            assert_eq!(page(&shield, 0).unwrap(), [1; PAGE], "{failing} fail");
        }
        faults.reads.store(u32::MAX, SeqCst);
        assert!(page(&shield, 0).is_err());
        assert!(
            u32::MAX - faults.reads.load(SeqCst) < 10,
            "it tries on and on"
        );
    }

    #[test]
    fn what_is_kept_after_a_failure_needs_no_disk() {
        let (shield, faults) = shielded();
        faults.changes.store(true, SeqCst);
        faults.reads.store(u32::MAX, SeqCst);
        shield.write(0, &[2; PAGE]).unwrap();
        assert_eq!(page(&shield, 0).unwrap(), [2; PAGE]);
        assert!(page(&shield, 1).is_err(), "it is on the disk only");
        faults.reads.store(0, SeqCst);
        shield.write(PAGE as u64, &[3; 2]).unwrap();
        let both = page(&shield, 1).unwrap();
        assert_eq!((&both[..2], &both[2..]), (&[3; 2][..], &[1; PAGE - 2][..]));
    }

    /// Simulates a system that drops unsynced pages after a failed sync, so that the disk returns
    /// older content.
    #[test]
    fn what_was_written_and_not_synced_is_kept_after_a_failure() {
        let partly = Partly::default();
        let (faults, memory) = (Arc::clone(&partly.faults), Arc::clone(&partly.memory));
        let (shield, _) = FaultIsolatingBackend::new(partly);
        shield.set_len(3 * PAGE as u64).unwrap();
        shield.write(0, &[1; 3 * PAGE]).unwrap();
        shield.sync_data().unwrap();
        shield.write(PAGE as u64, &[2; PAGE]).unwrap();
        faults.changes.store(true, SeqCst);
        shield.sync_data().unwrap();
        memory.write(0, &[0; 3 * PAGE]).unwrap();
        assert_eq!(page(&shield, 1).unwrap(), [2; PAGE]);
        assert_eq!(
            page(&shield, 0).unwrap(),
            [0; PAGE],
            "it was synced, and the disk has it"
        );
    }

    #[test]
    fn a_disk_that_fails_and_does_not_tell_its_length_is_shielded_from_too() {
        let (shield, faults) = shielded();
        faults.changes.store(true, SeqCst);
        faults.len.store(true, SeqCst);
        shield.write(0, &[2; PAGE]).unwrap();
        assert_eq!(shield.len().unwrap(), 2 * PAGE as u64);
        assert_eq!(page(&shield, 0).unwrap(), [2; PAGE]);
        assert_eq!(page(&shield, 1).unwrap(), [1; PAGE]);
        shield.sync_data().unwrap();
    }
}
