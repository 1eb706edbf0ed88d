//! The entries of each kind of index.

use crate::tables::{
    digest::{DigestKey, PREFIX_BYTES, STATE_DIGEST_BYTES},
    schema::{Position, replay_protector},
};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, EventKey, ExecutedTransaction, ReplayProtector, StateKey, Transaction,
};
use serde::{Deserialize, Serialize};

/// How many bytes of a transaction hash are kept; the row decides where two meet.
pub(crate) const HASH_PREFIX_BYTES: usize = 8;

/// A kind of index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    Hash,
    State,
    Account,
    Stream,
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
    /// The kinds whose entries name rows, and are made anew from rows when the ledger is opened.
    pub(crate) const OF_ROWS: [Self; 4] = [Self::Hash, Self::State, Self::Account, Self::Stream];

    /// Bytes of an entry without payload.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Hash => HASH_PREFIX_BYTES + 8,
            Self::State => STATE_DIGEST_BYTES + 8 + 4,
            Self::Account => PREFIX_BYTES + 8 + 8,
            Self::Stream => PREFIX_BYTES + 8 + 8 + 4,
            Self::PrunedState => STATE_DIGEST_BYTES,
        }
    }

    /// Whether entries carry a payload, and so vary in length.
    pub(crate) const fn has_payload(self) -> bool {
        matches!(self, Self::PrunedState)
    }

    /// How many of an entry's bytes are the key that is asked for, for kinds that are searched for single keys. Pages of the
    /// others are asked for mostly where there is something.
    pub(crate) const fn bloom_key_bytes(self) -> Option<usize> {
        match self {
            Self::Hash => Some(HASH_PREFIX_BYTES),
            Self::State | Self::PrunedState => Some(STATE_DIGEST_BYTES),
            Self::Account | Self::Stream => None,
        }
    }

    /// Where the version stands in an entry, for kinds whose entries name rows.
    const fn version_offset(self) -> Option<usize> {
        match self {
            Self::Hash => Some(HASH_PREFIX_BYTES),
            Self::State => Some(STATE_DIGEST_BYTES),
            Self::Account | Self::Stream => Some(PREFIX_BYTES + 8),
            Self::PrunedState => None,
        }
    }

    /// The version of the row that an entry names.
    pub(crate) fn version(self, entry: &[u8]) -> Option<u64> {
        self.version_offset().map(|offset| number(&entry[offset..]))
    }
}

/// The big endian number at the start of `bytes`.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// The sequence number of an entry of an account or a stream.
pub(crate) fn sequence_number(entry: &[u8]) -> u64 {
    number(&entry[PREFIX_BYTES..])
}

/// The place that an entry of the state or of a stream names.
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

/// Entries of every kind that names rows, gathered before they are sorted.
#[derive(Debug)]
pub(crate) struct IndexBatch {
    key: DigestKey,
    hashes: Vec<HashEntry>,
    states: Vec<StateEntry>,
    accounts: Vec<AccountEntry>,
    streams: Vec<StreamEntry>,
}

impl IndexBatch {
    pub(crate) fn new(key: DigestKey) -> Self {
        Self {
            key,
            hashes: Vec::new(),
            states: Vec::new(),
            accounts: Vec::new(),
            streams: Vec::new(),
        }
    }

    /// Adds all that a transaction did.
    pub(crate) fn add(&mut self, version: u64, executed: &ExecutedTransaction) {
        self.add_transaction(version, &executed.hash, &executed.transaction);
        for (number, event) in (0..).zip(&executed.events) {
            if let Some((key, sequence_number)) = event.stream_position() {
                self.add_event(&key, sequence_number, (version, number));
            }
        }
        for (number, (key, _)) in (0..).zip(executed.writes.iter()) {
            self.add_write(key, (version, number));
        }
    }

    /// Adds a transaction without its events and writes.
    pub(crate) fn add_transaction(
        &mut self,
        version: u64,
        hash: &HashValue,
        transaction: &Transaction,
    ) {
        self.hashes.push(hash_entry(hash, version));
        if let Some((sender, protector)) = replay_protector(transaction) {
            self.add_sender(&sender, protector, version);
        }
    }

    fn add_sender(&mut self, sender: &AccountAddress, protector: ReplayProtector, version: u64) {
        self.accounts.push(match protector {
            ReplayProtector::SequenceNumber(number) => {
                account_entry(&self.key.account(sender), number, version)
            }
            // Nonces have no order; the version stands for the number.
            ReplayProtector::Nonce(_) => {
                account_entry(&self.key.orderless(sender), version, version)
            }
        });
    }

    /// Adds an event of a stream.
    pub(crate) fn add_event(&mut self, key: &EventKey, sequence_number: u64, position: Position) {
        let prefix = self.key.stream(key);
        self.streams
            .push(stream_entry(&prefix, sequence_number, position));
    }

    /// Adds a write.
    pub(crate) fn add_write(&mut self, key: &StateKey, position: Position) {
        let digest = self.key.state_key(key);
        self.states.push(state_entry(&digest, position));
    }

    /// The entries of each kind, sorted and packed, in the order of [`Kind::OF_ROWS`].
    pub(crate) fn into_sorted(self) -> [Vec<u8>; 4] {
        fn pack<const N: usize>(mut entries: Vec<[u8; N]>) -> Vec<u8> {
            entries.sort_unstable();
            entries.into_flattened()
        }
        [
            pack(self.hashes),
            pack(self.states),
            pack(self.accounts),
            pack(self.streams),
        ]
    }
}
