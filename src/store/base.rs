//! The state as it was just below the window: one value per key, in runs of their own.
//!
//! Rows below the window are deleted by range. What a key still held there moves into `Base` runs:
//! the last write of every key in the pruned versions, sorted by digest. A read looks for a write
//! inside the window first, then for the newest value in these runs. Merging them drops what was
//! overwritten, so they stay in proportion to the live state, and nothing needs a map of all keys.

use crate::{
    StoreError,
    digest::{DigestKey, STATE_DIGEST_BYTES},
    schema::{PositionTable, decode},
};
use ledger::{StateKey, WriteOp};
use std::{collections::HashMap, fmt::Display, ops::Range};

/// A digest with the payload it gets.
pub(crate) type BaseEntry = ([u8; STATE_DIGEST_BYTES], Vec<u8>);

/// Begins the payload of a key that holds nothing; a merge need not decode the rest to know.
const DELETION: u8 = 0;
/// Begins the payload of a key that holds a value.
const VALUE: u8 = 1;

/// A write as the payload of a base entry: whether it holds a value, then the row as it was.
fn payload(row: &[u8], operation: &WriteOp) -> Vec<u8> {
    let mut payload = Vec::with_capacity(1 + row.len());
    payload.push(match operation {
        WriteOp::Put(_) => VALUE,
        WriteOp::Delete => DELETION,
    });
    payload.extend_from_slice(row);
    payload
}

/// Whether a base entry says that the key holds nothing.
pub(crate) fn is_deletion(payload: &[u8]) -> bool {
    payload.first() == Some(&DELETION)
}

/// The key and the write of a base entry.
pub(crate) fn decode_payload(payload: &[u8]) -> Result<(StateKey, WriteOp), StoreError> {
    decode_write(payload.get(1..).unwrap_or_default(), "the state below the window")
}

/// The key and the write of a row; `what` names it should the bytes be none.
pub(crate) fn decode_write(bytes: &[u8], what: impl Display) -> Result<(StateKey, WriteOp), StoreError> {
    decode(bytes, what)
}

/// Where among `versions` the writes from the start on exceed `bytes_max`, or the end of `versions`.
pub(crate) fn end_within(
    writes: &PositionTable,
    versions: Range<u64>,
    bytes_max: usize,
) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for row in writes.range((versions.start, 0)..(versions.end, 0))? {
        let (position, row) = row?;
        bytes += row.value().len();
        if bytes > bytes_max {
            return Ok(position.value().0);
        }
    }
    Ok(versions.end)
}

/// The last write of every key within `versions`, ascending by digest: digests with payloads.
pub(crate) fn last_writes(
    writes: &PositionTable,
    versions: Range<u64>,
    key: &DigestKey,
) -> Result<Vec<BaseEntry>, StoreError> {
    let mut last = HashMap::new();
    for row in writes.range((versions.start, 0)..(versions.end, 0))? {
        let (position, row) = row?;
        let (state_key, operation): (StateKey, WriteOp) =
            decode_write(row.value(), format_args!("write {:?}", position.value()))?;
        let digest = key.state_key(state_key.as_bytes());
        last.insert(digest, payload(row.value(), &operation));
    }
    let mut last: Vec<_> = last.into_iter().collect();
    last.sort_unstable_by_key(|(digest, _)| *digest);
    Ok(last)
}
