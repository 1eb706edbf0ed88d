//! The remains of a record at the end of a log, which a start does not apply.

use super::record::{HEADER_BYTES, Header, START_BYTES, start_of_header};
use crate::tables::digest::LogKey;
use std::fmt;

/// An incomplete record after the last complete one.
///
/// A crash during a write leaves one that was never acknowledged. Later damage of the last record
/// looks the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TornRecord {
    /// Number of the record in its generation, from 0.
    pub number: u64,
    /// Offset of the record in the log, in bytes.
    pub offset: u64,
    /// Size of the record as its header states it, or the rest of the file if that is less, in
    /// bytes.
    pub bytes: u64,
    /// The part of the record that is incomplete.
    pub defect: RecordDefect,
}

/// The part of a record that is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordDefect {
    /// The file ends within the record.
    Length,
    /// The header does not match its digest.
    Header,
    /// The content does not match its digest.
    Content,
}

impl fmt::Display for RecordDefect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Length => "the file ends within the record",
            Self::Header => "the header does not match its digest",
            Self::Content => "the content does not match its digest",
        })
    }
}

/// The position and the identity of the record that would follow the last complete one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedRecord {
    pub(super) generation: u64,
    pub(super) number: u64,
    /// Offset in the file, in bytes.
    pub(super) offset: u64,
    /// Number of bytes from the offset to the end of the file.
    pub(super) rest_bytes: u64,
}

impl ExpectedRecord {
    /// Returns the incomplete record that begins with `bytes`, the first ones at the offset, or
    /// `None` if they are not recognizable as its header.
    ///
    /// A restart of the log overwrites it from its first byte, so these bytes are usually zeros,
    /// the start of an older record, or a part of its content.
    pub(super) fn torn(&self, bytes: &[u8], key: &LogKey) -> Option<TornRecord> {
        if bytes.len() < HEADER_BYTES {
            let start = start_of_header(self.generation, self.number);
            let compared = bytes.len().min(START_BYTES);
            let is_start = compared > 0 && bytes[..compared] == start[..compared];
            return is_start.then(|| self.with_defect(RecordDefect::Length, self.rest_bytes));
        }
        let (header, is_valid) = match Header::decode(bytes, key) {
            Some(header)
                if (header.generation, header.number) != (self.generation, self.number) =>
            {
                return None;
            }
            Some(header) => (header, true),
            None => {
                let damaged = Header::decode_damaged(bytes, key, self.generation, self.number)?;
                (damaged, false)
            }
        };
        let stated_bytes = header.record_bytes().unwrap_or(u64::MAX);
        let defect = if !is_valid {
            RecordDefect::Header
        } else if header.content_bytes > self.rest_bytes.saturating_sub(HEADER_BYTES as u64) {
            RecordDefect::Length
        } else {
            RecordDefect::Content
        };
        Some(self.with_defect(defect, stated_bytes.min(self.rest_bytes)))
    }

    fn with_defect(&self, defect: RecordDefect, bytes: u64) -> TornRecord {
        TornRecord {
            number: self.number,
            offset: self.offset,
            bytes,
            defect,
        }
    }
}
