//! What stands in the log: records, each of whole pages, and how a record is told from anything else.
//!
//! | bytes of a record | |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 8 | the generation: how often the log had begun anew |
//! | 8 | the record's number in its generation, from 0 |
//! | 8 | the height of the ledger before it |
//! | 8 | how long its content is |
//! | 16 | the digest of the content |
//! | 16 | the digest of all above |
//! | | the content, and zeros up to a whole page |
//!
//! Numbers are little endian. Digests are keyed with the secret of the directory: records of another directory
//! are none here, and no client can send bytes that would be taken for a record.

use crate::tables::digest::{DIGEST_BYTES, Digest, LogKey};

/// What the disk writes at once without reading, and what begins every record.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Begins every record.
const MAGIC: [u8; 8] = *b"blocklog";
/// Where the digest of the header stands.
const HEADER_DIGEST: usize = 8 * 5 + DIGEST_BYTES;
/// How long a header is.
pub(crate) const HEADER_BYTES: usize = HEADER_DIGEST + DIGEST_BYTES;

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    /// How often the log had begun anew.
    pub generation: u64,
    /// The record's number in its generation, from 0.
    pub number: u64,
    /// The height of the ledger before it.
    pub height: u64,
    /// How long the content is.
    pub content_bytes: u64,
    content_digest: Digest,
}

impl Header {
    /// The header of a record with this content.
    pub(crate) fn of(
        content: &[u8],
        key: &LogKey,
        (generation, number): (u64, u64),
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

    /// The bytes of the header.
    pub(crate) fn encode(&self, key: &LogKey) -> [u8; HEADER_BYTES] {
        let numbers = [
            self.generation,
            self.number,
            self.height,
            self.content_bytes,
        ];
        let mut bytes = [0; HEADER_BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        for (place, number) in bytes[MAGIC.len()..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[HEADER_DIGEST - DIGEST_BYTES..HEADER_DIGEST].copy_from_slice(&self.content_digest);
        let digest = key.digest(&bytes[..HEADER_DIGEST]);
        bytes[HEADER_DIGEST..].copy_from_slice(&digest);
        bytes
    }

    /// The header that bytes begin with, if they do.
    pub(crate) fn decode(bytes: &[u8], key: &LogKey) -> Option<Self> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let (covered, digest) = bytes.split_at(HEADER_DIGEST);
        if !covered.starts_with(&MAGIC) || key.digest(covered) != *digest {
            return None;
        }
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

    /// Whether this is the content that was written.
    pub(crate) fn is_of(&self, content: &[u8], key: &LogKey) -> bool {
        key.digest(content) == self.content_digest
    }

    /// How many bytes the whole record takes; `None` of lengths that no file has.
    pub(crate) fn record_bytes(&self) -> Option<u64> {
        let bytes = self.content_bytes.checked_add(HEADER_BYTES as u64)?;
        bytes.checked_next_multiple_of(PAGE_BYTES)
    }
}
