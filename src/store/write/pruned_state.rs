//! What is known of what lies below the window, in runs of their own: the state as it was just below
//! it, one value per key, and how many events of each stream are gone.
//!
//! Rows below the window are deleted by range. What a key still held there moves into `PrunedState` runs:
//! the last write of every key in the pruned versions, sorted by digest. A read looks for a write
//! inside the window first, then for the newest value in these runs. Merging them drops what was
//! overwritten, so they stay in proportion to the live state, and nothing needs a map of all keys. A
//! stream has an entry as soon as one of its events was pruned, and keeps it: its number of events is
//! part of the live state as well, at its handle.

use crate::{
    StoreError,
    tables::{
        codec::{DELETION, STREAM, VALUE, decode, encode, stream_position},
        digest::{DigestKey, StateDigest},
        schema::{Position, PositionTable},
    },
};
use serde::Deserialize;
use std::{cmp::Reverse, ops::Range};

/// A write, of which only what it does is of interest.
#[derive(Deserialize)]
#[expect(
    dead_code,
    reason = "the value is decoded so that a damaged row is told"
)]
enum WriteKind<'a> {
    Put(#[serde(borrow)] &'a [u8]),
    Delete,
}

/// What pruned versions leave: digests, each with the payload it gets. All payloads lie in one buffer.
#[derive(Debug, Default)]
pub(crate) struct PrunedStateBatch {
    places: Vec<(StateDigest, Range<usize>)>,
    payloads: Vec<u8>,
}

impl PrunedStateBatch {
    fn push(&mut self, digest: StateDigest, kind: u8, rest: &[u8]) {
        let begin = self.payloads.len();
        self.payloads.push(kind);
        self.payloads.extend_from_slice(rest);
        self.places.push((digest, begin..self.payloads.len()));
    }

    /// Leaves of each digest what was added last, ascending.
    fn keep_last(&mut self) {
        self.places
            .sort_unstable_by_key(|(digest, place)| (*digest, Reverse(place.start)));
        self.places.dedup_by_key(|(digest, _)| *digest);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The digests with their payloads.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let places = self.places.iter();
        places.map(|(digest, place)| (digest.as_slice(), &self.payloads[place.clone()]))
    }
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
) -> Result<PrunedStateBatch, StoreError> {
    let mut entries = PrunedStateBatch::default();
    let places = (versions.start, 0)..(versions.end, 0);
    for row in writes.range(places.clone())? {
        let (place, row) = row?;
        push_write(&mut entries, place.value(), row.value(), key)?;
    }
    for row in events.range(places)? {
        let (place, row) = row?;
        push_event(&mut entries, place.value(), row.value(), key)?;
    }
    entries.keep_last();
    Ok(entries)
}

/// Adds a write: whether it holds a value, then the row as it was.
fn push_write(
    entries: &mut PrunedStateBatch,
    place: Position,
    row: &[u8],
    key: &DigestKey,
) -> Result<(), StoreError> {
    let (state_key, write): (&[u8], WriteKind<'_>) = decode(row, format_args!("write {place:?}"))?;
    let kind = match write {
        WriteKind::Put(_) => VALUE,
        WriteKind::Delete => DELETION,
    };
    entries.push(key.encoded_state_key(state_key), kind, row);
    Ok(())
}

/// Adds where the stream of an event goes on, if it is of one.
fn push_event(
    entries: &mut PrunedStateBatch,
    place: Position,
    row: &[u8],
    key: &DigestKey,
) -> Result<(), StoreError> {
    if let Some((stream, number)) = stream_position(row, place)? {
        let end = encode(&(stream, number.saturating_add(1)))?;
        entries.push(key.stream_end(&stream), STREAM, &end);
    }
    Ok(())
}
