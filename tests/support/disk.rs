//! A disk in memory that fails like a real one.
//!
//! The disk distinguishes written data from synced data. After a crash it holds everything that was
//! written (the process was killed), only what was synced, or that and any part of the rest (the
//! power failed). Data that a failed sync lost is not written by later syncs, because the system
//! forgets which pages are dirty.
//!
//! It has two files: the database, which [`Disk`] is as a storage backend, and the log,
//! [`Disk::log`]. A sync applies to one of them.

use crate::image::{Change, DATABASE, FILES, FileContent, Image, LOG, PAGE_BYTES};
use std::{
    fmt,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, PoisonError},
};

/// A fault to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All writes and syncs fail.
    Gone {
        /// Number of writes and syncs that still succeed.
        after: usize,
    },
    /// The disk is full. A write takes the space that is left before it fails.
    Full {
        /// Number of bytes by which files can still grow.
        more_bytes: usize,
        /// Number of failures after which the disk has free space again.
        failures_max: usize,
    },
    /// Writes take half of their bytes and fail because the disk is full, as writes into a hole of
    /// a file do.
    FullWrites {
        /// Number of writes that fail.
        count: usize,
    },
    /// One write fails.
    Write {
        /// Number of writes that succeed before it.
        after: usize,
    },
    /// One sync fails.
    Sync {
        /// Number of syncs that succeed before it.
        after: usize,
        /// One bit per change, repeated: whether the next sync writes the change, or none does.
        keeps: u64,
    },
    /// One read fails.
    Read {
        /// Number of reads that succeed before it.
        after: usize,
    },
    /// All reads fail.
    Reads {
        /// Number of reads that still succeed.
        after: usize,
    },
}

/// Reads and writes of the files of a disk since its creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Number of pages read; a read of a part of a page counts as one.
    pub read_pages: u64,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Number of pages written; a write of a part of a page counts as one.
    pub written_pages: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
}

/// A function that every sync calls before it takes effect.
type OnSync = Arc<dyn Fn() + Send + Sync>;

/// A file of a disk.
#[derive(Default)]
struct File {
    written: FileContent,
    synced: FileContent,
    unsynced: Vec<Change>,
    /// Whether a part of `written` is neither synced nor in `unsynced`.
    has_forgotten: bool,
}

impl File {
    fn sync(&mut self) {
        let unsynced = std::mem::take(&mut self.unsynced);
        if self.has_forgotten {
            for change in &unsynced {
                change.apply(&mut self.synced);
            }
        } else {
            self.synced = self.written.clone();
        }
    }

    /// Forgets that changes are dirty, except those that `keeps` has a bit for. They stay readable,
    /// and no sync writes them.
    fn forget_dirty(&mut self, keeps: u64) {
        let mut bit = 0;
        self.unsynced.retain(|_| {
            bit += 1;
            keeps.rotate_right(bit) & 1 == 1
        });
        self.has_forgotten = true;
    }
}

/// A sync that fails.
struct FailingSync {
    /// Number of syncs before it.
    after: usize,
    keeps: u64,
}

/// The state of a disk, which its clones share.
#[derive(Default)]
struct State {
    files: [File; FILES],
    /// Number of writes and syncs.
    operations: usize,
    writes: usize,
    syncs: usize,
    reads: usize,
    traffic: Traffic,
    gone_from: Option<usize>,
    length_max: Option<usize>,
    /// Number of failures until the disk is no longer full.
    full_failures_left: usize,
    /// Number of the next writes that find the disk full.
    full_writes: usize,
    failing_write: Option<usize>,
    failing_sync: Option<FailingSync>,
    failing_read: Option<usize>,
    unreadable_from: Option<usize>,
    failures: usize,
    failed_reads: usize,
    on_sync: Option<OnSync>,
}

/// A disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disk")
    }
}

impl Disk {
    /// Creates a disk without faults that holds `image`.
    pub fn new(image: Image) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: image.files.map(|content| File {
                written: content.clone(),
                synced: content,
                ..File::default()
            }),
            ..State::default()
        })))
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of writes and syncs.
    pub fn operations(&self) -> usize {
        self.with(|state| state.operations)
    }

    /// Returns the number of syncs.
    pub fn syncs(&self) -> usize {
        self.with(|state| state.syncs)
    }

    /// Returns the traffic of both files, without operations that failed.
    pub fn traffic(&self) -> Traffic {
        self.with(|state| state.traffic)
    }

    /// Returns the number of operations that failed because of an injected fault.
    pub fn failures(&self) -> usize {
        self.with(|state| state.failures)
    }

    /// Returns the number of reads that failed because of an injected fault.
    pub fn failed_reads(&self) -> usize {
        self.with(|state| state.failed_reads)
    }

    /// Returns whether a change is written and not synced.
    pub fn has_unsynced(&self) -> bool {
        self.with(|state| state.files.iter().any(|file| !file.unsynced.is_empty()))
    }

    /// Injects a fault.
    pub fn inject(&self, fault: Fault) {
        self.with(|state| match fault {
            Fault::Gone { after } => state.gone_from = Some(state.operations + after),
            Fault::Full {
                more_bytes,
                failures_max,
            } => {
                state.length_max = Some(state.length() + more_bytes);
                state.full_failures_left = failures_max;
            }
            Fault::FullWrites { count } => state.full_writes = count,
            Fault::Write { after } => state.failing_write = Some(state.writes + after),
            Fault::Sync { after, keeps } => {
                let after = state.syncs + after;
                state.failing_sync = Some(FailingSync { after, keeps });
            }
            Fault::Read { after } => state.failing_read = Some(state.reads + after),
            Fault::Reads { after } => state.unreadable_from = Some(state.reads + after),
        });
    }

    /// Ends [`Fault::Full`] and [`Fault::FullWrites`]: the disk has free space again.
    pub fn free_space(&self) {
        self.with(|state| (state.length_max, state.full_writes) = (None, 0));
    }

    /// Sets the function that every sync calls before it takes effect.
    pub fn set_on_sync(&self, on_sync: impl Fn() + Send + Sync + 'static) {
        self.with(|state| state.on_sync = Some(Arc::new(on_sync)));
    }

    /// Returns everything that was written: the content after the process was killed.
    pub fn written(&self) -> Image {
        self.with(|state| state.image(|file| file.written.clone()))
    }

    /// Returns what was synced: the least content after a power failure.
    pub fn synced(&self) -> Image {
        self.with(|state| state.image(|file| file.synced.clone()))
    }

    /// Returns what was synced, with a part of the other changes that `pick` chooses: it returns a
    /// number below its argument.
    pub fn torn(&self, pick: &mut dyn FnMut(usize) -> usize) -> Image {
        self.with(|state| {
            state.image(|file| {
                let mut torn = file.synced.clone();
                for change in &file.unsynced {
                    change.apply_torn(&mut torn, pick);
                }
                torn
            })
        })
    }

    /// Returns the log file.
    pub fn log(&self) -> LogFile {
        LogFile(self.clone())
    }

    fn change(&self, index: usize, change: Change) -> io::Result<()> {
        self.with(|state| {
            let (change, result) = state.begin_write(index, change)?;
            if let Change::Write { data, .. } = &change {
                state.traffic.written_pages += data.len().div_ceil(PAGE_BYTES) as u64;
                state.traffic.written_bytes += data.len() as u64;
            }
            let file = &mut state.files[index];
            change.apply(&mut file.written);
            file.unsynced.push(change);
            result
        })
    }

    fn read_file(&self, index: usize, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| {
            state.begin_read()?;
            state.traffic.read_pages += out.len().div_ceil(PAGE_BYTES) as u64;
            state.traffic.read_bytes += out.len() as u64;
            state.files[index].written.read(offset as usize, out)
        })
    }

    fn sync_file(&self, index: usize) -> io::Result<()> {
        // Not under the lock: other threads may use the disk while the function runs.
        let on_sync = self.with(|state| state.on_sync.clone());
        if let Some(on_sync) = on_sync {
            on_sync();
        }
        self.with(|state| state.sync(index))
    }

    fn length_of(&self, index: usize) -> u64 {
        self.with(|state| state.files[index].written.length()) as u64
    }
}

impl State {
    fn fail(&mut self, kind: ErrorKind, message: &'static str) -> io::Error {
        self.failures += 1;
        io::Error::new(kind, message)
    }

    fn image(&self, content: impl FnMut(&File) -> FileContent) -> Image {
        Image {
            files: self.files.each_ref().map(content),
        }
    }

    /// Returns the length of all files in bytes.
    fn length(&self) -> usize {
        self.files.iter().map(|file| file.written.length()).sum()
    }

    fn begin_operation(&mut self) -> io::Result<()> {
        if self.gone_from.is_some_and(|from| self.operations >= from) {
            return Err(self.fail(ErrorKind::Other, "the disk is gone"));
        }
        self.operations += 1;
        Ok(())
    }

    /// Returns the part of a change that takes effect, and the result of the change.
    ///
    /// # Errors
    ///
    /// Returns the error of an injected fault. The change then has no effect.
    fn begin_write(
        &mut self,
        index: usize,
        change: Change,
    ) -> io::Result<(Change, io::Result<()>)> {
        self.begin_operation()?;
        self.writes += 1;
        if self
            .failing_write
            .take_if(|after| self.writes > *after)
            .is_some()
        {
            return Err(self.fail(ErrorKind::Other, "the disk failed to write"));
        }
        let end = change.end();
        let more = end.saturating_sub(self.files[index].written.length());
        let space = self
            .length_max
            .map_or(usize::MAX, |max| max.saturating_sub(self.length()));
        let missing = match &change {
            Change::Write { data, .. } if self.full_writes > 0 => {
                self.full_writes -= 1;
                data.len().div_ceil(2)
            }
            _ => more.saturating_sub(space),
        };
        if missing == 0 {
            return Ok((change, Ok(())));
        }
        let error = self.fail(ErrorKind::StorageFull, "the disk is full");
        self.full_failures_left = self.full_failures_left.saturating_sub(1);
        if self.full_failures_left == 0 {
            self.length_max = None;
        }
        match change {
            Change::Write { offset, mut data } => {
                data.truncate(data.len().saturating_sub(missing));
                Ok((Change::Write { offset, data }, Err(error)))
            }
            Change::SetLength(_) => Err(error),
        }
    }

    fn sync(&mut self, index: usize) -> io::Result<()> {
        self.begin_operation()?;
        self.syncs += 1;
        let syncs = self.syncs;
        if let Some(failing) = self.failing_sync.take_if(|failing| syncs > failing.after) {
            self.files[index].forget_dirty(failing.keeps);
            return Err(self.fail(ErrorKind::Other, "the disk failed to sync"));
        }
        self.files[index].sync();
        Ok(())
    }

    fn begin_read(&mut self) -> io::Result<()> {
        self.reads += 1;
        let is_unreadable = self.unreadable_from.is_some_and(|after| self.reads > after);
        let fails_once = self.failing_read.is_some_and(|after| self.reads > after);
        if is_unreadable || fails_once {
            self.failing_read = None;
            self.failed_reads += 1;
            return Err(self.fail(ErrorKind::Other, "the disk failed to read"));
        }
        Ok(())
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length_of(DATABASE))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_file(DATABASE, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(DATABASE, Change::SetLength(length as usize))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (offset, data) = (offset as usize, data.to_vec());
        self.change(DATABASE, Change::Write { offset, data })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync_file(DATABASE)
    }
}

/// The log file of a disk.
#[derive(Clone, Debug)]
pub struct LogFile(Disk);

impl redb::StorageBackend for LogFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.length_of(LOG))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_file(LOG, offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.change(LOG, Change::SetLength(length as usize))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (offset, data) = (offset as usize, data.to_vec());
        self.0.change(LOG, Change::Write { offset, data })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_file(LOG)
    }
}
