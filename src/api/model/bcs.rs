//! BCS bodies of responses (docs/reference/reference-node.md#r25).
//!
//! Variants and fields are in the order of their encoding. Stored rows are BCS already, and are
//! copied into responses. Only a state key differs from its stored form: a row has the length of
//! the key in front of it, and a response has only the length of the key of a table item.

use crate::model::json::JsonString;
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_store::{EncodedList, StoredTransaction, TransactionSummary, WalTransaction};
use ledger_types::{
    AccountAddress, BlockInfo, ExecutedTransaction, LedgerInfo, ReplayProtector, SignedTransaction,
    StateKey,
};
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::io::Write;

/// Index of the role of a validator in the enum of node roles.
const ROLE_VALIDATOR: u8 = 0;
/// Index of the role of a full node.
const ROLE_FULL_NODE: u8 = 1;

/// Ledger metadata. A number of 64 bits is its decimal text, and `node_role` an enum of one byte.
#[derive(Serialize)]
pub(crate) struct IndexBcs {
    chain_id: u8,
    epoch: JsonString<u64>,
    ledger_version: JsonString<u64>,
    oldest_ledger_version: JsonString<u64>,
    ledger_timestamp: JsonString<u64>,
    node_role: u8,
    oldest_block_height: JsonString<u64>,
    block_height: JsonString<u64>,
}

impl IndexBcs {
    pub(crate) fn new(info: &LedgerInfo, is_full_node: bool) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: JsonString(info.epoch),
            ledger_version: JsonString(info.version),
            oldest_ledger_version: JsonString(info.oldest_version),
            ledger_timestamp: JsonString(info.timestamp_usecs),
            node_role: match is_full_node {
                true => ROLE_FULL_NODE,
                false => ROLE_VALIDATOR,
            },
            oldest_block_height: JsonString(info.oldest_block_height),
            block_height: JsonString(info.block_height),
        }
    }
}

/// The gas estimate. The BCS form has only the standard price.
#[derive(Serialize)]
pub(crate) struct GasEstimateBcs {
    pub gas_estimate: u64,
}

/// The fields of a block before its transactions.
#[derive(Serialize)]
struct BlockHeaderBcs {
    block_height: u64,
    block_hash: HashValue,
    block_timestamp: u64,
    first_version: u64,
    last_version: u64,
    has_transactions: bool,
}

/// The number of items of a list, which serializes as the length that BCS writes before them.
struct Length(usize);

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_seq(Some(self.0))?.end()
    }
}

/// Writes the length of a list in BCS, which precedes its items.
///
/// # Errors
///
/// Returns an error if a BCS list cannot have as many items, and the error of `out`.
pub(crate) fn write_length(out: &mut impl Write, count: usize) -> Result<(), bcs::Error> {
    bcs::serialize_into(out, &Length(count))
}

/// Writes bytes with their length in front.
fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> Result<(), bcs::Error> {
    write_length(out, bytes.len())?;
    Ok(out.write_all(bytes)?)
}

/// Encoded values that are being copied into a response.
struct Encoded<'a>(&'a [u8]);

impl<'a> Encoded<'a> {
    /// Takes the next `count` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`bcs::Error::Eof`] if fewer bytes remain.
    fn take(&mut self, count: usize) -> Result<&'a [u8], bcs::Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(bcs::Error::Eof)?;
        self.0 = rest;
        Ok(taken)
    }

    fn take_byte(&mut self) -> Result<u8, bcs::Error> {
        self.take(1).map(|byte| byte[0])
    }

    /// Takes a length, which BCS writes in ULEB128 with at most 32 bits.
    fn take_length(&mut self) -> Result<usize, bcs::Error> {
        let mut length = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let byte = self.take_byte()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(bcs::Error::IntegerOverflowDuringUleb128Decoding)
    }

    /// Takes bytes with their length in front, and returns them without it.
    fn take_bytes(&mut self) -> Result<&'a [u8], bcs::Error> {
        let length = self.take_length()?;
        self.take(length)
    }
}

/// First byte of the state key of a table item, stored and in BCS.
const TABLE_ITEM: u8 = 1;
/// Size of the first byte and the handle in the state key of a table item.
const HANDLE_END: usize = 1 + AccountAddress::LENGTH;

/// Writes a state key from its storage encoding. The key of a table item gets a length.
fn write_state_key(out: &mut impl Write, stored: &[u8]) -> Result<(), bcs::Error> {
    match stored.split_first_chunk::<HANDLE_END>() {
        Some((handle, item)) if handle[0] == TABLE_ITEM => {
            out.write_all(handle)?;
            write_bytes(out, item)
        }
        _ => Ok(out.write_all(stored)?),
    }
}

/// Returns the state key with this BCS form. Except for table items, the result may be no state
/// key, which [`StateKey::decode`] finds.
///
/// # Errors
///
/// Returns the error of decoding the handle and the key of a table item.
pub(crate) fn read_state_key(form: &Bytes) -> Result<StateKey, bcs::Error> {
    match form.split_first() {
        Some((&TABLE_ITEM, item)) => {
            let (handle, key): (AccountAddress, Bytes) = bcs::from_bytes(item)?;
            Ok(StateKey::table_item(&handle, &key))
        }
        _ => Ok(StateKey::from_encoded(form.clone())),
    }
}

/// Variant of a deletion among write operations. The other ones contain a value.
const DELETION: u8 = 2;

/// Writes the next `count` writes of `encoded`.
fn write_writes(
    out: &mut impl Write,
    count: usize,
    encoded: &mut Encoded<'_>,
) -> Result<(), bcs::Error> {
    for _ in 0..count {
        write_state_key(out, encoded.take_bytes()?)?;
        let operation = encoded.0;
        if encoded.take_byte()? != DELETION {
            encoded.take_bytes()?;
        }
        out.write_all(&operation[..operation.len() - encoded.0.len()])?;
    }
    Ok(())
}

/// Writes the next write set of `encoded`.
fn write_write_set(out: &mut impl Write, encoded: &mut Encoded<'_>) -> Result<(), bcs::Error> {
    out.write_all(encoded.take(1)?)?;
    let count = encoded.take_length()?;
    write_length(out, count)?;
    write_writes(out, count, encoded)
}

/// Variant of genesis among transactions, the only one that contains a write set.
const GENESIS: u8 = 1;

/// Writes a transaction and all that follows it in `bytes`.
fn write_transaction(out: &mut impl Write, bytes: &[u8]) -> Result<(), bcs::Error> {
    let mut encoded = Encoded(bytes);
    if bytes.first() == Some(&GENESIS) {
        // The variants of the transaction and of its payload.
        out.write_all(encoded.take(2)?)?;
        write_write_set(out, &mut encoded)?;
    }
    Ok(out.write_all(encoded.0)?)
}

/// Writes a committed transaction from its rows.
///
/// # Errors
///
/// Returns an error if the transaction has more events or writes than a BCS list can have or if a
/// write is damaged, and the error of `out`.
pub(crate) fn write_rows(out: &mut impl Write, rows: &StoredTransaction) -> Result<(), bcs::Error> {
    /// Variant of the only version of a [`WriteSet`](ledger_types::WriteSet).
    const WRITE_SET_V0: u8 = 0;
    out.write_all(&rows.version().to_le_bytes())?;
    write_transaction(out, rows.transaction_and_info())?;
    let EncodedList { count, bytes } = rows.events();
    write_length(out, count)?;
    out.write_all(bytes)?;
    out.write_all(rows.accumulator_root())?;
    out.write_all(&[WRITE_SET_V0])?;
    let EncodedList { count, bytes } = rows.writes();
    write_length(out, count)?;
    write_writes(out, count, &mut Encoded(bytes))
}

/// Writes a committed transaction from its parts, as the write-ahead log has them.
///
/// # Errors
///
/// Returns an error if a write is damaged, and the error of `out`.
pub(crate) fn write_parts(
    out: &mut impl Write,
    version: u64,
    parts: &WalTransaction<'_>,
) -> Result<(), bcs::Error> {
    out.write_all(&version.to_le_bytes())?;
    write_transaction(out, parts.transaction)?;
    out.write_all(parts.info_and_events)?;
    out.write_all(parts.accumulator_root)?;
    write_write_set(out, &mut Encoded(parts.writes))
}

/// Writes a committed transaction that is not encoded yet.
///
/// # Errors
///
/// Returns the error of the encoding, and that of `out`.
pub(crate) fn write_executed(
    out: &mut impl Write,
    version: u64,
    executed: &ExecutedTransaction,
) -> Result<(), bcs::Error> {
    let parts = WalTransaction {
        transaction: &bcs::to_bytes(&executed.transaction)?,
        info_and_events: &bcs::to_bytes(&(&executed.info, &executed.events))?,
        writes: &bcs::to_bytes(&executed.writes)?,
        accumulator_root: executed.accumulator_root.as_bytes(),
    };
    write_parts(out, version, &parts)
}

/// Variant that precedes a committed transaction in the response to a look-up by hash.
pub(crate) const COMMITTED: u8 = 0;
/// Variant that precedes a pending transaction in the response to a look-up by hash.
const PENDING: u8 = 1;

/// Writes a pending transaction.
///
/// # Errors
///
/// Returns the error of the encoding, and that of `out`.
pub(crate) fn write_pending(
    out: &mut impl Write,
    signed: &SignedTransaction,
) -> Result<(), bcs::Error> {
    out.write_all(&[PENDING])?;
    bcs::serialize_into(out, signed)
}

/// Returns the BCS bytes of a block up to its transactions. If they were requested,
/// `transaction_count` transactions follow.
///
/// # Errors
///
/// Returns an error if a BCS list cannot have that many transactions.
pub(crate) fn encode_block(
    block: &BlockInfo,
    transaction_count: Option<usize>,
) -> Result<Vec<u8>, bcs::Error> {
    let mut head = bcs::to_bytes(&BlockHeaderBcs {
        block_height: block.header.height,
        block_hash: block.hash,
        block_timestamp: block.header.timestamp_usecs,
        first_version: block.first_version,
        last_version: block.last_version,
        has_transactions: transaction_count.is_some(),
    })?;
    if let Some(count) = transaction_count {
        write_length(&mut head, count)?;
    }
    Ok(head)
}

/// A summary of an account's transaction.
#[derive(Serialize)]
pub(crate) enum SummaryBcs {
    V1 {
        sender: AccountAddress,
        version: u64,
        transaction_hash: HashValue,
        replay_protector: ReplayProtector,
    },
}

impl From<&TransactionSummary> for SummaryBcs {
    fn from(summary: &TransactionSummary) -> Self {
        Self::V1 {
            sender: summary.sender,
            version: summary.version,
            transaction_hash: summary.hash,
            replay_protector: summary.replay_protector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::WriteOp;

    #[test]
    fn the_index_has_numbers_as_text_and_the_role_in_one_byte() {
        let info = LedgerInfo {
            chain_id: 4,
            epoch: 1,
            version: 20,
            oldest_version: 0,
            block_height: 3,
            oldest_block_height: 0,
            timestamp_usecs: 555,
        };
        let index = |is_full_node| bcs::to_bytes(&IndexBcs::new(&info, is_full_node)).unwrap();
        assert_eq!(index(false), b"\x04\x011\x0220\x010\x03555\0\x010\x013");
        assert_eq!(index(true), b"\x04\x011\x0220\x010\x03555\x01\x010\x013");
    }

    #[test]
    fn returns_an_error_for_each_cut_of_a_write() {
        let key = StateKey::table_item(&AccountAddress::ONE, b"item");
        let row = bcs::to_bytes(&(key, WriteOp::Modify(vec![7; 200].into()))).unwrap();
        let write = |bytes| write_writes(&mut Vec::new(), 1, &mut Encoded(bytes));
        write(&row).unwrap();
        for length in 0..row.len() {
            assert_eq!(write(&row[..length]), Err(bcs::Error::Eof), "{length}");
        }
        let endless = [0xff; 6];
        assert!(write(&endless).is_err());
    }

    #[test]
    fn reads_the_state_keys_that_it_writes() {
        let tag = "0x1::coin::CoinStore<u8>".parse().unwrap();
        for key in [
            StateKey::resource(&AccountAddress::ONE, &tag),
            StateKey::table_item(&AccountAddress::ONE, &[7; 300]),
            StateKey::table_item(&AccountAddress::ONE, b""),
        ] {
            let mut form = Vec::new();
            write_state_key(&mut form, key.as_bytes()).unwrap();
            assert_eq!(read_state_key(&form.into()), Ok(key));
        }
    }
}
