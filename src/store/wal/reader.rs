//! Reading a log at the start: the records of its generation, up to the last that is whole.
//!
//! A record is written only when the one before it is synced. So at most the last one may be torn, and nothing
//! was acknowledged of it. One that is not whole and has a later one behind it was synced, and is damaged.

use crate::{
    tables::digest::LogKey,
    wal::record::{HEADER_BYTES, Header, PAGE_BYTES},
};
use redb::StorageBackend;
use std::{io, sync::Arc};

/// How much is read at once while looking for records.
const LOOK_BYTES: u64 = 1024 * 1024;

/// Why a log is not read on.
#[derive(Debug)]
pub(crate) enum WalReadError {
    /// The disk does not read.
    Unreadable(io::Error),
    /// Something that was acknowledged is gone.
    Damaged(String),
}

impl From<io::Error> for WalReadError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A log that is read.
#[derive(Debug)]
pub(crate) struct WalReader {
    file: Arc<dyn StorageBackend>,
    key: LogKey,
    generation: u64,
    length: u64,
    /// Where the next record begins.
    at: u64,
    /// Its number.
    number: u64,
}

impl WalReader {
    /// Begins to read the records of a generation.
    ///
    /// # Errors
    /// When the disk does not tell how long the file is.
    pub(crate) fn new(
        file: Arc<dyn StorageBackend>,
        key: LogKey,
        generation: u64,
    ) -> io::Result<Self> {
        Ok(Self {
            length: file.len()?,
            file,
            key,
            generation,
            at: 0,
            number: 0,
        })
    }

    /// The height before the next record, and its content; `None` behind the last one.
    ///
    /// # Errors
    /// When the disk does not read, or a record is damaged that was synced.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, WalReadError> {
        if let Some((header, content)) = self.record()? {
            self.at += header.record_bytes().unwrap_or(PAGE_BYTES);
            self.number += 1;
            return Ok(Some((header.height, content)));
        }
        match self.later()? {
            None => Ok(None),
            Some((place, number)) => Err(WalReadError::Damaged(format!(
                "record {} at byte {} is not whole, and record {number} at byte {place} was written after it",
                self.number, self.at
            ))),
        }
    }

    /// The record that is to come next, if it is whole.
    fn record(&self) -> io::Result<Option<(Header, Vec<u8>)>> {
        let content_at = self.at.saturating_add(HEADER_BYTES as u64);
        if content_at > self.length {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        self.file.read(self.at, &mut header)?;
        let header = match Header::decode(&header, &self.key) {
            Some(header)
                if (header.generation, header.number) == (self.generation, self.number) =>
            {
                header
            }
            _ => return Ok(None),
        };
        // Also what bounds the memory: no content is longer than the file.
        if header.content_bytes > self.length - content_at {
            return Ok(None);
        }
        let mut content = vec![0; usize::try_from(header.content_bytes).unwrap_or_default()];
        self.file.read(content_at, &mut content)?;
        let is_whole = header.is_of(&content, &self.key);
        Ok(is_whole.then_some((header, content)))
    }

    /// Place and number of a record of this generation that was written after the one that is to come next.
    fn later(&self) -> io::Result<Option<(u64, u64)>> {
        let mut pages = vec![0; LOOK_BYTES as usize];
        let mut from = self.at;
        while from < self.length {
            let count = (self.length - from).min(LOOK_BYTES);
            let read = &mut pages[..usize::try_from(count).unwrap_or_default()];
            self.file.read(from, read)?;
            for (place, page) in (from..)
                .step_by(PAGE_BYTES as usize)
                .zip(read.chunks(PAGE_BYTES as usize))
            {
                let header = Header::decode(page, &self.key);
                let is_later = |header: &Header| {
                    header.generation == self.generation && header.number > self.number
                };
                if let Some(header) = header.filter(is_later) {
                    return Ok(Some((place, header.number)));
                }
            }
            from += count;
        }
        Ok(None)
    }
}
