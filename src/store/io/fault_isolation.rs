//! Fault isolation: keeps the ledger readable after a write to the disk has failed.
//!
//! After a failed write or sync, redb refuses every read that its cache does not serve. So redb
//! receives no such error. From the first fault, nothing more is written to the disk, and the
//! further writes of redb go to an overlay in memory. The writer calls [`DiskStatus::check`] after
//! every commit, fails the commit, and accepts no more. Snapshots opened before the fault stay
//! readable: their pages are on the disk or in memory, and redb does not overwrite pages that a
//! snapshot references. The content of the disk is what a crash at the fault would have left.
//!
//! Between two checkpoints, redb writes pages of published views without a sync. After a fault the
//! operating system may drop them from its cache, and a read then returns the old content. So these
//! pages are read back into the overlay immediately. (The write-ahead log has their content, so the
//! next start needs none of them.)
//!
//! A read that fails is retried a few times. A permanent failure reaches redb, which then reads
//! only from its cache until the database is opened again.

use super::{
    overlay::{FaultOverlay, page_parts, read_with_retry},
    sync_stats::SyncTimer,
};
use crate::StoreError;
use redb::{BackendError, StorageBackend};
use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    ops::Bound,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// The status of a disk. Clones share it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskStatus(Arc<SharedStatus>);

/// The state that the backend and [`DiskStatus`] share.
#[derive(Debug, Default)]
struct SharedStatus {
    /// Whether there is an overlay. Read first, so that only accesses after a fault take the lock.
    has_failed: AtomicBool,
    /// The last known length of the file, because a failing disk may not report it.
    length: AtomicU64,
    /// Numbers of the pages that were written but not synced.
    unsynced: Mutex<BTreeSet<u64>>,
    sync_timer: SyncTimer,
    overlay: RwLock<Option<FaultOverlay>>,
}

impl SharedStatus {
    fn unsynced(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_overlay(&self) -> RwLockReadGuard<'_, Option<FaultOverlay>> {
        self.overlay.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_overlay(&self) -> RwLockWriteGuard<'_, Option<FaultOverlay>> {
        self.overlay.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskStatus {
    /// Checks that all writes and syncs have succeeded.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] with the first failure.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.has_failed() {
            return Ok(());
        }
        match &*self.0.read_overlay() {
            Some(overlay) => Err(redb::StorageError::from(overlay.error()).into()),
            None => Ok(()),
        }
    }

    /// Returns the timer of the syncs of this disk.
    pub(crate) fn sync_timer(&self) -> SyncTimer {
        self.0.sync_timer.clone()
    }

    /// Ends all writes and syncs, as a fault does, so that the file stays as it is.
    ///
    /// Pages that were written without a sync are not read back, because the operating system
    /// drops them only after a fault.
    pub(crate) fn end_writes(&self) {
        let length = self.0.length.load(Ordering::Acquire);
        let cause = "the store is closed".to_owned();
        self.0
            .write_overlay()
            .get_or_insert_with(|| FaultOverlay::new(ErrorKind::Other, cause, length));
        self.0.has_failed.store(true, Ordering::Release);
    }

    /// Returns whether a write or a sync has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.0.has_failed.load(Ordering::Acquire)
    }
}

/// A storage backend that isolates redb from the faults of another one.
#[derive(Debug)]
pub(crate) struct FaultIsolatingBackend<B> {
    backend: Arc<B>,
    status: DiskStatus,
}

impl<B: StorageBackend> FaultIsolatingBackend<B> {
    /// Wraps `backend`, and returns the status of its disk.
    pub(crate) fn new(backend: B) -> (Self, DiskStatus) {
        let status = DiskStatus::default();
        let isolated = Self {
            backend: Arc::new(backend),
            status: status.clone(),
        };
        (isolated, status)
    }

    /// Returns the isolated backend, for reads that bypass the isolation.
    pub(crate) fn disk(&self) -> Arc<B> {
        Arc::clone(&self.backend)
    }

    /// Wraps `backend` so that no write reaches it, for a read of a file that must not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of the file cannot be read.
    pub(crate) fn scratch(backend: B) -> io::Result<Self> {
        let (isolated, _) = Self::new(backend);
        isolated.len()?;
        isolated.record_fault("no write is allowed to", &ErrorKind::OutOfMemory.into());
        Ok(isolated)
    }

    /// Changes the disk, or after a fault the overlay. A failure of the disk is the fault.
    fn modify(
        &self,
        operation: &str,
        modify_disk: impl FnOnce(&B) -> io::Result<()>,
        modify_overlay: impl FnOnce(&mut FaultOverlay) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.status.has_failed() {
            match modify_disk(&self.backend) {
                Ok(()) => return Ok(()),
                Err(error) => self.record_fault(operation, &error),
            }
        }
        let mut overlay = self.status.0.write_overlay();
        overlay.as_mut().map_or(Ok(()), modify_overlay)
    }

    /// Creates the overlay, unless an earlier fault did.
    fn record_fault(&self, operation: &str, error: &io::Error) {
        let status = &self.status.0;
        let length = self
            .backend
            .len()
            .unwrap_or_else(|_| status.length.load(Ordering::Acquire));
        let mut overlay = status.write_overlay();
        overlay.get_or_insert_with(|| {
            let cause = format!("{operation} the database file: {error}");
            let mut overlay = FaultOverlay::new(error.kind(), cause, length);
            overlay.read_back(&*self.backend, &std::mem::take(&mut *status.unsynced()));
            overlay
        });
        status.has_failed.store(true, Ordering::Release);
    }
}

impl<B: StorageBackend> StorageBackend for FaultIsolatingBackend<B> {
    fn len(&self) -> io::Result<u64> {
        let status = &self.status.0;
        if self.status.has_failed()
            && let Some(overlay) = &*status.read_overlay()
        {
            return Ok(overlay.len());
        }
        let length = self.backend.len()?;
        status.length.store(length, Ordering::Release);
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.status.has_failed()
            && let Some(overlay) = &*self.status.0.read_overlay()
        {
            return overlay.read(&*self.backend, offset, out);
        }
        read_with_retry(&*self.backend, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.modify(
            "changing the length of",
            |disk| {
                disk.set_len(length)?;
                self.status.0.length.store(length, Ordering::Release);
                Ok(())
            },
            |overlay| {
                overlay.set_length(length);
                Ok(())
            },
        )
    }

    fn sync_data(&self) -> io::Result<()> {
        let status = &self.status.0;
        let sync = |disk: &B| {
            let written = std::mem::take(&mut *status.unsynced());
            let synced = status.sync_timer.time(|| disk.sync_data());
            if synced.is_err() {
                status.unsynced().extend(written);
            }
            synced
        };
        self.modify("syncing", sync, |_| Ok(()))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let status = &self.status.0;
        self.modify(
            "writing",
            |disk| {
                disk.write(offset, data)?;
                let end = offset.saturating_add(data.len() as u64);
                status.length.fetch_max(end, Ordering::AcqRel);
                let pages = page_parts(offset, data.len()).map(|part| part.page);
                status.unsynced().extend(pages);
                Ok(())
            },
            |overlay| overlay.write(&*self.backend, offset, data),
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

    /// A disk with faults that a test controls.
    #[derive(Debug, Default)]
    struct FaultyDisk {
        memory: Arc<InMemoryBackend>,
        faults: Arc<Faults>,
    }

    /// The faults of a backend, which a test injects.
    #[derive(Debug, Default)]
    struct Faults {
        /// Number of the next reads that fail.
        reads: AtomicU32,
        /// Whether writes and syncs fail.
        changes: AtomicBool,
        /// Whether the length cannot be read.
        len: AtomicBool,
    }

    fn fail_if(is_failing: bool) -> io::Result<()> {
        match is_failing {
            true => Err(io::Error::other("an injected fault")),
            false => Ok(()),
        }
    }

    impl StorageBackend for FaultyDisk {
        fn len(&self) -> io::Result<u64> {
            fail_if(self.faults.len.load(SeqCst))?;
            self.memory.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            let left = self
                .faults
                .reads
                .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            fail_if(left.is_ok())?;
            self.memory.read(offset, out)
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            fail_if(self.faults.changes.load(SeqCst))?;
            self.memory.set_len(length)
        }

        fn sync_data(&self) -> io::Result<()> {
            fail_if(self.faults.changes.load(SeqCst))
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            fail_if(self.faults.changes.load(SeqCst))?;
            self.memory.write(offset, data)
        }
    }

    /// Returns an isolated disk of two pages of ones.
    fn isolated() -> (FaultIsolatingBackend<FaultyDisk>, Arc<Faults>) {
        let disk = FaultyDisk::default();
        let faults = Arc::clone(&disk.faults);
        let (backend, _) = FaultIsolatingBackend::new(disk);
        backend.set_len(2 * PAGE as u64).unwrap();
        backend.write(0, &[1; 2 * PAGE]).unwrap();
        (backend, faults)
    }

    fn page(backend: &FaultIsolatingBackend<FaultyDisk>, number: usize) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE];
        backend.read((number * PAGE) as u64, &mut page)?;
        Ok(page)
    }

    #[test]
    fn retries_a_read_that_fails_a_few_times() {
        let (backend, faults) = isolated();
        for failing in 1..=3 {
            faults.reads.store(failing, SeqCst);
            assert_eq!(page(&backend, 0).unwrap(), [1; PAGE], "{failing} fail");
        }
    }

    #[test]
    fn returns_the_error_of_a_read_that_fails_permanently() {
        let (backend, faults) = isolated();
        faults.reads.store(u32::MAX, SeqCst);
        assert!(page(&backend, 0).is_err());
        assert!(
            u32::MAX - faults.reads.load(SeqCst) < 10,
            "too many attempts"
        );
    }

    #[test]
    fn reads_overlay_pages_without_the_disk() {
        let (backend, faults) = isolated();
        faults.changes.store(true, SeqCst);
        faults.reads.store(u32::MAX, SeqCst);
        backend.write(0, &[2; PAGE]).unwrap();
        assert_eq!(page(&backend, 0).unwrap(), [2; PAGE]);
        assert!(page(&backend, 1).is_err(), "the page is only on the disk");
        faults.reads.store(0, SeqCst);
        backend.write(PAGE as u64, &[3; 2]).unwrap();
        let both = page(&backend, 1).unwrap();
        assert_eq!((&both[..2], &both[2..]), (&[3; 2][..], &[1; PAGE - 2][..]));
    }

    /// After a failed sync, the operating system may drop written pages from its cache.
    #[test]
    fn reads_unsynced_pages_after_a_failed_sync() {
        let disk = FaultyDisk::default();
        let (faults, memory) = (Arc::clone(&disk.faults), Arc::clone(&disk.memory));
        let (backend, _) = FaultIsolatingBackend::new(disk);
        backend.set_len(3 * PAGE as u64).unwrap();
        backend.write(0, &[1; 3 * PAGE]).unwrap();
        backend.sync_data().unwrap();
        backend.write(PAGE as u64, &[2; PAGE]).unwrap();
        faults.changes.store(true, SeqCst);
        backend.sync_data().unwrap();
        memory.write(0, &[0; 3 * PAGE]).unwrap();
        assert_eq!(page(&backend, 1).unwrap(), [2; PAGE]);
        assert_eq!(
            page(&backend, 0).unwrap(),
            [0; PAGE],
            "a synced page is read from the disk"
        );
    }

    #[test]
    fn isolates_a_disk_that_fails_to_report_its_length() {
        let (backend, faults) = isolated();
        faults.changes.store(true, SeqCst);
        faults.len.store(true, SeqCst);
        backend.write(0, &[2; PAGE]).unwrap();
        assert_eq!(backend.len().unwrap(), 2 * PAGE as u64);
        assert_eq!(page(&backend, 0).unwrap(), [2; PAGE]);
        assert_eq!(page(&backend, 1).unwrap(), [1; PAGE]);
        backend.sync_data().unwrap();
    }
}
