//! Searches in a run: for the entries between two bounds, and for a payload.

use super::block::{block_key, entry_at, first_entry};
use crate::{
    StoreError,
    index::{key::Kind, memtable::between},
    tables::schema::RunTable,
};
use redb::Range;
use std::ops::ControlFlow;

/// Returns the blocks of a run from the one that may contain `low`.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(super) fn blocks_from(
    table: &RunTable,
    run: u64,
    low: &[u8],
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, low) = (block_key(run, &[]), block_key(run, low));
    let floor = table
        .range(start.as_slice()..=low.as_slice())?
        .next_back()
        .transpose()?;
    let from = floor.map_or(start, |(key, _)| key.value().to_vec());
    let end = block_key(run + 1, &[]);
    Ok(table.range(from.as_slice()..end.as_slice())?)
}

/// Calls `visit` with the entries from `low` to `high`, both inclusive, ascending.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn ascend<B>(
    kind: Kind,
    table: &RunTable,
    run: u64,
    low: &[u8],
    high: &[u8],
    visit: &mut impl FnMut(&[u8]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, StoreError> {
    for block in blocks_from(table, run, low)? {
        let (key, block) = block?;
        if first_entry(key.value()) > high {
            break;
        }
        let found = between(block.value(), kind.width(), low, high);
        for entry in block.value()[found].chunks_exact(kind.width()) {
            if let ControlFlow::Break(end) = visit(entry) {
                return Ok(ControlFlow::Break(end));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Calls `visit` with the entries from `low` to `high`, both inclusive, descending.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn descend<B>(
    kind: Kind,
    table: &RunTable,
    run: u64,
    low: &[u8],
    high: &[u8],
    visit: &mut impl FnMut(&[u8]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, StoreError> {
    let (start, end) = (block_key(run, &[]), block_key(run, high));
    for block in table.range(start.as_slice()..=end.as_slice())?.rev() {
        let (key, block) = block?;
        let found = between(block.value(), kind.width(), low, high);
        for entry in block.value()[found].chunks_exact(kind.width()).rev() {
            if let ControlFlow::Break(end) = visit(entry) {
                return Ok(ControlFlow::Break(end));
            }
        }
        if first_entry(key.value()) < low {
            break;
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Returns the payload of `entry` in a run.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn payload(
    kind: Kind,
    table: &RunTable,
    run: u64,
    entry: &[u8],
) -> Result<Option<Vec<u8>>, StoreError> {
    let (start, end) = (block_key(run, &[]), block_key(run, entry));
    let Some(block) = table.range(start.as_slice()..=end.as_slice())?.next_back() else {
        return Ok(None);
    };
    let (_, block) = block?;
    let block = block.value();
    let mut offset = 0;
    while let Some((found, payload, next)) = entry_at(kind, block, offset) {
        if found == entry {
            return Ok(Some(payload.to_vec()));
        }
        offset = next;
    }
    Ok(None)
}
