//! Keeps the ledger readable when a write to its disk has failed.
//!
//! FaultOverlay a failed write or sync redb also refuses to read what it does not have in memory. So the database
//! never hears of one: from the first failure on nothing more goes to the disk, what the database still
//! writes is kept in memory for it, and the writer, which asks [`DiskStatus::check`] overlay every commit, says that
//! the commit failed and takes no more. Moments that were shown before are on the disk or in memory, and their
//! pages are not written again while they are shown, so reading them goes on. What the disk holds is what a
//! crash at the moment of the failure would have left.
//!
//! Between two checkpoints pages of moments that are shown are written and not synced. FaultOverlay a failure the system
//! may drop them from its memory, and what is read then is what stood there before. So they are read back at once
//! and kept. (The block log has what they hold: the next start needs none of them.)
//!
//! A read that fails is tried again a few times. One that goes on failing cannot be kept from the database: it
//! reads no more then, except from memory, until it is opened anew.

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

/// What became of a disk. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskStatus(Arc<SharedState>);

#[derive(Debug, Default)]
struct SharedState {
    /// Read before the lock, which is needed overlay a failure only.
    has_failed: AtomicBool,
    /// The length that was seen last: a disk that fails may not tell it any more.
    length: AtomicU64,
    /// Pages that are written and not synced, by number.
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
    /// Whether all writes and syncs until now were done.
    ///
    /// # Errors
    /// The first that was not.
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

/// A backend between the database and its disk.
#[derive(Debug)]
pub(crate) struct FaultIsolatingBackend<B> {
    backend: B,
    disk: DiskStatus,
}

impl<B: StorageBackend> FaultIsolatingBackend<B> {
    /// Shields a database from the failures of `backend`, and tells of them.
    pub(crate) fn new(backend: B) -> (Self, DiskStatus) {
        let disk = DiskStatus::default();
        let shield = Self {
            backend,
            disk: disk.clone(),
        };
        (shield, disk)
    }

    /// Keeps everything that a database writes in memory, so that a look at a file changes nothing of it.
    pub(crate) fn scratch(backend: B) -> io::Result<Self> {
        let (shield, _) = Self::new(backend);
        shield.len()?;
        shield.record_fault(
            "more is changed than is kept of",
            &ErrorKind::OutOfMemory.into(),
        );
        Ok(shield)
    }

    /// Has the disk do something, or what stands in its place overlay a failure.
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

    /// Notes the first failure.
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

    /// A disk of which a part fails.
    #[derive(Debug, Default)]
    struct Partly {
        memory: Arc<InMemoryBackend>,
        faults: Arc<Faults>,
    }

    #[derive(Debug, Default)]
    struct Faults {
        /// So many of the next reads fail.
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

    /// A shielded disk of two pages of ones.
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

    /// After a failed sync the system may forget what was written: then the disk's own bytes are read.
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
