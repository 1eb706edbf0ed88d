//! Content of the database file after a disk fault.

use redb::StorageBackend;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
};

/// Size of a page of the overlay, in bytes. The database writes whole pages of this size.
const PAGE_BYTES: u64 = 4096;
/// Maximum number of pages in an overlay.
///
/// The bound is ample for the rest of one commit. Beyond it a write returns the failure to the
/// database, which then reads only from its cache.
const OVERLAY_PAGES_MAX: usize = 65_536;
/// Maximum number of pages that are read back because they were written but not synced.
const READ_BACK_PAGES_MAX: usize = OVERLAY_PAGES_MAX / 2;
/// Maximum memory of an overlay, in bytes.
pub const OVERLAY_BYTES_MAX: u64 = OVERLAY_PAGES_MAX as u64 * PAGE_BYTES;
/// Maximum number of attempts of a read.
///
/// Many disks succeed in the second attempt. A disconnected disk fails immediately, so a few
/// attempts cost little.
const READ_TRIES: u32 = 4;
type Page = [u8; PAGE_BYTES as usize];

/// Changes of the database file that are not on the disk because it failed.
#[derive(Debug)]
pub(super) struct FaultOverlay {
    pub(super) kind: ErrorKind,
    pub(super) cause: String,
    /// Length of the file as the database sees it, in bytes.
    pub(super) length: u64,
    /// Length of the part that can be read from the disk, in bytes. Zeros follow it.
    pub(super) disk_length: u64,
    pub(super) pages: BTreeMap<u64, Box<Page>>,
}

impl FaultOverlay {
    pub(super) fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.cause.clone())
    }

    /// Reads up to [`READ_BACK_PAGES_MAX`] of `pages` from the disk. Skips unreadable pages.
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
        // Bytes beyond the new end read as zeros if the file grows again.
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

    /// Reads from the disk. Bytes beyond `disk_length` are zeros.
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

/// Reads, and retries a failed read, except beyond the end of the file, where a retry cannot help.
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

/// Splits `length` bytes at `offset` of the file into parts that lie in one page each.
///
/// Yields the number of the page, the offset of the part in the page, and the range of the part
/// among the bytes.
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
