//! Content of the database file after a fault.

use redb::StorageBackend;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
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

/// What there is overlay a failure.
#[derive(Debug)]
pub(super) struct FaultOverlay {
    pub(super) kind: ErrorKind,
    pub(super) cause: String,
    /// The length that the database believes in.
    pub(super) length: u64,
    /// Up to here the disk's own bytes count.
    pub(super) disk_length: u64,
    pub(super) pages: BTreeMap<u64, Box<Page>>,
}

impl FaultOverlay {
    pub(super) fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.cause.clone())
    }

    /// Keeps what can be read of these pages.
    pub(super) fn read_back(&mut self, backend: &impl StorageBackend, pages: &BTreeSet<u64>) {
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

    pub(super) fn set_length(&mut self, length: u64) {
        self.length = length;
        // What is behind the end reads as zero should it grow again.
        self.disk_length = self.disk_length.min(length);
        self.pages.split_off(&length.div_ceil(PAGE_BYTES));
    }

    pub(super) fn write(
        &mut self,
        backend: &impl StorageBackend,
        offset: u64,
        data: &[u8],
    ) -> io::Result<()> {
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

    pub(super) fn read(
        &self,
        backend: &impl StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
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
pub(super) fn read(backend: &impl StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
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
pub(super) fn parts(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
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
