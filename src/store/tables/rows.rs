//! Rows of transactions and blocks, and a committed transaction in its stored form.
//!
//! The stored form is BCS. A response in BCS copies it, because the parts of the response have the
//! same encoding as the rows. Other readers decode as much as they need.

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

/// Size of all rows of a transfer, as a multiple of its own row. It is allocated in advance.
const PARTS_FACTOR: usize = 4;
/// Maximum number of rows of a transfer.
const PARTS_USUAL: usize = 16;

/// The row of a transaction to encode, without the height.
#[derive(Serialize)]
struct TransactionRowRef<'a> {
    transaction: &'a Transaction,
    info: &'a TransactionInfo,
    accumulator_root: &'a HashValue,
}

/// The decoded row of a transaction, without its height, events, and writes.
#[derive(Deserialize)]
pub(crate) struct TransactionRow {
    /// The transaction.
    pub transaction: Transaction,
    /// The info of the transaction, with its hash.
    pub info: TransactionInfo,
    /// The root of the transaction accumulator after the transaction.
    pub accumulator_root: HashValue,
}

/// Size of the height at the start of a transaction's row, in bytes.
const HEIGHT_BYTES: usize = 8;

impl TransactionRow {
    /// Decodes the row of a transaction.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the row is damaged.
    pub(crate) fn decode(row: &[u8], version: u64) -> Result<Self, StoreError> {
        let (_, rest) = split_height(row, version)?;
        decode(rest, format_args!("transaction {version}"))
    }

    /// Returns the height of a row's block, without decoding the rest.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the row is shorter than a height.
    pub(crate) fn height_of(row: &[u8], version: u64) -> Result<u64, StoreError> {
        split_height(row, version).map(|(height, _)| height)
    }
}

/// Splits the row of a transaction into the height of its block and the rest.
fn split_height(row: &[u8], version: u64) -> Result<(u64, &[u8]), StoreError> {
    let (height, rest) = row
        .split_first_chunk::<HEIGHT_BYTES>()
        .ok_or_else(|| StoreError::Inconsistent(format!("transaction {version} is cut short")))?;
    Ok((u64::from_le_bytes(*height), rest))
}

/// Returns sender and replay protector of a user transaction, or `None` for any other.
pub(crate) fn replay_protector(
    transaction: &Transaction,
) -> Option<(AccountAddress, ReplayProtector)> {
    let raw = &transaction.as_user()?.raw;
    Some((raw.sender, raw.replay_protector()))
}

/// Replaces the content of `row` by the row of a transaction.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the transaction has no BCS form.
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

/// Returns the row of a block.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the block has no BCS form.
pub(crate) fn encode_block(block: &ExecutedBlock) -> Result<Vec<u8>, StoreError> {
    encode(&BlockInfo::from(block))
}

/// A committed transaction with its events and writes, in its stored form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTransaction {
    version: u64,
    height: u64,
    /// The row of the transaction without the height, then those of its events, then those of its
    /// writes.
    bytes: Vec<u8>,
    /// Offsets at which the row of the transaction and each following row end.
    ends: Vec<usize>,
    /// Number of events.
    events: usize,
}

/// Values of one kind in BCS, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodedList<'a> {
    /// Number of values.
    pub count: usize,
    /// The encoded values.
    pub bytes: &'a [u8],
}

impl StoredTransaction {
    /// Creates a transaction from its own row. Events and writes are added afterwards.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the row is shorter than a height and a hash.
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

    /// Adds the next event. All events precede the writes.
    pub(crate) fn push_event(&mut self, row: &[u8]) {
        self.events += 1;
        self.push_write(row);
    }

    /// Adds the next write.
    pub(crate) fn push_write(&mut self, row: &[u8]) {
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }

    /// Returns the version of the transaction.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the height of the block that contains the transaction.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }

    /// Returns the total size of the rows, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn root_begin(&self) -> usize {
        self.ends[0] - HashValue::LENGTH
    }

    /// Returns the transaction and its [`TransactionInfo`], in BCS.
    pub fn transaction_and_info(&self) -> &[u8] {
        &self.bytes[..self.root_begin()]
    }

    /// Returns the root of the transaction accumulator after the transaction.
    pub fn accumulator_root(&self) -> &[u8] {
        &self.bytes[self.root_begin()..self.ends[0]]
    }

    /// Returns the events.
    pub fn events(&self) -> EncodedList<'_> {
        EncodedList {
            count: self.events,
            bytes: &self.bytes[self.ends[0]..self.ends[self.events]],
        }
    }

    /// Returns the writes as pairs of a state key and a write operation, in the order of the write
    /// set.
    pub fn writes(&self) -> EncodedList<'_> {
        EncodedList {
            count: self.ends.len() - 1 - self.events,
            bytes: &self.bytes[self.ends[self.events]..],
        }
    }

    /// Decodes the transaction.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if a row is damaged.
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
            // Rows have the order of the write set.
            writes: WriteSet::from_ascending(writes),
            accumulator_root,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_row_that_is_cut_short() {
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

    /// Returns a transaction with a damaged row, two events, and a write.
    fn damaged() -> StoredTransaction {
        let mut stored = StoredTransaction::new(5, &[0; 8 + HashValue::LENGTH]).unwrap();
        stored.push_event(b"one");
        stored.push_event(b"two");
        stored.push_write(b"three");
        stored
    }

    #[test]
    fn concatenates_the_rows_of_events_and_of_writes() {
        let stored = damaged();
        let (events, writes) = (stored.events(), stored.writes());
        assert_eq!((events.count, events.bytes), (2, b"onetwo".as_slice()));
        assert_eq!((writes.count, writes.bytes), (1, b"three".as_slice()));
        assert!(stored.transaction_and_info().is_empty());
    }

    #[test]
    fn rejects_a_damaged_row_when_it_is_decoded() {
        let error = damaged().decode().unwrap_err();
        assert!(error.to_string().contains("transaction 5"), "{error}");
    }
}
