//! Deletion of runs that were merged or dropped.

use crate::{
    StoreError,
    index::{
        manifest::Manifest,
        run::block::{RunTableMut, key},
    },
};
use redb::ReadableTable;

/// Blocks of deleted runs that go beside every commit, at the least.
const DELETED_BLOCKS_MIN: usize = 16;
/// About the fewest entries of a full block, as of `PrunedState`: how fast blocks must be deleted to keep up
/// with merging.
const BLOCK_ENTRIES_MIN: usize = 16;

/// Deletes some of the blocks of runs that were merged or dropped.
pub(super) fn delete_garbage(
    manifest: &mut Manifest,
    taken: usize,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let mut blocks_max = DELETED_BLOCKS_MIN + taken / BLOCK_ENTRIES_MIN;
    while let Some(&run) = manifest.garbage.first() {
        let deleted = delete_blocks(table, run, blocks_max)?;
        if deleted == blocks_max {
            break;
        }
        blocks_max -= deleted;
        manifest.garbage.remove(0);
    }
    Ok(())
}

/// Deletes up to `blocks_max` blocks of a run and tells how many; fewer when none is left.
fn delete_blocks(
    table: &mut RunTableMut<'_>,
    run: u64,
    blocks_max: usize,
) -> Result<usize, StoreError> {
    let (start, end) = (key(run, &[]), key(run + 1, &[]));
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
