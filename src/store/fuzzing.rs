//! Decoders of stored rows, for the fuzzer.
//!
//! Rows come only from the file, so no public function decodes one, and the fuzzer would have to
//! write a whole database for each input. This module is not part of the public interface.

use crate::{
    index::{Kind, Manifest, bloom::BloomFilter, key::position, run::block::entry_at},
    tables::{
        codec::{decode, decode_payload, decode_stream_end, decode_write, encode, is_deletion},
        rows::TransactionRow,
        schema::PersistedHead,
    },
};
use ledger_types::{BlockInfo, ContractEvent};
use serde::{Serialize, de::DeserializeOwned};

/// Decodes `row` as a row of the kind with this number.
///
/// The kinds are: transaction, event, write, block, head, manifest, payload of the pruned state,
/// then from 7 a block of entries of each index, and last a segment of a bloom filter.
///
/// # Panics
///
/// Panics if a decoded row has other bytes when it is encoded again.
pub fn check_row(kind: u8, row: &[u8]) {
    match kind {
        0 => check_transaction(row),
        1 => check::<ContractEvent>(row),
        2 => check_write(row),
        3 => check::<BlockInfo>(row),
        4 => check::<PersistedHead>(row),
        5 => check::<Manifest>(row),
        6 => check_pruned_state(row),
        7..FILTER => check_entries(kind - 7, row),
        _ => check_filter(row),
    }
}

/// Number of the kind after the blocks of entries.
const FILTER: u8 = 7 + Kind::ALL.len() as u8;

/// Checks that a decoded row encodes to the same bytes.
fn check<T: DeserializeOwned + Serialize>(row: &[u8]) {
    if let Ok(value) = decode::<T>(row, "a row") {
        assert_encodes_to(row, &value);
    }
}

fn assert_encodes_to<T: Serialize>(row: &[u8], value: &T) {
    let encoded = encode(value).expect("a decoded value can be encoded");
    assert_eq!(encoded, row, "a row has two forms");
}

fn check_transaction(row: &[u8]) {
    let height = TransactionRow::height_of(row, 0);
    if let Ok(decoded) = TransactionRow::decode(row, 0) {
        assert!(height.is_ok(), "a row without a height was decoded");
        let rest = (
            &decoded.transaction,
            &decoded.info,
            &decoded.accumulator_root,
        );
        assert_encodes_to(&row[size_of::<u64>()..], &rest);
    }
}

fn check_write(row: &[u8]) {
    if let Ok(write) = decode_write(row, "a row") {
        assert_encodes_to(row, &write);
        // An error is expected: the bytes of a key are checked only when a response contains it.
        let _ = write.0.decode();
    }
}

fn check_pruned_state(row: &[u8]) {
    is_deletion(row);
    if let Ok(Some(write)) = decode_payload(row) {
        assert_encodes_to(&row[1..], &write);
    }
    if let Ok(end) = decode_stream_end(row) {
        assert_encodes_to(&row[1..], &end);
    }
}

/// Checks that a lookup of any key in a valid segment does not panic.
fn check_filter(row: &[u8]) {
    let mut filter = BloomFilter::default();
    if filter.push(&[], row).is_ok() {
        filter.may_contain(row);
        filter.may_contain(&[]);
    }
}

/// Checks that the entries of a block do not overlap, and that their positions can be read.
fn check_entries(index: u8, block: &[u8]) {
    let Some(kind) = Kind::ALL.get(usize::from(index)).copied() else {
        return;
    };
    let mut offset = 0;
    while let Some((entry, payload, next)) = entry_at(kind, block, offset) {
        assert_eq!(entry.len(), kind.width());
        assert!(next >= offset + entry.len() + payload.len() && next <= block.len());
        kind.version(entry);
        position(kind, entry);
        offset = next;
    }
}
