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

use crate::{StoreError, SyncTimer};
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

/// In what pieces writes are kept overlay a failure. The database writes whole pages of this size.
const PAGE_BYTES: u64 = 4096;
/// How much is kept overlay a failure: what is left of one commit. Beyond it the database hears of the
/// failure overlay all, and reads no more.
const OVERLAY_PAGES_MAX: usize = 65_536;
/// How many of them may be pages that were written before and not synced.
const READ_BACK_PAGES_MAX: usize = OVERLAY_PAGES_MAX / 2;
/// The memory that this takes at most, in bytes.
pub const OVERLAY_BYTES_MAX: u64 = OVERLAY_PAGES_MAX as u64 * PAGE_BYTES;
/// How often a read is tried before the database hears that it fails. Many a disk that fails once reads the next
/// time; one that is gone says so at once, so that few tries cost nothing.
const READ_TRIES: u32 = 4;

type Page = [u8; PAGE_BYTES as usize];

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

/// What there is overlay a failure.
#[derive(Debug)]
struct FaultOverlay {
    kind: ErrorKind,
    cause: String,
    /// The length that the database believes in.
    length: u64,
    /// Up to here the disk's own bytes count.
    disk_length: u64,
    pages: BTreeMap<u64, Box<Page>>,
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

impl FaultOverlay {
    fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.cause.clone())
    }

    /// Keeps what can be read of these pages.
    fn read_back(&mut self, backend: &impl StorageBackend, pages: &BTreeSet<u64>) {
        for &number in pages.iter().take(READ_BACK_PAGES_MAX) {
            let mut page = Box::new([0; PAGE_BYTES as usize]);
            if self
                .read_disk(backend, number * PAGE_BYTES, page.as_mut_slice())
                .is_ok()
            {
                self.pages.insert(number, page);
            }
        }
    }

    fn set_length(&mut self, length: u64) {
        self.length = length;
        // What is behind the end reads as zero should it grow again.
        self.disk_length = self.disk_length.min(length);
        self.pages.split_off(&length.div_ceil(PAGE_BYTES));
    }

    fn write(&mut self, backend: &impl StorageBackend, offset: u64, data: &[u8]) -> io::Result<()> {
        for (number, start, part) in parts(offset, data.len()) {
            if !self.pages.contains_key(&number) {
                if self.pages.len() >= OVERLAY_PAGES_MAX {
                    return Err(self.error());
                }
                let mut page = Box::new([0; PAGE_BYTES as usize]);
                if part.len() < page.len() {
                    self.read_disk(backend, number * PAGE_BYTES, page.as_mut_slice())?;
                }
                self.pages.insert(number, page);
            }
            if let Some(page) = self.pages.get_mut(&number) {
                page[start..start + part.len()].copy_from_slice(&data[part]);
            }
        }
        self.length = self.length.max(offset.saturating_add(data.len() as u64));
        Ok(())
    }

    fn read(&self, backend: &impl StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset.saturating_add(out.len() as u64) > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let is_kept = |number| self.pages.contains_key(&number);
        if !parts(offset, out.len()).all(|(number, ..)| is_kept(number)) {
            self.read_disk(backend, offset, out)?;
        }
        for (number, start, part) in parts(offset, out.len()) {
            if let Some(page) = self.pages.get(&number) {
                let length = part.len();
                out[part].copy_from_slice(&page[start..start + length]);
            }
        }
        Ok(())
    }

    /// The disk's own bytes, and zeros behind them.
    fn read_disk(
        &self,
        backend: &impl StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        let there = self.disk_length.saturating_sub(offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX).min(out.len());
        let (on_disk, behind) = out.split_at_mut(there);
        behind.fill(0);
        if on_disk.is_empty() {
            return Ok(());
        }
        read(backend, offset, on_disk)
    }
}

/// Reads, again where that fails. That the file is too short is no matter of luck.
fn read(backend: &impl StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
    let mut tries = READ_TRIES;
    loop {
        tries -= 1;
        match backend.read(offset, out) {
            Err(error) if tries > 0 && error.kind() != ErrorKind::UnexpectedEof => {}
            outcome => return outcome,
        }
    }
}

/// The pages that `length` bytes from `offset` on lie in: the page's number, where in it they begin, and
/// which of the bytes they are.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < length).then(|| {
            let at = offset + done as u64;
            let start = (at % PAGE_BYTES) as usize;
            let part = done..length.min(done + PAGE_BYTES as usize - start);
            done = part.end;
            (at / PAGE_BYTES, start, part)
        })
    })
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
