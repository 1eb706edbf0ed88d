//! The pruned state: what a step of pruning moves to the index [`Kind::PrunedState`].
//!
//! Each step writes one run, which holds the last write of every key in the pruned versions, sorted
//! by digest. A read looks for a write inside the window first, then for the newest value in these
//! runs. Merging them drops overwritten values, so their size is in proportion to the live state,
//! and nothing needs a map of all keys.
//!
//! An event stream has an entry once one of its events was pruned, and keeps it. The entry holds
//! the number after the last pruned event: the handle of the stream, which is part of the live
//! state, holds a counter of events as well.

#[cfg(doc)]
use crate::index::Kind;
use crate::{
    StoreError,
    tables::{
        codec::{DELETION, STREAM, VALUE, decode, encode, stream_position},
        digest::{DigestKey, StateDigest},
        schema::{Position, PositionTable, Tables},
    },
};
use serde::Deserialize;
use std::{cmp::Reverse, ops::Range};

/// A write operation without a copy of its value.
#[derive(Deserialize)]
#[expect(
    dead_code,
    reason = "the value is decoded so that a damaged row is an error"
)]
enum BorrowedWriteOp<'a> {
    Create(#[serde(borrow)] &'a [u8]),
    Modify(#[serde(borrow)] &'a [u8]),
    Delete,
}

/// Entries of the pruned state, as digests with payloads. One buffer holds all payloads.
#[derive(Debug, Default)]
pub(super) struct PrunedStateBatch {
    /// Digests with the range of their payload.
    entries: Vec<(StateDigest, Range<usize>)>,
    payloads: Vec<u8>,
}

impl PrunedStateBatch {
    /// Reads the entries that replace the rows of `versions`, ascending by digest.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub(super) fn read(
        tables: &Tables,
        versions: Range<u64>,
        digest_key: &DigestKey,
    ) -> Result<Self, StoreError> {
        let mut batch = Self::default();
        let positions = (versions.start, 0)..(versions.end, 0);
        for row in tables.writes.range(positions.clone())? {
            let (position, row) = row?;
            batch.push_write(position.value(), row.value(), digest_key)?;
        }
        for row in tables.events.range(positions)? {
            let (position, row) = row?;
            batch.push_event(position.value(), row.value(), digest_key)?;
        }
        batch.retain_last();
        Ok(batch)
    }

    /// Adds a write: a tag for its operation, then the row.
    fn push_write(
        &mut self,
        position: Position,
        row: &[u8],
        digest_key: &DigestKey,
    ) -> Result<(), StoreError> {
        let (state_key, write): (&[u8], BorrowedWriteOp<'_>) =
            decode(row, format_args!("write {position:?}"))?;
        let tag = match write {
            BorrowedWriteOp::Create(_) | BorrowedWriteOp::Modify(_) => VALUE,
            BorrowedWriteOp::Delete => DELETION,
        };
        self.push(digest_key.encoded_state_key(state_key), tag, row);
        Ok(())
    }

    /// Adds the number after an event, if the event belongs to a stream.
    fn push_event(
        &mut self,
        position: Position,
        row: &[u8],
        digest_key: &DigestKey,
    ) -> Result<(), StoreError> {
        if let Some((stream, number)) = stream_position(row, position)? {
            let end = encode(&(stream, number.saturating_add(1)))?;
            self.push(digest_key.stream_end(&stream), STREAM, &end);
        }
        Ok(())
    }

    fn push(&mut self, digest: StateDigest, tag: u8, rest: &[u8]) {
        let begin = self.payloads.len();
        self.payloads.push(tag);
        self.payloads.extend_from_slice(rest);
        self.entries.push((digest, begin..self.payloads.len()));
    }

    /// Sorts the entries by digest, and retains the one that was added last for each digest.
    fn retain_last(&mut self) {
        self.entries
            .sort_unstable_by_key(|(digest, payload)| (*digest, Reverse(payload.start)));
        self.entries.dedup_by_key(|(digest, _)| *digest);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the digests with their payloads.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let entries = self.entries.iter();
        entries.map(|(digest, payload)| (digest.as_slice(), &self.payloads[payload.clone()]))
    }
}

/// Versions whose writes a step of pruning moves.
pub(super) struct StepWrites {
    /// The first version after them.
    pub(super) end: u64,
    /// Size of the writes, in bytes.
    pub(super) write_bytes: usize,
}

/// Returns the first of `versions` whose writes bring the sum of their sizes above `bytes_max`, or
/// the end of `versions`, with the sum before it.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(super) fn end_within(
    writes: &PositionTable,
    versions: Range<u64>,
    bytes_max: usize,
) -> Result<StepWrites, StoreError> {
    let mut write_bytes = 0;
    for row in writes.range((versions.start, 0)..(versions.end, 0))? {
        let (position, row) = row?;
        let row_bytes = row.value().len();
        if write_bytes + row_bytes > bytes_max {
            let end = position.value().0;
            return Ok(StepWrites { end, write_bytes });
        }
        write_bytes += row_bytes;
    }
    let end = versions.end;
    Ok(StepWrites { end, write_bytes })
}
