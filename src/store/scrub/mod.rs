//! Scrubbing: compares the files of an open store with their checksums.
//!
//! redb verifies pages only when it opens a file. So the scrubber opens the live file a second
//! time, over a backend that reads its pages and writes nothing ([`backend::CommitBackend`]), and
//! ends this opening after redb has compared every page of one durable commit with its checksum.
//!
//! The pages of that commit must not be reused meanwhile. A view that the writer published before
//! the commit is a read transaction on an older one, so redb retains every page that the commit or
//! a later one frees. (Checkpoints use quick repair, so this holds for redb's own tables too.) A
//! commit that is older than the view is retained only until the next checkpoint. So damage that
//! is found in it counts only if there was no checkpoint; otherwise the scrubber repeats the walk
//! on the newer commit.
//!
//! Damage is reported after two walks of the same commit have found it.

mod backend;
pub(crate) mod control;

use crate::{
    StoreError,
    io::fault_isolation::DiskStatus,
    read::{
        usage::UsageMeter,
        view::{LatestView, ReadView},
    },
    wal::scrub::WalScrubber,
};
use backend::{CommitBackend, HEADER_BYTES, Walk, read_header};
use control::ScrubControl;
use redb::{Builder, DatabaseError, StorageBackend, StorageError};
use std::{fmt::Debug, io, sync::Arc};

/// Memory for pages during a walk, in bytes. A walk reads nearly every page once.
const CACHE_BYTES: usize = 1024 * 1024;

/// Progress of redb's repair from which all checksums were compared. The next step rebuilds the
/// page allocator, which needs no comparison.
const VERIFIED_PROGRESS: f64 = 0.5;

/// Maximum number of walks of a pass that begin on a commit that a checkpoint then supersedes.
///
/// Only the first walk can begin on one. The bound guards against an error in this reasoning.
const WALKS_MAX: usize = 4;

/// The outcome of a pass without damage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScrubOutcome {
    /// All pages of a checkpoint and all records of the log match their checksums.
    Intact,
    /// A first walk found damage that a second one did not find: a read returned wrong bytes once.
    Unconfirmed,
    /// The control ended the pass, the store was closed, or a write failed.
    Interrupted,
}

/// A verifier of the files of an open store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoreScrubber {
    disk: Arc<dyn StorageBackend>,
    disk_status: DiskStatus,
    latest_view: LatestView,
    wal: WalScrubber,
    usage: UsageMeter,
}

/// A durable commit whose pages are on the disk.
struct PinnedCommit {
    /// First page of the file, which names the commit.
    header: [u8; HEADER_BYTES],
    /// Length of the file, in bytes.
    length: u64,
    /// Whether the commit is newer than the view, so that its pages are retained with the view.
    is_retained: bool,
}

impl PinnedCommit {
    /// Reads the newest durable commit. `is_retained` is whether it is newer than the view.
    fn read(disk: &dyn StorageBackend, is_retained: bool) -> io::Result<Self> {
        Ok(Self {
            header: read_header(disk)?,
            length: disk.len()?,
            is_retained,
        })
    }
}

impl StoreScrubber {
    /// Creates the scrubber of an open store, whose database file is `disk`.
    pub(crate) fn new(
        disk: Arc<dyn StorageBackend>,
        disk_status: DiskStatus,
        latest_view: LatestView,
        wal: WalScrubber,
        usage: UsageMeter,
    ) -> Self {
        Self {
            disk,
            disk_status,
            latest_view,
            wal,
            usage,
        }
    }

    /// Compares all pages of the newest checkpoint, and all records of the write-ahead log, with
    /// their checksums.
    ///
    /// Until it returns, the database retains every page that is freed meanwhile, so the file may
    /// grow. `control` limits the rate and can end the pass.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] with an I/O error if a file is damaged or cannot be read.
    pub fn scrub(&self, control: &Arc<dyn ScrubControl>) -> Result<ScrubOutcome, StoreError> {
        let outcome = self.scrub_database(control)?;
        if outcome == ScrubOutcome::Interrupted {
            return Ok(outcome);
        }
        match self.wal.scrub(|bytes| control.on_read(bytes)) {
            _ if !self.is_live() => Ok(ScrubOutcome::Interrupted),
            Ok(()) => Ok(outcome),
            Err(error) => Err(error),
        }
    }

    /// Compares all pages of the newest checkpoint with their checksums.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::scrub`].
    fn scrub_database(&self, control: &Arc<dyn ScrubControl>) -> Result<ScrubOutcome, StoreError> {
        let Some((view, mut commit)) = self.pin().map_err(|error| unreadable(&error))? else {
            return Ok(ScrubOutcome::Interrupted);
        };
        let _retained = self.usage.retain(&view);
        for _ in 0..WALKS_MAX {
            let damage = match walk(&self.disk, &self.latest_view, &commit, Some(control)) {
                WalkOutcome::Intact => return Ok(ScrubOutcome::Intact),
                WalkOutcome::Ended => return Ok(ScrubOutcome::Interrupted),
                WalkOutcome::Damaged(damage) => damage,
            };
            // Without the control's limit of the rate: damage is reported as soon as possible.
            let confirmed = walk(&self.disk, &self.latest_view, &commit, None);
            let newest =
                PinnedCommit::read(&*self.disk, true).map_err(|error| unreadable(&error))?;
            if !self.is_live() {
                return Ok(ScrubOutcome::Interrupted);
            }
            if commit.is_retained || newest.header == commit.header {
                return match confirmed {
                    WalkOutcome::Damaged(_) => Err(damage),
                    _ => Ok(ScrubOutcome::Unconfirmed),
                };
            }
            commit = newest;
        }
        drop(view);
        Ok(ScrubOutcome::Interrupted)
    }

    /// Returns the latest view and the newest durable commit, or `None` before genesis.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    fn pin(&self) -> io::Result<Option<(Arc<ReadView>, PinnedCommit)>> {
        loop {
            let before = PinnedCommit::read(&*self.disk, false)?;
            let Some(view) = self.latest_view.get() else {
                return Ok(None);
            };
            let commit = PinnedCommit::read(&*self.disk, false)?;
            // A checkpoint between the two may be newer or older than the view.
            if commit.header == before.header {
                return Ok(Some((view, commit)));
            }
        }
    }

    /// Returns whether the store is open and no write has failed.
    fn is_live(&self) -> bool {
        !self.latest_view.has_ended() && !self.disk_status.has_failed()
    }
}

/// Compares all pages of a database file that no store has open with their checksums. Writes
/// nothing.
///
/// # Errors
///
/// Returns [`StoreError::Database`] with an I/O error if the file is damaged or cannot be read, or
/// if `control` ends the walk.
pub(crate) fn check_pages(
    disk: &Arc<dyn StorageBackend>,
    control: &Arc<dyn ScrubControl>,
) -> Result<(), StoreError> {
    let commit = PinnedCommit::read(&**disk, true).map_err(|error| unreadable(&error))?;
    match walk(disk, &LatestView::default(), &commit, Some(control)) {
        WalkOutcome::Intact => Ok(()),
        WalkOutcome::Ended => Err(unreadable(&io::ErrorKind::Interrupted.into())),
        WalkOutcome::Damaged(damage) => Err(damage),
    }
}

/// Compares all pages of `commit` in `disk` with their checksums.
fn walk(
    disk: &Arc<dyn StorageBackend>,
    latest_view: &LatestView,
    commit: &PinnedCommit,
    control: Option<&Arc<dyn ScrubControl>>,
) -> WalkOutcome {
    let walk = Walk::new(control.map(Arc::clone), latest_view.clone());
    let backend = CommitBackend::new(Arc::clone(disk), commit.header, commit.length, walk.clone());
    let opened = Builder::new()
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(true)
        .set_repair_callback(|repair| {
            if repair.progress() > VERIFIED_PROGRESS {
                repair.abort();
            }
        })
        .create_with_backend(backend);
    if walk.is_ended() {
        return WalkOutcome::Ended;
    }
    match opened {
        Ok(_) | Err(DatabaseError::RepairAborted) => WalkOutcome::Intact,
        Err(DatabaseError::Storage(StorageError::Io(error))) => {
            WalkOutcome::Damaged(unreadable(&error))
        }
        Err(error) => {
            let damage = format!(
                "a page does not match its checksum; the last page that was read begins at byte {}: {error}",
                walk.last_offset()
            );
            WalkOutcome::Damaged(unreadable(&io::Error::new(
                io::ErrorKind::InvalidData,
                damage,
            )))
        }
    }
}

/// The outcome of a walk of all pages.
enum WalkOutcome {
    Intact,
    Damaged(StoreError),
    /// The control ended the walk, the store was closed, or a write failed.
    Ended,
}

/// Returns the error of damage or of a failed read of the database file.
fn unreadable(error: &io::Error) -> StoreError {
    let cause = io::Error::new(error.kind(), format!("reading the database file: {error}"));
    StorageError::from(cause).into()
}
