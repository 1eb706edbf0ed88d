//! A run in the table: blocks of packed entries, keyed by the run's number and the first entry. Its filter stands in the
//! same table under a number of its own.

use crate::index::{
    bloom::{self, BloomFilterWriter, Segment, bloom_id},
    key::Kind,
    memtable::between,
};
use crate::{StoreError, tables::schema::RunTable};
use redb::{AccessGuard, CursorMut, Range, ReadableTable, Table};
use std::ops::{Bound, ControlFlow};

/// The largest block. With its key it fills a page of 4 KiB and never needs a second one.
const BLOCK_BYTES: usize = 3_900;
/// Bytes before a payload that tell its length.
const LENGTH_BYTES: usize = 4;

/// The table of runs, opened for writing.
pub(crate) type RunTableMut<'t> = Table<'t, &'static [u8], &'static [u8]>;
type Guard = AccessGuard<'static, &'static [u8]>;

/// The key of a block; with no entry, the place before the first block of the run.
fn key(run: u64, entry: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + entry.len());
    key.extend_from_slice(&run.to_be_bytes());
    key.extend_from_slice(entry);
    key
}

/// The first entry of the block with `key`.
pub(super) fn first_entry(key: &[u8]) -> &[u8] {
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

/// Appends entries to a run, in order.
pub(crate) struct RunWriter<'t> {
    kind: Kind,
    run: u64,
    cursor: CursorMut<'t, &'static [u8], &'static [u8]>,
    first: Vec<u8>,
    block: Vec<u8>,
    filter: BloomFilterWriter,
    written: u64,
}

/// What was appended to a run.
pub(crate) struct AppendedRun {
    run: u64,
    /// How many entries.
    pub entries: u64,
    filter: Vec<Segment>,
}

impl AppendedRun {
    /// Writes the filter of the entries.
    pub(crate) fn write_filter(&self, table: &mut RunTableMut<'_>) -> Result<(), StoreError> {
        for (first, row) in &self.filter {
            let key = key(bloom_id(self.run), first);
            let replaced = table.get(key.as_slice())?.map(|row| row.value().to_vec());
            let row = bloom::replacing(row, replaced.as_deref());
            table.insert(key.as_slice(), row.as_slice())?;
        }
        Ok(())
    }
}

impl<'t> RunWriter<'t> {
    /// Goes on after the last block of `run`.
    pub(crate) fn new(
        kind: Kind,
        run: u64,
        table: &'t mut RunTableMut<'_>,
    ) -> Result<Self, StoreError> {
        let end = key(run + 1, &[]);
        Ok(Self {
            kind,
            run,
            cursor: table.upper_bound_mut(Bound::Excluded(end.as_slice()))?,
            first: Vec::new(),
            block: Vec::with_capacity(BLOCK_BYTES),
            filter: BloomFilterWriter::default(),
            written: 0,
        })
    }

    /// Appends an entry, which is greater than all before.
    pub(crate) fn push(&mut self, entry: &[u8], payload: &[u8]) -> Result<(), StoreError> {
        let length = if self.kind.has_payload() {
            LENGTH_BYTES + payload.len()
        } else {
            0
        };
        if self.block.len() + entry.len() + length > BLOCK_BYTES {
            self.end_block()?;
        }
        if self.block.is_empty() {
            self.first.clear();
            self.first.extend_from_slice(entry);
        }
        self.block.extend_from_slice(entry);
        if self.kind.has_payload() {
            let length = u32::try_from(payload.len())
                .map_err(|_| StoreError::Inconsistent("a state value of over 4 GiB".to_owned()))?;
            self.block.extend_from_slice(&length.to_le_bytes());
            self.block.extend_from_slice(payload);
        }
        if let Some(bytes) = self.kind.bloom_key_bytes() {
            self.filter.push(&entry[..bytes]);
        }
        self.written += 1;
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), StoreError> {
        if !self.block.is_empty() {
            self.cursor
                .insert_before(key(self.run, &self.first).as_slice(), self.block.as_slice())?;
            self.block.clear();
        }
        Ok(())
    }

    /// Writes what is left and tells what was appended.
    pub(crate) fn close(mut self) -> Result<AppendedRun, StoreError> {
        self.end_block()?;
        self.cursor.close()?;
        Ok(AppendedRun {
            run: self.run,
            entries: self.written,
            filter: self.filter.finish(),
        })
    }
}

/// All blocks under a number.
pub(super) fn blocks(
    table: &RunTable,
    run: u64,
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, end) = (key(run, &[]), key(run + 1, &[]));
    Ok(table.range(start.as_slice()..end.as_slice())?)
}

/// Deletes up to `blocks_max` blocks of a run and tells how many; fewer when none is left.
pub(crate) fn delete_blocks(
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

/// Goes through the entries of a run in order.
pub(crate) struct RunCursor {
    kind: Kind,
    blocks: Range<'static, &'static [u8], &'static [u8]>,
    block: Option<Guard>,
    entry: Option<EntryOffsets>,
}

/// Where in its block an entry lies.
#[derive(Clone, Copy)]
struct EntryOffsets {
    begin: usize,
    payload_begin: usize,
    end: usize,
}

impl EntryOffsets {
    fn at(kind: Kind, block: &[u8], begin: usize) -> Option<Self> {
        let (_, payload, end) = entry_at(kind, block, begin)?;
        Some(Self {
            begin,
            payload_begin: end - payload.len(),
            end,
        })
    }
}

impl RunCursor {
    /// Starts at the first entry above `after`; an empty `after` is below all.
    pub(crate) fn new(
        kind: Kind,
        table: &RunTable,
        run: u64,
        after: &[u8],
    ) -> Result<Self, StoreError> {
        let mut cursor = Self {
            kind,
            blocks: blocks_from(table, run, after)?,
            block: None,
            entry: None,
        };
        cursor.next_block()?;
        while cursor.peek().is_some_and(|(entry, _)| entry <= after) {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    fn next_block(&mut self) -> Result<(), StoreError> {
        self.block = self.blocks.next().transpose()?.map(|(_, block)| block);
        self.entry = self.place_at(0);
        Ok(())
    }

    fn place_at(&self, offset: usize) -> Option<EntryOffsets> {
        EntryOffsets::at(self.kind, self.block.as_ref()?.value(), offset)
    }

    /// The entry the cursor is at, with its payload.
    pub(crate) fn peek(&self) -> Option<(&[u8], &[u8])> {
        let (block, place) = (self.block.as_ref()?.value(), self.entry?);
        let entry = &block[place.begin..place.begin + self.kind.width()];
        Some((entry, &block[place.payload_begin..place.end]))
    }

    /// Goes to the next entry.
    pub(crate) fn advance(&mut self) -> Result<(), StoreError> {
        if self.block.is_none() {
            return Ok(());
        }
        self.entry = self.entry.and_then(|place| self.place_at(place.end));
        if self.entry.is_none() {
            self.next_block()?;
        }
        Ok(())
    }
}

/// The blocks of a run from the one that could hold `low`.
fn blocks_from(
    table: &RunTable,
    run: u64,
    low: &[u8],
) -> Result<Range<'static, &'static [u8], &'static [u8]>, StoreError> {
    let (start, low) = (key(run, &[]), key(run, low));
    let floor = table
        .range(start.as_slice()..=low.as_slice())?
        .next_back()
        .transpose()?;
    let from = floor.map_or(start, |(key, _)| key.value().to_vec());
    let end = key(run + 1, &[]);
    Ok(table.range(from.as_slice()..end.as_slice())?)
}

/// Calls `visit` with the entries between `low` and `high`, both included, ascending.
pub(crate) fn ascend<B>(
    kind: Kind,
    table: &RunTable,
    run: u64,
    (low, high): (&[u8], &[u8]),
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

/// Calls `visit` with the entries between `low` and `high`, both included, descending.
pub(crate) fn descend<B>(
    kind: Kind,
    table: &RunTable,
    run: u64,
    (low, high): (&[u8], &[u8]),
    visit: &mut impl FnMut(&[u8]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, StoreError> {
    let (start, end) = (key(run, &[]), key(run, high));
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

/// The payload of `entry` in a run.
pub(crate) fn payload(
    kind: Kind,
    table: &RunTable,
    run: u64,
    entry: &[u8],
) -> Result<Option<Vec<u8>>, StoreError> {
    let (start, end) = (key(run, &[]), key(run, entry));
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
