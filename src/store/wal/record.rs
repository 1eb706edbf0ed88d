//! Layout of a record.
//!
//! A record takes whole pages. Numbers are little endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 8 | generation: number of restarts of the log |
//! | 8 | number of the record in its generation, from 0 |
//! | 8 | height of the newest block before the record |
//! | 8 | length of the content |
//! | 16 | digest of the content |
//! | 16 | digest of all fields above |
//! | | content, padded with zeros to a whole page |
//!
//! Digests are keyed with the secret of the directory. Records of another directory are invalid,
//! and no client can send bytes that are read as a record.

use crate::tables::digest::{DIGEST_BYTES, Digest, LogKey};

/// Alignment of records, in bytes: a unit that the disk writes without reading.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// First bytes of every record.
const MAGIC: [u8; 8] = *b"blocklog";
/// Offset of the digest of the header.
const HEADER_DIGEST: usize = 8 * 5 + DIGEST_BYTES;
/// Size of a header, in bytes.
pub(super) const HEADER_BYTES: usize = HEADER_DIGEST + DIGEST_BYTES;

/// Size of the fields that identify a record, in bytes: magic, generation and number.
pub(super) const START_BYTES: usize = 8 * 3;

/// Returns the first bytes of the record with this generation and number.
pub(super) fn start_of_header(generation: u64, number: u64) -> [u8; START_BYTES] {
    let mut start = [0; START_BYTES];
    start[..8].copy_from_slice(&MAGIC);
    start[8..16].copy_from_slice(&generation.to_le_bytes());
    start[16..].copy_from_slice(&number.to_le_bytes());
    start
}

/// The header of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Number of restarts of the log before the record.
    pub(super) generation: u64,
    /// Number of the record in its generation, from 0.
    pub(super) number: u64,
    /// Height of the newest block before the record.
    pub(super) height: u64,
    /// Length of the content, in bytes.
    pub(super) content_bytes: u64,
    content_digest: Digest,
}

impl Header {
    /// Creates the header of a record with this content.
    pub(super) fn new(
        content: &[u8],
        key: &LogKey,
        generation: u64,
        number: u64,
        height: u64,
    ) -> Self {
        Self {
            generation,
            number,
            height,
            content_bytes: content.len() as u64,
            content_digest: key.digest(content),
        }
    }

    /// Encodes the header, with its digest.
    pub(super) fn encode(&self, key: &LogKey) -> [u8; HEADER_BYTES] {
        let numbers = [
            self.generation,
            self.number,
            self.height,
            self.content_bytes,
        ];
        let mut bytes = [0; HEADER_BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        for (field, number) in bytes[MAGIC.len()..].chunks_exact_mut(8).zip(numbers) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        bytes[HEADER_DIGEST - DIGEST_BYTES..HEADER_DIGEST].copy_from_slice(&self.content_digest);
        let digest = key.digest(&bytes[..HEADER_DIGEST]);
        bytes[HEADER_DIGEST..].copy_from_slice(&digest);
        bytes
    }

    /// Decodes the header at the start of `bytes`, or returns `None` if there is no valid one.
    pub(super) fn decode(bytes: &[u8], key: &LogKey) -> Option<Self> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let (covered, digest) = bytes.split_at(HEADER_DIGEST);
        if !covered.starts_with(&MAGIC) || key.digest(covered) != *digest {
            return None;
        }
        Self::parse(bytes)
    }

    /// Decodes the header at the start of `bytes` as the damaged one of the record with this
    /// generation and number, or returns `None` if nothing shows that it is.
    ///
    /// The header is damaged in one of two ways. Either its digest matches once magic, generation
    /// and number are the expected ones, or these three are the expected ones and its digest does
    /// not match. A header that an earlier generation left is neither, even if it is damaged as
    /// well. The size of the content is unverified.
    pub(super) fn decode_damaged(
        bytes: &[u8],
        key: &LogKey,
        generation: u64,
        number: u64,
    ) -> Option<Self> {
        let found = bytes.first_chunk::<HEADER_BYTES>()?;
        let mut repaired = *found;
        let start = start_of_header(generation, number);
        repaired[..START_BYTES].copy_from_slice(&start);
        if repaired == *found || Self::decode(&repaired, key).is_some() {
            return Self::parse(&repaired);
        }
        None
    }

    /// Returns the fields of a header without a check of magic and digest.
    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let covered = &bytes[..HEADER_DIGEST];
        let mut numbers = covered[MAGIC.len()..]
            .chunks_exact(8)
            .filter_map(|number| Some(u64::from_le_bytes(number.try_into().ok()?)));
        Some(Self {
            generation: numbers.next()?,
            number: numbers.next()?,
            height: numbers.next()?,
            content_bytes: numbers.next()?,
            content_digest: covered[HEADER_DIGEST - DIGEST_BYTES..].try_into().ok()?,
        })
    }

    /// Returns whether the digest of `content` matches.
    pub(super) fn matches(&self, content: &[u8], key: &LogKey) -> bool {
        key.digest(content) == self.content_digest
    }

    /// Returns the size of the record, in bytes, or `None` if it overflows.
    pub(super) fn record_bytes(&self) -> Option<u64> {
        let bytes = self.content_bytes.checked_add(HEADER_BYTES as u64)?;
        bytes.checked_next_multiple_of(PAGE_BYTES)
    }
}
