//! A disk in memory that fails like a real one: what was written is kept apart from what was synced, and
//! a crash leaves either all that was written (the process was killed), only what was synced, or that and
//! any part of the rest (the power failed). After a failed sync later ones do not bring what it did not, as
//! the system forgets then which pages are dirty. It holds two files: the database, which the disk itself is to
//! its users, and the block log, [`Disk::log`]; a sync is of one of them. Used by the tests of the store, and of the actors above it.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, PoisonError},
};

/// What a disk may tear a write into.
const SECTOR_BYTES: usize = 512;
/// How images share what they have in common, and the unit of [`Traffic`]: a page of the database.
const PAGE_BYTES: usize = 4096;

/// Picks a number below its argument.
pub type Pick<'a> = &'a mut dyn FnMut(usize) -> usize;

/// The files of a disk at a moment. A clone shares their pages.
#[derive(Clone, Debug, Default)]
pub struct Image {
    files: [Bytes; FILES],
}

/// How many files a disk has.
const FILES: usize = 2;
/// The number of the database's.
const DATABASE: usize = 0;
/// The number of the block log's.
const LOG: usize = 1;

/// All bytes of a file at a moment.
#[derive(Clone, Default)]
struct Bytes {
    pages: Vec<Arc<[u8; PAGE_BYTES]>>,
    length: usize,
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

impl Bytes {
    fn set_length(&mut self, length: usize) {
        if length < self.length {
            // What is behind the end reads as zero should it grow again.
            let end = length.next_multiple_of(PAGE_BYTES).min(self.length);
            self.write(length, &vec![0; end - length]);
        }
        self.length = length;
        self.pages
            .resize_with(length.div_ceil(PAGE_BYTES), || Arc::new([0; PAGE_BYTES]));
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        if offset + data.len() > self.length {
            self.set_length(offset + data.len());
        }
        let mut done = 0;
        while done < data.len() {
            let (page, start) = ((offset + done) / PAGE_BYTES, (offset + done) % PAGE_BYTES);
            let count = (PAGE_BYTES - start).min(data.len() - done);
            Arc::make_mut(&mut self.pages[page])[start..start + count]
                .copy_from_slice(&data[done..done + count]);
            done += count;
        }
    }

    fn read(&self, offset: usize, out: &mut [u8]) -> io::Result<()> {
        if offset + out.len() > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut done = 0;
        while done < out.len() {
            let (page, start) = ((offset + done) / PAGE_BYTES, (offset + done) % PAGE_BYTES);
            let count = (PAGE_BYTES - start).min(out.len() - done);
            out[done..done + count].copy_from_slice(&self.pages[page][start..start + count]);
            done += count;
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    SetLength(usize),
}

impl Change {
    fn apply(&self, image: &mut Bytes) {
        match self {
            Self::Write(offset, data) => image.write(*offset, data),
            Self::SetLength(length) => image.set_length(*length),
        }
    }

    /// As a power failure may leave it: of a write any sectors, and the length as it is or was.
    fn apply_torn(&self, image: &mut Bytes, pick: Pick<'_>) {
        match self {
            Self::Write(offset, data) => {
                for (i, sector) in data.chunks(SECTOR_BYTES).enumerate() {
                    if pick(2) == 0 {
                        image.write(offset + i * SECTOR_BYTES, sector);
                    }
                }
            }
            Self::SetLength(length) => {
                if pick(2) == 0 {
                    image.set_length(*length);
                }
            }
        }
    }
}

/// A fault to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // Each of the two crates that use this file injects some of them.
pub enum Fault {
    /// Every write and sync fails after so many more.
    Gone {
        /// How many still work.
        after: usize,
    },
    /// The disk has no room beyond its length and these bytes.
    Full {
        /// How many more bytes there is room for.
        more_bytes: usize,
    },
    /// One write fails, after so many that work.
    Write {
        /// How many still work.
        after: usize,
    },
    /// One sync fails, after so many that work.
    Sync {
        /// How many still work.
        after: usize,
        /// One bit for each of the changes, over again: whether the next sync brings it, or none does.
        keeps: u64,
    },
    /// One read fails, after so many that work.
    Read {
        /// How many still work.
        after: usize,
    },
    /// Every read fails, after so many that work.
    Reads {
        /// How many still work.
        after: usize,
    },
}

/// What was read from the files of a disk and written to them, since the disk was made.
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

/// Called by every sync before it takes effect.
type OnSync = Arc<dyn Fn() + Send + Sync>;

/// A file of a disk.
#[derive(Default)]
struct File {
    written: Bytes,
    synced: Bytes,
    unsynced: Vec<Change>,
    /// Whether something of `written` is neither synced nor in `unsynced`.
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

    /// Some of what is not synced can still be read, and no sync brings it any more.
    fn forget_dirty(&mut self, keeps: u64) {
        let mut bit = 0;
        self.unsynced.retain(|_| {
            bit += 1;
            keeps.rotate_right(bit) & 1 == 1
        });
        self.has_forgotten = true;
    }
}

#[derive(Default)]
struct Platter {
    files: [File; FILES],
    /// Writes and syncs so far.
    operations: usize,
    writes: usize,
    syncs: usize,
    reads: usize,
    traffic: Traffic,
    gone_from: Option<usize>,
    length_max: Option<usize>,
    failing_write: Option<usize>,
    /// After how many, and which changes stay dirty.
    failing_sync: Option<(usize, u64)>,
    failing_read: Option<usize>,
    unreadable_from: Option<usize>,
    /// How many operations failed because of a fault.
    failures: usize,
    failed_reads: usize,
    on_sync: Option<OnSync>,
}

/// A disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<Platter>>);

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disk")
    }
}

#[allow(dead_code)] // Each of the two crates that use this file needs a part of it.
impl Disk {
    /// A disk that works and holds `image`.
    pub fn new(image: Image) -> Self {
        Self(Arc::new(Mutex::new(Platter {
            files: image.files.map(|bytes| File {
                written: bytes.clone(),
                synced: bytes,
                ..File::default()
            }),
            ..Platter::default()
        })))
    }

    fn with<T>(&self, f: impl FnOnce(&mut Platter) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many writes and syncs there were.
    pub fn operations(&self) -> usize {
        self.with(|platter| platter.operations)
    }

    /// How many syncs there were.
    pub fn syncs(&self) -> usize {
        self.with(|platter| platter.syncs)
    }

    /// Returns what was read and written so far, of both files and without operations that failed.
    pub fn traffic(&self) -> Traffic {
        self.with(|platter| platter.traffic)
    }

    /// How many operations have failed because of an injected fault.
    pub fn failures(&self) -> usize {
        self.with(|platter| platter.failures)
    }

    /// How many reads have failed because of an injected fault.
    pub fn failed_reads(&self) -> usize {
        self.with(|platter| platter.failed_reads)
    }

    /// Whether something is written and not synced.
    pub fn has_unsynced(&self) -> bool {
        self.with(|platter| platter.files.iter().any(|file| !file.unsynced.is_empty()))
    }

    /// Has `fault` happen.
    pub fn inject(&self, fault: Fault) {
        self.with(|platter| match fault {
            Fault::Gone { after } => platter.gone_from = Some(platter.operations + after),
            Fault::Full { more_bytes } => platter.length_max = Some(platter.length() + more_bytes),
            Fault::Write { after } => platter.failing_write = Some(platter.writes + after),
            Fault::Sync { after, keeps } => {
                platter.failing_sync = Some((platter.syncs + after, keeps));
            }
            Fault::Read { after } => platter.failing_read = Some(platter.reads + after),
            Fault::Reads { after } => platter.unreadable_from = Some(platter.reads + after),
        });
    }

    /// Has every sync call `on_sync` before it takes effect.
    pub fn set_on_sync(&self, on_sync: impl Fn() + Send + Sync + 'static) {
        self.with(|platter| platter.on_sync = Some(Arc::new(on_sync)));
    }

    /// All that was written: what is found when the process was killed.
    pub fn written(&self) -> Image {
        self.with(|platter| platter.image(|file| file.written.clone()))
    }

    /// What was synced: the least that is found when the power failed.
    pub fn synced(&self) -> Image {
        self.with(|platter| platter.image(|file| file.synced.clone()))
    }

    /// What was synced and any part of the rest.
    pub fn torn(&self, pick: Pick<'_>) -> Image {
        self.with(|platter| {
            platter.image(|file| {
                let mut torn = file.synced.clone();
                for change in &file.unsynced {
                    change.apply_torn(&mut torn, pick);
                }
                torn
            })
        })
    }

    /// The block log on this disk.
    pub fn log(&self) -> LogFile {
        LogFile(self.clone())
    }

    fn change(&self, number: usize, change: Change) -> io::Result<()> {
        self.with(|platter| {
            platter.begin_write(number, &change)?;
            if let Change::Write(_, data) = &change {
                platter.traffic.written_pages += data.len().div_ceil(PAGE_BYTES) as u64;
                platter.traffic.written_bytes += data.len() as u64;
            }
            let file = &mut platter.files[number];
            change.apply(&mut file.written);
            file.unsynced.push(change);
            Ok(())
        })
    }

    fn read_file(&self, number: usize, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|platter| {
            platter.begin_read()?;
            platter.traffic.read_pages += out.len().div_ceil(PAGE_BYTES) as u64;
            platter.traffic.read_bytes += out.len() as u64;
            platter.files[number].written.read(offset as usize, out)
        })
    }

    fn sync_file(&self, number: usize) -> io::Result<()> {
        // Not under the lock: others may use the disk meanwhile.
        let on_sync = self.with(|platter| platter.on_sync.clone());
        if let Some(on_sync) = on_sync {
            on_sync();
        }
        self.with(|platter| platter.sync(number))
    }

    fn length_of(&self, number: usize) -> u64 {
        self.with(|platter| platter.files[number].written.length) as u64
    }
}

impl Platter {
    fn fail(&mut self, kind: ErrorKind, what: &'static str) -> io::Error {
        self.failures += 1;
        io::Error::new(kind, what)
    }

    fn begin_operation(&mut self) -> io::Result<()> {
        if self.gone_from.is_some_and(|from| self.operations >= from) {
            return Err(self.fail(ErrorKind::Other, "the disk is gone"));
        }
        self.operations += 1;
        Ok(())
    }

    fn image(&self, bytes: impl FnMut(&File) -> Bytes) -> Image {
        Image {
            files: self.files.each_ref().map(bytes),
        }
    }

    /// Of all files.
    fn length(&self) -> usize {
        self.files.iter().map(|file| file.written.length).sum()
    }

    fn begin_write(&mut self, number: usize, change: &Change) -> io::Result<()> {
        self.begin_operation()?;
        self.writes += 1;
        if self
            .failing_write
            .is_some_and(|failing| self.writes > failing)
        {
            self.failing_write = None;
            return Err(self.fail(ErrorKind::Other, "the disk failed to write"));
        }
        let length = match change {
            Change::Write(offset, data) => offset + data.len(),
            Change::SetLength(length) => *length,
        };
        let more = length.saturating_sub(self.files[number].written.length);
        let has_room = more == 0
            || self
                .length_max
                .is_none_or(|max| self.length() + more <= max);
        if has_room {
            return Ok(());
        }
        Err(self.fail(ErrorKind::StorageFull, "the disk is full"))
    }

    fn sync(&mut self, number: usize) -> io::Result<()> {
        self.begin_operation()?;
        self.syncs += 1;
        if let Some((_, keeps)) = self
            .failing_sync
            .take_if(|(failing, _)| self.syncs > *failing)
        {
            self.files[number].forget_dirty(keeps);
            return Err(self.fail(ErrorKind::Other, "the disk failed to sync"));
        }
        self.files[number].sync();
        Ok(())
    }

    fn begin_read(&mut self) -> io::Result<()> {
        self.reads += 1;
        let is_unreadable = self.unreadable_from.is_some_and(|from| self.reads > from);
        let fails_once = self
            .failing_read
            .is_some_and(|failing| self.reads > failing);
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
        self.change(DATABASE, Change::Write(offset as usize, data.to_vec()))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync_file(DATABASE)
    }
}

/// The block log of a disk.
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
        self.0
            .change(LOG, Change::Write(offset as usize, data.to_vec()))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_file(LOG)
    }
}
