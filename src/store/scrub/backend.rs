//! The backend of a walk: the pages of one durable commit, read from the live file.

use super::control::ScrubControl;
use crate::{io::overlay::read_with_retry, read::view::LatestView};
use redb::StorageBackend;
use std::{
    io::{self, ErrorKind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

/// Size of the first page, in bytes. It has the header and the commit slots, which a checkpoint
/// overwrites.
pub(super) const HEADER_BYTES: usize = 4096;

/// Reads the first page of the file.
///
/// A checkpoint that runs meanwhile writes only the slot that is not selected, and then the byte
/// that selects it. So the page names one durable commit at any time.
pub(super) fn read_header(disk: &dyn StorageBackend) -> io::Result<[u8; HEADER_BYTES]> {
    let mut header = [0; HEADER_BYTES];
    read_with_retry(disk, 0, &mut header)?;
    Ok(header)
}

/// The state of a walk, which its backend and its caller share.
#[derive(Clone, Debug)]
pub(super) struct Walk(Arc<WalkState>);

#[derive(Debug)]
struct WalkState {
    control: Option<Arc<dyn ScrubControl>>,
    latest_view: LatestView,
    is_ended: AtomicBool,
    last_offset: AtomicU64,
}

impl Walk {
    /// Creates the state of a walk, which ends when `control` or the end of `latest_view` ends it.
    /// Without a control, it reads at full speed.
    pub(super) fn new(control: Option<Arc<dyn ScrubControl>>, latest_view: LatestView) -> Self {
        Self(Arc::new(WalkState {
            control,
            latest_view,
            is_ended: AtomicBool::new(false),
            last_offset: AtomicU64::new(0),
        }))
    }

    /// Returns whether the walk has ended before its last page.
    pub(super) fn is_ended(&self) -> bool {
        self.0.is_ended.load(Relaxed)
    }

    /// Returns the offset of the newest read, in bytes.
    pub(super) fn last_offset(&self) -> u64 {
        self.0.last_offset.load(Relaxed)
    }

    /// Records a read, and fails if the walk ends.
    fn on_read(&self, offset: u64, bytes: usize) -> io::Result<()> {
        self.0.last_offset.store(offset, Relaxed);
        let continues = match &self.0.control {
            Some(control) => control.on_read(bytes as u64),
            None => true,
        };
        if continues && !self.0.latest_view.has_ended() {
            return Ok(());
        }
        self.0.is_ended.store(true, Relaxed);
        Err(io::Error::new(ErrorKind::Interrupted, "the walk was ended"))
    }
}

/// A backend with the pages of one durable commit. Writes do not reach the disk.
#[derive(Debug)]
pub(super) struct CommitBackend {
    disk: Arc<dyn StorageBackend>,
    header: Mutex<[u8; HEADER_BYTES]>,
    length: u64,
    walk: Walk,
}

impl CommitBackend {
    /// Creates a backend that reads pages from `disk`, and the first one from `header`.
    pub(super) fn new(
        disk: Arc<dyn StorageBackend>,
        header: [u8; HEADER_BYTES],
        length: u64,
        walk: Walk,
    ) -> Self {
        Self {
            disk,
            header: Mutex::new(header),
            length,
            walk,
        }
    }

    fn header(&self) -> MutexGuard<'_, [u8; HEADER_BYTES]> {
        self.header.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the range of `bytes` bytes from `offset` on in the first page, if they are within it.
fn range_in_header(offset: u64, bytes: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(bytes)?;
    (end <= HEADER_BYTES).then_some(start..end)
}

impl StorageBackend for CommitBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match range_in_header(offset, out.len()) {
            Some(range) => out.copy_from_slice(&self.header()[range]),
            None => read_with_retry(&*self.disk, offset, out)?,
        }
        self.walk.on_read(offset, out.len())
    }

    /// Fails: redb changes the length only after the walk.
    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    /// Changes the first page in memory, in which redb marks the file as open. Fails for any other
    /// page.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let range = range_in_header(offset, data.len()).ok_or(ErrorKind::ReadOnlyFilesystem)?;
        self.header()[range].copy_from_slice(data);
        Ok(())
    }
}
