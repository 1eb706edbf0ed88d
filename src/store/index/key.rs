//! Kinds of indices, and the layout of their entries.

use crate::tables::{
    digest::{PREFIX_BYTES, STATE_DIGEST_BYTES},
    schema::Position,
};
use ledger_crypto::HashValue;
use serde::{Deserialize, Serialize};

/// Number of bytes of a transaction hash in an entry. The row decides if two collide.
pub(crate) const HASH_PREFIX_BYTES: usize = 8;

/// A kind of index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Transactions by hash.
    Hash,
    /// Writes by state key.
    State,
    /// Transactions by sender.
    Account,
    /// Events by stream.
    Stream,
    /// The state below the window, by state key.
    PrunedState,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] = [
        Self::Hash,
        Self::State,
        Self::Account,
        Self::Stream,
        Self::PrunedState,
    ];
    /// Kinds whose entries name rows. Opening a store makes their memtables from the rows.
    pub(crate) const OF_ROWS: [Self; 4] = [Self::Hash, Self::State, Self::Account, Self::Stream];

    /// Returns the size of an entry without its payload, in bytes.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Hash => HASH_PREFIX_BYTES + 8,
            Self::State => STATE_DIGEST_BYTES + 8 + 4,
            Self::Account => PREFIX_BYTES + 8 + 8,
            Self::Stream => PREFIX_BYTES + 8 + 8 + 4,
            Self::PrunedState => STATE_DIGEST_BYTES,
        }
    }

    /// Returns whether entries have a payload, and so vary in size.
    pub(crate) const fn has_payload(self) -> bool {
        matches!(self, Self::PrunedState)
    }

    /// Returns the number of bytes of an entry that are the key of the bloom filter.
    ///
    /// Returns `None` for kinds without filters: their searches are for pages, and mostly find
    /// entries.
    pub(crate) const fn bloom_key_bytes(self) -> Option<usize> {
        match self {
            Self::Hash => Some(HASH_PREFIX_BYTES),
            Self::State | Self::PrunedState => Some(STATE_DIGEST_BYTES),
            Self::Account | Self::Stream => None,
        }
    }

    /// Returns the offset of the version in an entry, or `None` for entries that name no row.
    const fn version_offset(self) -> Option<usize> {
        match self {
            Self::Hash => Some(HASH_PREFIX_BYTES),
            Self::State => Some(STATE_DIGEST_BYTES),
            Self::Account | Self::Stream => Some(PREFIX_BYTES + 8),
            Self::PrunedState => None,
        }
    }

    /// Returns the version of the row that an entry names.
    pub(crate) fn version(self, entry: &[u8]) -> Option<u64> {
        self.version_offset().map(|offset| number(&entry[offset..]))
    }
}

/// Returns the big endian number at the start of `bytes`.
///
/// # Panics
///
/// Panics if there are fewer than eight bytes.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// Returns the sequence number of an entry of an account or a stream.
pub(crate) fn sequence_number(entry: &[u8]) -> u64 {
    number(&entry[PREFIX_BYTES..])
}

/// Returns the position that an entry of the state or of a stream names.
pub(crate) fn position(kind: Kind, entry: &[u8]) -> Option<Position> {
    let version = kind.version(entry)?;
    let tail = entry.len().checked_sub(4)?;
    Some((version, u32::from_be_bytes(entry[tail..].try_into().ok()?)))
}

fn concat<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut entry = [0; N];
    let mut rest = &mut entry[..];
    for part in parts {
        let (head, tail) = rest.split_at_mut(part.len());
        head.copy_from_slice(part);
        rest = tail;
    }
    entry
}

pub(crate) type HashEntry = [u8; Kind::Hash.width()];
pub(crate) type StateEntry = [u8; Kind::State.width()];
pub(crate) type AccountEntry = [u8; Kind::Account.width()];
pub(crate) type StreamEntry = [u8; Kind::Stream.width()];

pub(crate) fn hash_entry(hash: &HashValue, version: u64) -> HashEntry {
    concat(&[
        &hash.as_bytes()[..HASH_PREFIX_BYTES],
        &version.to_be_bytes(),
    ])
}

pub(crate) fn state_entry(
    digest: &[u8; STATE_DIGEST_BYTES],
    (version, number): Position,
) -> StateEntry {
    concat(&[digest, &version.to_be_bytes(), &number.to_be_bytes()])
}

pub(crate) fn account_entry(
    prefix: &[u8; PREFIX_BYTES],
    sequence_number: u64,
    version: u64,
) -> AccountEntry {
    concat(&[
        prefix,
        &sequence_number.to_be_bytes(),
        &version.to_be_bytes(),
    ])
}

pub(crate) fn stream_entry(
    prefix: &[u8; PREFIX_BYTES],
    sequence_number: u64,
    (version, number): Position,
) -> StreamEntry {
    concat(&[
        prefix,
        &sequence_number.to_be_bytes(),
        &version.to_be_bytes(),
        &number.to_be_bytes(),
    ])
}
