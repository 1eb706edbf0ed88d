//! Writing of runs and their bloom filters.

use super::block::{BLOCK_BYTES, LENGTH_BYTES, RunTableMut, block_key};
use crate::{
    StoreError,
    index::{
        bloom::{BloomFilterWriter, Segment, bloom_id, replacement_row},
        key::Kind,
    },
};
use redb::{CursorMut, ReadableTable};
use std::ops::Bound;

/// A writer that appends entries to a run in order.
pub(crate) struct RunWriter<'t> {
    kind: Kind,
    run: u64,
    cursor: CursorMut<'t, &'static [u8], &'static [u8]>,
    first: Vec<u8>,
    block: Vec<u8>,
    filter: BloomFilterWriter,
    written: u64,
}

/// The entries that a [`RunWriter`] appended.
pub(crate) struct AppendedRun {
    run: u64,
    /// Number of entries.
    pub entries: u64,
    filter: Vec<Segment>,
}

impl AppendedRun {
    /// Writes the bloom filter of the entries.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn write_filter(&self, table: &mut RunTableMut<'_>) -> Result<(), StoreError> {
        for segment in &self.filter {
            let key = block_key(bloom_id(self.run), &segment.first_key);
            let replaced = table.get(key.as_slice())?.map(|row| row.value().to_vec());
            let row = replacement_row(&segment.row, replaced.as_deref());
            table.insert(key.as_slice(), row.as_slice())?;
        }
        Ok(())
    }
}

impl<'t> RunWriter<'t> {
    /// Creates a writer after the last block of `run`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn new(
        kind: Kind,
        run: u64,
        table: &'t mut RunTableMut<'_>,
    ) -> Result<Self, StoreError> {
        let end = block_key(run + 1, &[]);
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

    /// Appends an entry, which must be greater than all before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the payload has 4 GiB or more.
    pub(crate) fn push(&mut self, entry: &[u8], payload: &[u8]) -> Result<(), StoreError> {
        let payload_bytes = if self.kind.has_payload() {
            LENGTH_BYTES + payload.len()
        } else {
            0
        };
        if self.block.len() + entry.len() + payload_bytes > BLOCK_BYTES {
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
            self.cursor.insert_before(
                block_key(self.run, &self.first).as_slice(),
                self.block.as_slice(),
            )?;
            self.block.clear();
        }
        Ok(())
    }

    /// Writes the last block, and returns the appended entries. The caller writes their filter.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
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
