//! Blocks of a run in the table of runs.
//!
//! The key of a block is the id of the run, followed by the first entry of the block. The filter
//! of the run is in the same table under an id of its own.

use crate::index::key::Kind;
use crate::{StoreError, tables::schema::RunTable};
use redb::{Range, Table};

/// Maximum size of a block of several entries, in bytes.
///
/// Such a block and its key fill one page of 4 KiB. An entry with a longer payload has a block of
/// its own.
pub(super) const BLOCK_BYTES: usize = 3_900;
/// Size of the length before a payload, in bytes.
pub(super) const LENGTH_BYTES: usize = 4;
/// The table of runs, open for writing.
pub(crate) type RunTableMut<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// Returns the key of a block. It is below all blocks of the run if `entry` is empty.
pub(crate) fn key(run: u64, entry: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + entry.len());
    key.extend_from_slice(&run.to_be_bytes());
    key.extend_from_slice(entry);
    key
}

/// Returns the first entry of the block with `key`.
pub(crate) fn first_entry(key: &[u8]) -> &[u8] {
    &key[8..]
}

/// Returns the entry at `offset` of a block, its payload, and the offset of the next entry.
///
/// Returns `None` at the end of the block, or if the block ends within the entry.
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

/// Returns the blocks with the id `run`, in order.
pub(crate) fn blocks(
    table: &RunTable,
    run: u64,
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, end) = (key(run, &[]), key(run + 1, &[]));
    Ok(table.range(start.as_slice()..end.as_slice())?)
}
