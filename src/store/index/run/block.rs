//! A run in the table: blocks of packed entries, keyed by the run's number and the first entry. Its filter stands in the
//! same table under a number of its own.

use crate::index::key::Kind;
use crate::{StoreError, tables::schema::RunTable};
use redb::{Range, Table};

/// The largest block. With its key it fills a page of 4 KiB and never needs a second one.
pub(super) const BLOCK_BYTES: usize = 3_900;
/// Bytes before a payload that tell its length.
pub(super) const LENGTH_BYTES: usize = 4;
/// The table of runs, opened for writing.
pub(crate) type RunTableMut<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// The key of a block; with no entry, the place before the first block of the run.
pub(crate) fn key(run: u64, entry: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + entry.len());
    key.extend_from_slice(&run.to_be_bytes());
    key.extend_from_slice(entry);
    key
}

/// The first entry of the block with `key`.
pub(crate) fn first_entry(key: &[u8]) -> &[u8] {
    &key[8..]
}

/// The entry at `offset` of a block, its payload, and the offset of the next.
pub(crate) fn entry_at(kind: Kind, block: &[u8], offset: usize) -> Option<(&[u8], &[u8], usize)> {
    let entry = block.get(offset..offset + kind.width())?;
    let offset = offset + kind.width();
    if !kind.has_payload() {
        return Some((entry, &[], offset));
    }
    let length = block.get(offset..offset + LENGTH_BYTES)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let offset = offset + LENGTH_BYTES;
    Some((entry, block.get(offset..offset + length)?, offset + length))
}

/// All blocks under a number.
pub(crate) fn blocks(
    table: &RunTable,
    run: u64,
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, end) = (key(run, &[]), key(run + 1, &[]));
    Ok(table.range(start.as_slice()..end.as_slice())?)
}
