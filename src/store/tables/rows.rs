//! A committed transaction as its rows have it: BCS bytes, of which a reader makes as much as it needs. Who answers in BCS
//! copies them, as the parts of an answer have the same form as the rows.

use crate::{
    StoreError,
    tables::codec::{decode, decode_write, encode, no_form},
};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, BlockInfo, ExecutedBlock, ExecutedTransaction, ReplayProtector, Transaction,
    TransactionInfo, WriteSet,
};
use serde::{Deserialize, Serialize};

/// How many times as long as its own row all rows of a transfer are: room for them is taken at once.
const PARTS_FACTOR: usize = 4;
/// How many rows a transfer has at the most.
const PARTS_USUAL: usize = 16;

/// A transaction without its events and writes, as it is written.
#[derive(Serialize)]
struct TransactionRowRef<'a> {
    transaction: &'a Transaction,
    info: &'a TransactionInfo,
    accumulator_root: &'a HashValue,
}

/// A transaction without its events and writes, as it is read.
#[derive(Deserialize)]
pub(crate) struct TransactionRow {
    /// The transaction.
    pub transaction: Transaction,
    /// What proves it; names its hash.
    pub info: TransactionInfo,
    /// Root of the transaction accumulator after it.
    pub accumulator_root: HashValue,
}

/// Bytes of the block's height, which begins a transaction's row.
const HEIGHT_BYTES: usize = 8;

impl TransactionRow {
    /// The transaction of a row.
    pub(crate) fn decode(row: &[u8], version: u64) -> Result<Self, StoreError> {
        let (_, rest) = split_height(row, version)?;
        decode(rest, format_args!("transaction {version}"))
    }

    /// The height of the block of a row, without decoding the rest.
    pub(crate) fn height_of(row: &[u8], version: u64) -> Result<u64, StoreError> {
        split_height(row, version).map(|(height, _)| height)
    }
}

/// The height of the block of a row, and the rest.
pub(crate) fn split_height(row: &[u8], version: u64) -> Result<(u64, &[u8]), StoreError> {
    let (height, rest) = row
        .split_first_chunk::<HEIGHT_BYTES>()
        .ok_or_else(|| StoreError::Inconsistent(format!("transaction {version} is cut short")))?;
    Ok((u64::from_le_bytes(*height), rest))
}

/// The sender of a user's transaction and what keeps it from being replayed.
pub(crate) fn replay_protector(
    transaction: &Transaction,
) -> Option<(AccountAddress, ReplayProtector)> {
    let raw = &transaction.as_user()?.raw;
    Some((raw.sender, raw.replay_protector()))
}

/// Writes the bytes of a transaction's row into `row`, in the place of what it held.
pub(crate) fn encode_transaction(
    row: &mut Vec<u8>,
    height: u64,
    executed: &ExecutedTransaction,
) -> Result<(), StoreError> {
    row.clear();
    row.extend_from_slice(&height.to_le_bytes());
    let rest = TransactionRowRef {
        transaction: &executed.transaction,
        info: &executed.info,
        accumulator_root: &executed.accumulator_root,
    };
    bcs::serialize_into(row, &rest).map_err(no_form)
}

/// The bytes of a block's row.
pub(crate) fn encode_block(block: &ExecutedBlock) -> Result<Vec<u8>, StoreError> {
    encode(&BlockInfo::from(block))
}

/// A committed transaction with everything it did, as it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTransaction {
    version: u64,
    height: u64,
    /// The transaction's row without the height, then those of its events, then those of its writes.
    bytes: Vec<u8>,
    /// Where the transaction's row ends, and each that follows.
    ends: Vec<usize>,
    events: usize,
}

/// Values of one kind, each in BCS, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodedList<'a> {
    /// How many there are.
    pub count: usize,
    /// Their bytes.
    pub bytes: &'a [u8],
}

impl StoredTransaction {
    /// Begins with a transaction's own row.
    pub(crate) fn new(version: u64, row: &[u8]) -> Result<Self, StoreError> {
        let (height, row) = split_height(row, version)?;
        if row.len() < HashValue::LENGTH {
            let reason = format!("transaction {version} is cut short");
            return Err(StoreError::Inconsistent(reason));
        }
        let mut bytes = Vec::with_capacity(row.len().saturating_mul(PARTS_FACTOR));
        bytes.extend_from_slice(row);
        let mut ends = Vec::with_capacity(PARTS_USUAL);
        ends.push(row.len());
        Ok(Self {
            version,
            height,
            bytes,
            ends,
            events: 0,
        })
    }

    /// Adds the next event; events come before writes.
    pub(crate) fn push_event(&mut self, row: &[u8]) {
        self.events += 1;
        self.push_write(row);
    }

    /// Adds the next write.
    pub(crate) fn push_write(&mut self, row: &[u8]) {
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }

    /// Its version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The height of its block.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }

    /// How many bytes its rows have.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn root_begin(&self) -> usize {
        self.ends[0] - HashValue::LENGTH
    }

    /// The transaction, then its [`TransactionInfo`](ledger_types::TransactionInfo).
    pub fn transaction_and_info(&self) -> &[u8] {
        &self.bytes[..self.root_begin()]
    }

    /// The root of the transaction accumulator after it.
    pub fn accumulator_root(&self) -> &[u8] {
        &self.bytes[self.root_begin()..self.ends[0]]
    }

    /// Its events.
    pub fn events(&self) -> EncodedList<'_> {
        EncodedList {
            count: self.events,
            bytes: &self.bytes[self.ends[0]..self.ends[self.events]],
        }
    }

    /// What it wrote, as pairs of a state key and a write operation, in the order of its write set.
    pub fn writes(&self) -> EncodedList<'_> {
        EncodedList {
            count: self.ends.len() - 1 - self.events,
            bytes: &self.bytes[self.ends[self.events]..],
        }
    }

    /// What the rows say.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn decode(&self) -> Result<ExecutedTransaction, StoreError> {
        let version = self.version;
        let TransactionRow {
            transaction,
            info,
            accumulator_root,
        } = decode(
            &self.bytes[..self.ends[0]],
            format_args!("transaction {version}"),
        )?;
        let mut parts = self
            .ends
            .windows(2)
            .map(|ends| &self.bytes[ends[0]..ends[1]]);
        let events = parts.by_ref().take(self.events);
        let events = events
            .map(|row| decode(row, format_args!("an event of version {version}")))
            .collect::<Result<_, _>>()?;
        let writes = parts
            .map(|row| decode_write(row, format_args!("a write of version {version}")))
            .collect::<Result<_, _>>()?;
        Ok(ExecutedTransaction {
            transaction,
            hash: info.v0().transaction_hash,
            info,
            events,
            // The rows stand in the order in which the set had them.
            writes: WriteSet::from_ascending(writes),
            accumulator_root,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_cut_short_is_told() {
        let row = [7; 8 + HashValue::LENGTH];
        assert_eq!(
            StoredTransaction::new(5, &row).unwrap().accumulator_root(),
            &row[8..]
        );
        for length in [0, 7, 8, row.len() - 1] {
            let error = StoredTransaction::new(5, &row[..length]).unwrap_err();
            assert!(
                error.to_string().contains("transaction 5 is cut short"),
                "{error}"
            );
        }
    }

    #[test]
    fn parts_lie_behind_each_other_and_damaged_ones_are_told() {
        let mut rows = StoredTransaction::new(5, &[0; 8 + HashValue::LENGTH]).unwrap();
        rows.push_event(b"one");
        rows.push_event(b"two");
        rows.push_write(b"three");
        let (events, writes) = (rows.events(), rows.writes());
        assert_eq!((events.count, events.bytes), (2, b"onetwo".as_slice()));
        assert_eq!((writes.count, writes.bytes), (1, b"three".as_slice()));
        assert!(rows.transaction_and_info().is_empty());
        let error = rows.decode().unwrap_err();
        assert!(error.to_string().contains("transaction 5"), "{error}");
    }
}
