//! What is known of what lies below the window, in runs of their own: the state as it was just below
//! it, one value per key, and how many events of each stream are gone.
//!
//! Rows below the window are deleted by range. What a key still held there moves into `Base` runs:
//! the last write of every key in the pruned versions, sorted by digest. A read looks for a write
//! inside the window first, then for the newest value in these runs. Merging them drops what was
//! overwritten, so they stay in proportion to the live state, and nothing needs a map of all keys. A
//! stream has an entry as soon as one of its events was pruned, and keeps it: its number of events is
//! part of the live state as well, at its handle.

use crate::{
    StoreError,
    digest::{DigestKey, StateDigest},
    schema::{PositionTable, decode, encode},
};
use ledger::{ContractEvent, EventKey, StateKey, WriteOp};
use std::{collections::HashMap, fmt::Display, ops::Range};

/// A digest with the payload it gets.
pub(crate) type BaseEntry = (StateDigest, Vec<u8>);

/// Begins the payload of a key that holds nothing; a merge need not decode the rest to know.
const DELETION: u8 = 0;
/// Begins the payload of a key that holds a value.
const VALUE: u8 = 1;
/// Begins the payload of a stream of events.
const STREAM: u8 = 2;

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

/// The key and the write of a base entry; `None` of one that is a stream's.
pub(crate) fn decode_payload(payload: &[u8]) -> Result<Option<(StateKey, WriteOp)>, StoreError> {
    match payload.split_first() {
        Some((&STREAM, _)) => Ok(None),
        _ => decode_write(payload.get(1..).unwrap_or_default(), "the state below the window").map(Some),
    }
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

/// What `versions` leave in the base when they go, ascending by digest: the last write of every key, and
/// where every stream goes on.
pub(crate) fn entries_of(
    (writes, events): (&PositionTable, &PositionTable),
    versions: Range<u64>,
    key: &DigestKey,
) -> Result<Vec<BaseEntry>, StoreError> {
    let mut entries = last_writes(writes, versions.clone(), key)?;
    entries.extend(stream_ends(events, versions, key)?);
    entries.sort_unstable_by_key(|(digest, _)| *digest);
    Ok(entries)
}

/// The last write of every key within `versions`: digests with payloads.
fn last_writes(
    writes: &PositionTable,
    versions: Range<u64>,
    key: &DigestKey,
) -> Result<Vec<BaseEntry>, StoreError> {
    let mut last = HashMap::new();
    for row in writes.range((versions.start, 0)..(versions.end, 0))? {
        let (position, row) = row?;
        let (state_key, operation): (StateKey, WriteOp) =
            decode_write(row.value(), format_args!("write {:?}", position.value()))?;
        let digest = key.state_key(&state_key);
        last.insert(digest, payload(row.value(), &operation));
    }
    Ok(last.into_iter().collect())
}

/// The number after the last event of every stream within `versions`: digests with payloads.
fn stream_ends(
    events: &PositionTable,
    versions: Range<u64>,
    key: &DigestKey,
) -> Result<Vec<BaseEntry>, StoreError> {
    let mut ends: HashMap<EventKey, u64> = HashMap::new();
    for row in events.range((versions.start, 0)..(versions.end, 0))? {
        let (position, row) = row?;
        let event: ContractEvent = decode(row.value(), format_args!("event {:?}", position.value()))?;
        if let Some((stream, number)) = event.stream_position() {
            ends.insert(stream, number.saturating_add(1));
        }
    }
    let entry = |(stream, end): (EventKey, u64)| {
        let mut payload = vec![STREAM];
        payload.extend(encode(&(stream, end))?);
        Ok((key.stream_end(&stream), payload))
    };
    ends.into_iter().map(entry).collect()
}

/// The stream and the number after its last pruned event, of a stream's entry.
pub(crate) fn decode_stream_end(payload: &[u8]) -> Result<(EventKey, u64), StoreError> {
    decode(payload.get(1..).unwrap_or_default(), "the end of a pruned stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_a_stream_is_no_state_key() {
        let stream = EventKey {
            creation_number: 1,
            account_address: ledger::AccountAddress::ONE,
        };
        let mut entry = vec![STREAM];
        entry.extend(encode(&(stream, 5u64)).unwrap());
        assert_eq!(decode_payload(&entry).unwrap(), None);
        assert_eq!(decode_stream_end(&entry).unwrap(), (stream, 5));
    }
}
