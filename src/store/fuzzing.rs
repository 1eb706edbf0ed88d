//! The decoders of stored rows, for the fuzzer.
//!
//! Rows come from the file only, so no public function takes one; the fuzzer would have to write a whole
//! database for each input. No part of the interface of this crate.

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

/// Decodes `row` as the kind of row with that number: a transaction, event, write, block, head, catalog of
/// runs, entry of the state below the window, from 7 on a block of index entries, or at last a segment of a filter.
///
/// # Panics
/// When a row that is accepted has another form when it is written again.
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

/// The number of the first kind behind those of entries.
const FILTER: u8 = 7 + Kind::ALL.len() as u8;

/// What is read of a row is written as the same row.
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
        // Whether the key's own bytes are a key's is asked where it is shown.
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

/// A segment says of every key whether it may be there.
fn check_filter(row: &[u8]) {
    let mut filter = BloomFilter::default();
    if filter.push(&[], row).is_ok() {
        filter.may_contain(row);
        filter.may_contain(&[]);
    }
}

/// A block of the index of that number: its entries do not run into each other, and each names a place.
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
