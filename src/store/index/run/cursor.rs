//! Cursors over the entries of a run.

use super::{block::entry_at, reader::blocks_from};
use crate::{StoreError, index::key::Kind, tables::schema::RunTable};
use redb::{AccessGuard, Range};

type BlockGuard = AccessGuard<'static, &'static [u8]>;

/// A cursor over the entries of a run, in order.
pub(crate) struct RunCursor {
    kind: Kind,
    blocks: Range<'static, &'static [u8], &'static [u8]>,
    block: Option<BlockGuard>,
    entry: Option<EntryOffsets>,
}

/// Offsets of an entry in its block.
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
    /// Creates a cursor at the first entry above `after`. An empty `after` is below all entries.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
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
        self.entry = self.offsets_at(0);
        Ok(())
    }

    fn offsets_at(&self, offset: usize) -> Option<EntryOffsets> {
        EntryOffsets::at(self.kind, self.block.as_ref()?.value(), offset)
    }

    /// Returns the current entry and its payload, or `None` after the last entry.
    pub(crate) fn peek(&self) -> Option<(&[u8], &[u8])> {
        let (block, offsets) = (self.block.as_ref()?.value(), self.entry?);
        let entry = &block[offsets.begin..offsets.begin + self.kind.width()];
        Some((entry, &block[offsets.payload_begin..offsets.end]))
    }

    /// Moves to the next entry.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn advance(&mut self) -> Result<(), StoreError> {
        if self.block.is_none() {
            return Ok(());
        }
        self.entry = self.entry.and_then(|offsets| self.offsets_at(offsets.end));
        if self.entry.is_none() {
            self.next_block()?;
        }
        Ok(())
    }
}
