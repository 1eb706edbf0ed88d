//! Keys and layout of blocks.

use crate::{StoreError, index::key::Kind, tables::schema::RunTable};
use redb::{Range, Table};

/// Maximum size of a block, in bytes. With its key it fills a page of 4 KiB and never needs a
/// second one.
pub(super) const BLOCK_BYTES: usize = 3_900;
/// Size of the length in front of a payload, in bytes. It is little endian.
pub(super) const LENGTH_BYTES: usize = 4;

/// The table of runs, opened for writing.
pub(crate) type RunTableMut<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// Returns the key of a block. With an empty entry, it is below the keys of all blocks of the run.
pub(crate) fn block_key(run: u64, entry: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + entry.len());
    key.extend_from_slice(&run.to_be_bytes());
    key.extend_from_slice(entry);
    key
}

/// Returns the first entry of the block with this key.
pub(crate) fn first_entry(key: &[u8]) -> &[u8] {
    &key[8..]
}

/// Returns the entry at `offset` of a block, its payload, and the offset of the next entry.
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

/// Returns all blocks of a run or filter.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn blocks(
    table: &RunTable,
    id: u64,
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, end) = (block_key(id, &[]), block_key(id + 1, &[]));
    Ok(table.range(start.as_slice()..end.as_slice())?)
}
