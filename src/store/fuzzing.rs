//! Decoders of stored rows, for the fuzzer.
//!
//! No public function accepts a row, because rows are read from the database file only. Without
//! this module the fuzzer would have to write a whole database for each input. The module is not
//! part of the crate's interface.

use crate::{
    index::{Kind, Manifest, bloom::BloomFilter, key::position, run::block::entry_at},
    tables::{
        codec::{self, decode, encode},
        rows::TransactionRow,
        schema::PersistedHead,
    },
};
use ledger_types::{BlockInfo, ContractEvent};
use serde::{Serialize, de::DeserializeOwned};

/// Decodes `row` as the given kind of row, and checks that the result is encoded to the same
/// bytes.
///
/// Kinds 0 to 6 are a transaction, an event, a write, a block, a head, a manifest, and an entry of
/// the pruned state. The kinds from 7 on are a block of entries of each index, in the order of
/// `Kind::ALL`. Any greater number is a segment of a bloom filter.
///
/// # Panics
///
/// Panics if an accepted row is encoded to other bytes.
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

/// Number of the first kind after those of index entries.
const FILTER: u8 = 7 + Kind::ALL.len() as u8;

/// Checks that a row that decodes as `T` is encoded to the same bytes.
fn check<T: DeserializeOwned + Serialize>(row: &[u8]) {
    if let Ok(value) = decode::<T>(row, "a row") {
        same(row, &value);
    }
}

fn same<T: Serialize>(row: &[u8], value: &T) {
    let written = encode(value).expect("what was read can be written");
    assert_eq!(written, row, "a row has two forms");
}

fn check_transaction(row: &[u8]) {
    let height = TransactionRow::height_of(row, 0);
    if let Ok(decoded) = TransactionRow::decode(row, 0) {
        assert!(height.is_ok(), "a row without a height was read");
        let rest = (
            &decoded.transaction,
            &decoded.info,
            &decoded.accumulator_root,
        );
        same(&row[size_of::<u64>()..], &rest);
    }
}

fn check_write(row: &[u8]) {
    if let Ok(write) = codec::decode_write(row, "a row") {
        same(row, &write);
        // Only the reader of the key checks the key's own bytes, so an error is no failure here.
        let _ = write.0.decode();
    }
}

fn check_pruned_state(row: &[u8]) {
    codec::is_deletion(row);
    if let Ok(Some(write)) = codec::decode_payload(row) {
        same(&row[1..], &write);
    }
    if let Ok(end) = codec::decode_stream_end(row) {
        same(&row[1..], &end);
    }
}

/// Checks that an accepted segment can be searched for any key.
fn check_filter(row: &[u8]) {
    let mut filter = BloomFilter::default();
    if filter.push(&[], row).is_ok() {
        filter.may_contain(row);
        filter.may_contain(&[]);
    }
}

/// Checks that the entries of a block do not overlap, and that their versions and positions can be
/// decoded.
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
