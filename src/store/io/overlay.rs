//! The content of the database file after a fault: pages in memory over the content of the disk.

use redb::StorageBackend;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    ops::Range,
};

/// Size of a page, in bytes. redb writes whole pages of this size.
pub(super) const PAGE_BYTES: u64 = 4096;
/// Maximum number of pages in memory, which is enough for the rest of one commit. Beyond it redb
/// receives the error, and fails to read as well.
const OVERLAY_PAGES_MAX: usize = 65_536;
/// Maximum number of them that were written but not synced before the fault.
const READ_BACK_PAGES_MAX: usize = OVERLAY_PAGES_MAX / 2;
/// Maximum memory of the pages, in bytes.
pub const OVERLAY_BYTES_MAX: u64 = OVERLAY_PAGES_MAX as u64 * PAGE_BYTES;
/// Number of attempts to read before redb receives the error.
///
/// Many disks that fail once succeed the next time. A disk that was removed fails immediately, so
/// that a few attempts cost nothing.
const READ_ATTEMPTS: u32 = 4;

type Page = [u8; PAGE_BYTES as usize];

/// The content of the file after a fault.
#[derive(Debug)]
pub(super) struct FaultOverlay {
    kind: ErrorKind,
    cause: String,
    /// Length of the file as redb sees it, in bytes.
    length: u64,
    /// Length up to which the content of the disk is valid, in bytes.
    disk_length: u64,
    /// Pages in memory, by number.
    pages: BTreeMap<u64, Box<Page>>,
}

impl FaultOverlay {
    /// Creates an overlay over a file of `length` bytes.
    pub(super) fn new(kind: ErrorKind, cause: String, length: u64) -> Self {
        Self {
            kind,
            cause,
            length,
            disk_length: length,
            pages: BTreeMap::new(),
        }
    }

    /// Returns the error of the fault.
    pub(super) fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.cause.clone())
    }

    /// Returns the length of the file as redb sees it, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Reads these pages into memory. Pages that cannot be read are skipped.
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

    /// Changes the length of the file.
    pub(super) fn set_length(&mut self, length: u64) {
        self.length = length;
        // If the file grows again, the content beyond this length reads as zero.
        self.disk_length = self.disk_length.min(length);
        self.pages.split_off(&length.div_ceil(PAGE_BYTES));
    }

    /// Writes to pages in memory.
    ///
    /// # Errors
    ///
    /// Returns the error of the fault if there are too many pages, and the error of a read if a
    /// page is written in part and cannot be read.
    pub(super) fn write(
        &mut self,
        backend: &impl StorageBackend,
        offset: u64,
        data: &[u8],
    ) -> io::Result<()> {
        for part in page_parts(offset, data.len()) {
            if !self.pages.contains_key(&part.page) {
                if self.pages.len() >= OVERLAY_PAGES_MAX {
                    return Err(self.error());
                }
                let mut page = Box::new([0; PAGE_BYTES as usize]);
                if part.bytes.len() < page.len() {
                    self.read_disk(backend, part.page * PAGE_BYTES, page.as_mut_slice())?;
                }
                self.pages.insert(part.page, page);
            }
            if let Some(page) = self.pages.get_mut(&part.page) {
                page[part.start..part.start + part.bytes.len()].copy_from_slice(&data[part.bytes]);
            }
        }
        self.length = self.length.max(offset.saturating_add(data.len() as u64));
        Ok(())
    }

    /// Reads from the pages in memory, and from the disk outside of them.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::UnexpectedEof`] if the range exceeds the file, and the
    /// error of the disk if it fails.
    pub(super) fn read(
        &self,
        backend: &impl StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        if offset.saturating_add(out.len() as u64) > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let is_in_memory = |part: PagePart| self.pages.contains_key(&part.page);
        if !page_parts(offset, out.len()).all(is_in_memory) {
            self.read_disk(backend, offset, out)?;
        }
        for part in page_parts(offset, out.len()) {
            if let Some(page) = self.pages.get(&part.page) {
                let length = part.bytes.len();
                out[part.bytes].copy_from_slice(&page[part.start..part.start + length]);
            }
        }
        Ok(())
    }

    /// Reads the content of the disk, and zeros beyond its valid length.
    fn read_disk(
        &self,
        backend: &impl StorageBackend,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        let valid = self.disk_length.saturating_sub(offset);
        let valid = usize::try_from(valid).unwrap_or(usize::MAX).min(out.len());
        let (on_disk, beyond) = out.split_at_mut(valid);
        beyond.fill(0);
        if on_disk.is_empty() {
            return Ok(());
        }
        read_with_retry(backend, offset, on_disk)
    }
}

/// Reads from the disk with a few attempts. A file that is too short is not read again.
///
/// # Errors
///
/// Returns the error of the last attempt, after which the content of `out` is undefined.
pub(crate) fn read_with_retry(
    backend: &(impl StorageBackend + ?Sized),
    offset: u64,
    out: &mut [u8],
) -> io::Result<()> {
    let mut attempts = READ_ATTEMPTS;
    loop {
        attempts -= 1;
        match backend.read(offset, out) {
            Err(error) if attempts > 0 && error.kind() != ErrorKind::UnexpectedEof => {}
            outcome => return outcome,
        }
    }
}

/// The part of a byte range within one page.
pub(super) struct PagePart {
    /// Number of the page.
    pub(super) page: u64,
    /// Offset of the part in the page.
    start: usize,
    /// Bytes of the range that the part covers.
    bytes: Range<usize>,
}

/// Splits `length` bytes from `offset` by page.
pub(super) fn page_parts(offset: u64, length: usize) -> impl Iterator<Item = PagePart> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < length).then(|| {
            let position = offset + done as u64;
            let start = (position % PAGE_BYTES) as usize;
            let bytes = done..length.min(done + PAGE_BYTES as usize - start);
            done = bytes.end;
            PagePart {
                page: position / PAGE_BYTES,
                start,
                bytes,
            }
        })
    })
}
