//! Number of allocated pages in a redb file, read from the state of the page allocator.
//!
//! redb reports this number only with a walk over the whole file. But every checkpoint stores the
//! state of the allocator in a table of redb itself (quick repair), which has about two bits per
//! page. This module reads that table from the file: header, selected commit slot, tree of redb's
//! tables, `allocator_state`. `docs/internals/storage.md` names the document of the file format. A
//! file that does not have this form is an error, never a panic.

use super::overlay::read_with_retry;
use redb::StorageBackend;
use std::{
    cell::Cell,
    io::{self, ErrorKind},
};

/// Size of a page of order 0, in bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// Size of the header with both commit slots, in bytes.
const HEADER_BYTES: usize = 64 + 2 * SLOT_BYTES;
const SLOT_BYTES: usize = 128;
const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
const FILE_FORMAT: u8 = 3;

/// Name of redb's table with the state of the allocator.
const TABLE: &[u8] = b"allocator_state";

/// Kinds of pages: the first byte of a page.
const LEAF: u8 = 1;
const BRANCH: u8 = 2;

/// Kind of an entry with the state of a region, and of the one with the number of the commit: the
/// first byte of a key of [`TABLE`].
const REGION: u8 = 3;
const TRANSACTION_ID: u8 = 5;

/// Size of a key of [`TABLE`], in bytes.
const KEY_BYTES: usize = 5;

/// Maximum depth of a tree, which ends a cycle of damaged pages. Trees of redb's own tables have
/// two or three levels.
const DEPTH_MAX: u32 = 16;

/// Maximum order of a page that is read: 16 MiB. The state of a region takes less than 1 MiB, so
/// that a damaged page number cannot demand more memory.
const ORDER_MAX: u64 = 12;

/// Maximum number of bytes that are read of a short file: the tree of redb's own tables.
const READ_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// Bytes of the file per further byte that is read at most. The state of the allocator has two bits
/// for each page of 4,096 bytes, rounded up to pages of a power of two.
const FILE_BYTES_PER_READ_BYTE: u64 = 4096;

/// Maximum order of redb's pages.
const REDB_ORDER_MAX: usize = 20;

/// Returns the number of allocated pages as of the newest durable commit, or `None` if that commit
/// has no state of the allocator.
///
/// Pages that are free only after the next commit, or once a snapshot is dropped, count as
/// allocated.
///
/// # Errors
///
/// Returns the error of the disk, and [`ErrorKind::InvalidData`] if the content has another form.
pub(crate) fn allocated_pages(disk: &dyn StorageBackend) -> io::Result<Option<u64>> {
    let file = PageFile::open(disk)?;
    let Some(root) = file.system_root else {
        return Ok(None);
    };
    let mut table = None;
    file.walk(root, Sizes::VARIABLE, DEPTH_MAX, &mut |key, definition| {
        if key == TABLE {
            table = Some(table_root(definition)?);
        }
        Ok(())
    })?;
    let Some(Some(root)) = table else {
        return Ok(None);
    };
    let (mut pages, mut transaction) = (0_u64, None);
    file.walk(
        root,
        Sizes::ALLOCATOR_STATE,
        DEPTH_MAX,
        &mut |key, value| {
            match key.first() {
                Some(&REGION) => pages = pages.saturating_add(region_pages(value)?),
                Some(&TRANSACTION_ID) => transaction = Some(u64_at(value, 0)?),
                _ => {}
            }
            Ok(())
        },
    )?;
    Ok((transaction == Some(file.transaction)).then_some(pages))
}

/// The newest durable commit of a redb file.
struct PageFile<'a> {
    disk: &'a dyn StorageBackend,
    /// Length of the file, in bytes.
    length: u64,
    /// Maximum number of bytes that are still read, which ends a walk of damaged pages.
    bytes_left: Cell<u64>,
    region_header_pages: u64,
    region_data_pages: u64,
    /// Page number of the tree of redb's own tables, or `None` if there is none.
    system_root: Option<u64>,
    /// Number of the commit.
    transaction: u64,
}

/// The fixed sizes of keys and values in a leaf, or `None` if they vary.
#[derive(Clone, Copy)]
struct Sizes {
    key: Option<usize>,
}

impl Sizes {
    const VARIABLE: Self = Self { key: None };
    const ALLOCATOR_STATE: Self = Self {
        key: Some(KEY_BYTES),
    };
}

/// The receiver of the entries of a tree: key and value.
type OnEntry<'f> = dyn FnMut(&[u8], &[u8]) -> io::Result<()> + 'f;

impl<'a> PageFile<'a> {
    fn open(disk: &'a dyn StorageBackend) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        read_with_retry(disk, 0, &mut header)?;
        if !header.starts_with(MAGIC) || u64::from(u32_at(&header, 12)?) != PAGE_BYTES {
            return Err(other_form("the header"));
        }
        let is_second = header[MAGIC.len()] & 1 != 0;
        let slot = part(
            &header,
            64 + SLOT_BYTES * usize::from(is_second),
            SLOT_BYTES,
        )?;
        if slot[0] != FILE_FORMAT {
            return Err(other_form("the commit slot"));
        }
        let length = disk.len()?;
        Ok(Self {
            disk,
            length,
            bytes_left: Cell::new(READ_BYTES_MIN.saturating_add(length / FILE_BYTES_PER_READ_BYTE)),
            region_header_pages: u32_at(&header, 16)?.into(),
            region_data_pages: u32_at(&header, 20)?.into(),
            system_root: match slot[2] {
                0 => None,
                _ => Some(u64_at(slot, 40)?),
            },
            transaction: u64_at(slot, 104)?,
        })
    }

    /// Reads a page. Its number has the index, the region, and the order: the page has `2 ** order`
    /// times the base size.
    fn page(&self, number: u64) -> io::Result<Vec<u8>> {
        let order = number >> 59;
        if order > ORDER_MAX {
            return Err(other_form("a page number"));
        }
        let index = (number & (0xF_FFFF >> order)) << order;
        let region = (number >> 20) & 0xF_FFFF;
        let region_pages = self.region_header_pages + self.region_data_pages;
        let pages = 1 + region * region_pages + self.region_header_pages + index;
        let bytes = PAGE_BYTES << order;
        let begin = pages.saturating_mul(PAGE_BYTES);
        if begin.saturating_add(bytes) > self.length {
            return Err(other_form("a page number"));
        }
        let left = self.bytes_left.get().checked_sub(bytes);
        self.bytes_left
            .set(left.ok_or_else(|| other_form("a tree"))?);
        let mut page = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
        read_with_retry(self.disk, begin, &mut page)?;
        Ok(page)
    }

    /// Calls `on_entry` with each entry of the tree whose root is the page `number`.
    fn walk(
        &self,
        number: u64,
        sizes: Sizes,
        depth_left: u32,
        on_entry: &mut OnEntry<'_>,
    ) -> io::Result<()> {
        let page = self.page(number)?;
        let count = usize::from(u16_at(&page, 2)?);
        match page[0] {
            LEAF => leaf_entries(&page, count, sizes, on_entry),
            BRANCH if depth_left > 0 => {
                let children = count + 1;
                let numbers = 8 + 16 * children;
                for child in 0..children {
                    let number = u64_at(&page, numbers + 8 * child)?;
                    self.walk(number, sizes, depth_left - 1, on_entry)?;
                }
                Ok(())
            }
            _ => Err(other_form("a page")),
        }
    }
}

/// Calls `on_entry` with each entry of a leaf: first the ends of the keys, unless their size is
/// fixed, then the ends of the values, then all keys, then all values.
fn leaf_entries(
    page: &[u8],
    count: usize,
    sizes: Sizes,
    on_entry: &mut OnEntry<'_>,
) -> io::Result<()> {
    let key_ends = 4;
    let value_ends = match sizes.key {
        None => key_ends + 4 * count,
        Some(_) => key_ends,
    };
    let keys_begin = value_ends + 4 * count;
    let key_end = |index: usize| match sizes.key {
        None => usize_at(page, key_ends + 4 * index),
        Some(bytes) => Ok(keys_begin + bytes * (index + 1)),
    };
    let Some(last) = count.checked_sub(1) else {
        return Err(other_form("a leaf"));
    };
    let (mut key_begin, mut value_begin) = (keys_begin, key_end(last)?);
    for index in 0..count {
        let (key_end, value_end) = (key_end(index)?, usize_at(page, value_ends + 4 * index)?);
        let key = page.get(key_begin..key_end);
        let value = page.get(value_begin..value_end);
        let (Some(key), Some(value)) = (key, value) else {
            return Err(other_form("a leaf"));
        };
        on_entry(key, value)?;
        (key_begin, value_begin) = (key_end, value_end);
    }
    Ok(())
}

/// Returns the root of a table from its definition: kind, number of rows, whether there is a root,
/// root.
fn table_root(definition: &[u8]) -> io::Result<Option<u64>> {
    let has_root = part(definition, 9, 1)?[0] != 0;
    has_root.then(|| u64_at(definition, 10)).transpose()
}

/// Returns the number of allocated pages of a region from the state of its allocator: the largest
/// order, the number of pages, and for each order a bitmap in which free pages are 0.
fn region_pages(state: &[u8]) -> io::Result<u64> {
    let orders = usize::from(part(state, 0, 1)?[0]) + 1;
    if orders > REDB_ORDER_MAX + 1 {
        return Err(other_form("a region"));
    }
    let pages = u64::from(u32_at(state, 4)?);
    let mut begin = 8 + 4 * orders;
    let mut free = 0_u64;
    for order in 0..orders {
        let end = usize_at(state, 8 + 4 * order)?;
        let bitmap = state
            .get(begin..end)
            .ok_or_else(|| other_form("a region"))?;
        free = free.saturating_add(zeros(bitmap)? << order);
        begin = end;
    }
    pages
        .checked_sub(free)
        .ok_or_else(|| other_form("a region"))
}

/// Returns the number of zeros in the last level of a bitmap: the number of levels, the end of
/// each, and for each its length in bits and its words.
fn zeros(bitmap: &[u8]) -> io::Result<u64> {
    let levels = usize_at(bitmap, 0)?;
    let Some(last) = levels.checked_sub(1).filter(|last| *last <= 8) else {
        return Err(other_form("a bitmap"));
    };
    let begin = match last.checked_sub(1) {
        None => 4 + 4 * levels,
        Some(before) => usize_at(bitmap, 4 + 4 * before)?,
    };
    let (bits, words) = (u32_at(bitmap, begin)?, begin + 4);
    let words = part(bitmap, words, 8 * bits.div_ceil(64) as usize)?;
    let mut left = bits;
    let mut zeros = 0;
    for word in words.chunks_exact(8) {
        let used = left.min(64);
        left -= used;
        // Bits beyond the length count as set.
        let unused = u64::MAX.checked_shl(used).unwrap_or(0);
        zeros += u64::from((u64_at(word, 0)? | unused).count_zeros());
    }
    Ok(zeros)
}

fn other_form(what: &str) -> io::Error {
    let cause = format!("{what} of the database file has an unexpected form");
    io::Error::new(ErrorKind::InvalidData, cause)
}

/// Returns `bytes` bytes of `data` from `begin` on.
fn part(data: &[u8], begin: usize, bytes: usize) -> io::Result<&[u8]> {
    let end = begin.checked_add(bytes);
    end.and_then(|end| data.get(begin..end))
        .ok_or_else(|| other_form("a part"))
}

/// Returns `N` bytes of `data` from `begin` on.
fn array<const N: usize>(data: &[u8], begin: usize) -> io::Result<[u8; N]> {
    part(data, begin, N)?
        .try_into()
        .map_err(|_| other_form("a part"))
}

fn u16_at(data: &[u8], begin: usize) -> io::Result<u16> {
    Ok(u16::from_le_bytes(array(data, begin)?))
}

fn u32_at(data: &[u8], begin: usize) -> io::Result<u32> {
    Ok(u32::from_le_bytes(array(data, begin)?))
}

fn u64_at(data: &[u8], begin: usize) -> io::Result<u64> {
    Ok(u64::from_le_bytes(array(data, begin)?))
}

fn usize_at(data: &[u8], begin: usize) -> io::Result<usize> {
    usize::try_from(u32_at(data, begin)?).map_err(io::Error::other)
}
