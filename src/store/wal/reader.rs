//! Reading of the log at a start: the records of one generation, up to the last complete one.
//!
//! A record is written only after the one before it was synced. So only the last record may be
//! torn, and it was never acknowledged. An incomplete record with a later one after it was synced,
//! and is damaged. An incomplete last record is reported, because later damage looks the same.

use super::{
    record::{HEADER_BYTES, Header, PAGE_BYTES},
    torn::{ExpectedRecord, TornRecord},
};
use crate::tables::digest::LogKey;
use redb::StorageBackend;
use std::{io, sync::Arc};

/// Number of bytes that a search for later records reads at a time.
const SEARCH_BYTES: u64 = 1024 * 1024;

/// A reason why the next record cannot be read.
#[derive(Debug)]
pub(crate) enum WalReadError {
    /// The disk fails to read.
    Unreadable(io::Error),
    /// An acknowledged record is incomplete.
    Damaged(String),
}

impl From<io::Error> for WalReadError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A reader of the records of one generation.
#[derive(Debug)]
pub(crate) struct WalReader {
    file: Arc<dyn StorageBackend>,
    key: LogKey,
    generation: u64,
    /// Length of the file, in bytes.
    length: u64,
    /// Offset of the next record, in bytes.
    offset: u64,
    /// Number of the next record.
    number: u64,
}

impl WalReader {
    /// Creates a reader that starts at the first record of `generation`.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of the file cannot be read.
    pub(super) fn new(
        file: Arc<dyn StorageBackend>,
        key: LogKey,
        generation: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            length: file.len()?,
            file,
            key,
            generation,
            offset: 0,
            number: 0,
        })
    }

    /// Returns the offset of the next record, in bytes.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the height before the next record and its content, or `None` after the last record.
    ///
    /// # Errors
    ///
    /// Returns [`WalReadError::Unreadable`] if the disk fails, and [`WalReadError::Damaged`] if the
    /// next record is incomplete and a later one exists.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, WalReadError> {
        if let Some((header, content)) = self.read_record()? {
            self.offset += header.record_bytes().unwrap_or(PAGE_BYTES);
            self.number += 1;
            return Ok(Some((header.height, content)));
        }
        match self.find_later()? {
            None => Ok(None),
            Some((offset, number)) => Err(WalReadError::Damaged(format!(
                "record {} at byte {} is not whole, and record {number} at byte {offset} was written after it",
                self.number, self.offset
            ))),
        }
    }

    /// Returns the incomplete record at which the reading has stopped, or `None` if nothing shows
    /// that there is one.
    ///
    /// The caller must have read all records.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk fails to read.
    pub(crate) fn torn_record(&self) -> io::Result<Option<TornRecord>> {
        let rest_bytes = self.length.saturating_sub(self.offset);
        if rest_bytes == 0 {
            return Ok(None);
        }
        let mut first_bytes = [0; HEADER_BYTES];
        let count = rest_bytes.min(HEADER_BYTES as u64);
        let first_bytes = &mut first_bytes[..usize::try_from(count).unwrap_or_default()];
        self.file.read(self.offset, first_bytes)?;
        let expected = ExpectedRecord {
            generation: self.generation,
            number: self.number,
            offset: self.offset,
            rest_bytes,
        };
        Ok(expected.torn(first_bytes, &self.key))
    }

    /// Reads the next record, or returns `None` if it is not complete.
    fn read_record(&self) -> io::Result<Option<(Header, Vec<u8>)>> {
        let content_offset = self.offset.saturating_add(HEADER_BYTES as u64);
        if content_offset > self.length {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        self.file.read(self.offset, &mut header)?;
        let header = match Header::decode(&header, &self.key) {
            Some(header)
                if (header.generation, header.number) == (self.generation, self.number) =>
            {
                header
            }
            _ => return Ok(None),
        };
        // This bounds the memory as well: no content is longer than the file.
        if header.content_bytes > self.length - content_offset {
            return Ok(None);
        }
        let mut content = vec![0; usize::try_from(header.content_bytes).unwrap_or_default()];
        self.file.read(content_offset, &mut content)?;
        let is_complete = header.matches(&content, &self.key);
        Ok(is_complete.then_some((header, content)))
    }

    /// Returns offset and number of a record that was written after the next one, if any.
    fn find_later(&self) -> io::Result<Option<(u64, u64)>> {
        let mut pages = vec![0; SEARCH_BYTES as usize];
        let mut begin = self.offset;
        while begin < self.length {
            let count = (self.length - begin).min(SEARCH_BYTES);
            let read = &mut pages[..usize::try_from(count).unwrap_or_default()];
            self.file.read(begin, read)?;
            for (offset, page) in (begin..)
                .step_by(PAGE_BYTES as usize)
                .zip(read.chunks(PAGE_BYTES as usize))
            {
                let header = Header::decode(page, &self.key);
                let is_later = |header: &Header| {
                    header.generation == self.generation && header.number > self.number
                };
                if let Some(header) = header.filter(is_later) {
                    return Ok(Some((offset, header.number)));
                }
            }
            begin += count;
        }
        Ok(None)
    }
}
