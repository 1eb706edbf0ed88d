//! The contents of a disk, and changes of them.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::Arc,
};

/// Size of the units in which a power failure writes or loses data, in bytes.
const SECTOR_BYTES: usize = 512;

/// Size of the units that images share and that [`Traffic`](super::Traffic) counts: a page of the
/// database, in bytes.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Number of files on a disk.
pub(crate) const FILES: usize = 2;

/// Index of the database file.
pub(crate) const DATABASE: usize = 0;

/// Index of the log file.
pub(crate) const LOG: usize = 1;

/// Picks a number below its argument.
pub(crate) type Pick<'a> = &'a mut dyn FnMut(usize) -> usize;

/// The files of a disk at one point in time. Clones share their pages.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pub(crate) files: [FileContent; FILES],
}

/// The content of a file.
#[derive(Clone, Default)]
pub(crate) struct FileContent {
    pages: Vec<Arc<[u8; PAGE_BYTES]>>,
    length: usize,
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

/// A range of bytes within one page.
struct PageRange {
    page: usize,
    start: usize,
    length: usize,
}

/// Returns the parts of `length` bytes at `offset`, page by page.
fn page_ranges(offset: usize, length: usize) -> impl Iterator<Item = PageRange> {
    let end = offset + length;
    let mut position = offset;
    std::iter::from_fn(move || {
        let (page, start) = (position / PAGE_BYTES, position % PAGE_BYTES);
        let length = (PAGE_BYTES - start).min(end - position);
        position += length;
        (length > 0).then_some(PageRange {
            page,
            start,
            length,
        })
    })
}

impl FileContent {
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn set_length(&mut self, length: usize) {
        if length < self.length {
            // Bytes beyond the end read as zero if the file grows again.
            let end = length.next_multiple_of(PAGE_BYTES).min(self.length);
            self.write(length, &vec![0; end - length]);
        }
        self.length = length;
        let pages = length.div_ceil(PAGE_BYTES);
        self.pages.resize_with(pages, || Arc::new([0; PAGE_BYTES]));
    }

    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) {
        if offset + data.len() > self.length {
            self.set_length(offset + data.len());
        }
        let mut rest = data;
        for range in page_ranges(offset, data.len()) {
            let (written, left) = rest.split_at(range.length);
            let page = Arc::make_mut(&mut self.pages[range.page]);
            page[range.start..range.start + range.length].copy_from_slice(written);
            rest = left;
        }
    }

    /// Reads bytes into `out`.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::UnexpectedEof`] if the file ends before `out` is full.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) -> io::Result<()> {
        if offset + out.len() > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut done = 0;
        for range in page_ranges(offset, out.len()) {
            let page = &self.pages[range.page][range.start..range.start + range.length];
            out[done..done + range.length].copy_from_slice(page);
            done += range.length;
        }
        Ok(())
    }
}

/// A change of a file.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write { offset: usize, data: Vec<u8> },
    SetLength(usize),
}

impl Change {
    /// Returns the offset of the first byte after the change, in bytes.
    pub(crate) fn end(&self) -> usize {
        match self {
            Self::Write { offset, data } => offset + data.len(),
            Self::SetLength(length) => *length,
        }
    }

    pub(crate) fn apply(&self, content: &mut FileContent) {
        match self {
            Self::Write { offset, data } => content.write(*offset, data),
            Self::SetLength(length) => content.set_length(*length),
        }
    }

    /// Applies what a power failure leaves of the change: any sectors of a write, and a new length
    /// or the old one.
    pub(crate) fn apply_torn(&self, content: &mut FileContent, pick: Pick<'_>) {
        match self {
            Self::Write { offset, data } => {
                for (index, sector) in data.chunks(SECTOR_BYTES).enumerate() {
                    if pick(2) == 0 {
                        content.write(offset + index * SECTOR_BYTES, sector);
                    }
                }
            }
            Self::SetLength(length) => {
                if pick(2) == 0 {
                    content.set_length(*length);
                }
            }
        }
    }
}
