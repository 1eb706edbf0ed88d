//! Deletion of the blocks of discarded runs, some beside each merge step.

use crate::{
    StoreError,
    index::{
        manifest::Manifest,
        run::block::{RunTableMut, block_key},
    },
};
use redb::ReadableTable;

/// Minimum number of blocks that one call deletes.
const DELETED_BLOCKS_MIN: usize = 16;

/// Number of entries in a full block, at the least: about that of the pruned state. It determines
/// how many blocks are deleted, so that deletion keeps up with merges.
const BLOCK_ENTRIES_MIN: usize = 16;

/// Deletes some blocks of discarded runs and filters.
///
/// `merged` is the number of entries that merges read since the last call.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(super) fn delete_garbage(
    manifest: &mut Manifest,
    merged: usize,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let mut blocks_max = DELETED_BLOCKS_MIN + merged / BLOCK_ENTRIES_MIN;
    while let Some(&id) = manifest.garbage.first() {
        let deleted = delete_blocks(table, id, blocks_max)?;
        if deleted == blocks_max {
            break;
        }
        blocks_max -= deleted;
        manifest.garbage.remove(0);
    }
    Ok(())
}

/// Deletes up to `blocks_max` blocks of a run or filter, and returns how many. Fewer than
/// `blocks_max` means that none is left.
fn delete_blocks(
    table: &mut RunTableMut<'_>,
    id: u64,
    blocks_max: usize,
) -> Result<usize, StoreError> {
    let (start, end) = (block_key(id, &[]), block_key(id + 1, &[]));
    let mut last = None;
    let mut count = 0;
    for block in table
        .range(start.as_slice()..end.as_slice())?
        .take(blocks_max)
    {
        last = Some(block?.0.value().to_vec());
        count += 1;
    }
    if let Some(last) = last {
        table.retain_in(start.as_slice()..=last.as_slice(), |_, _| false)?;
    }
    Ok(count)
}
