//! State keys of an address in cases that the random chains of the model do not reach.

use super::{Config, OPTIONS, configured};
use crate::{AddressStateEntry, Snapshot, Store, StoreWriter};
use ledger_test_support::generated::{
    BlockGenerator, TransactionSpec, address, genesis, resource_key,
};
use ledger_types::WriteOp;
use std::{collections::BTreeMap, path::Path, sync::Arc};

const OWNER: u64 = 7;
const RESOURCES: u64 = 10;
const BLOCKS: u64 = 200;

/// Creates a ledger in which each block writes the same resource of an account, and each twentieth
/// block a new one.
fn with_a_hot_key(directory: &Path) -> (StoreWriter, Snapshot) {
    let mut generator = BlockGenerator::new();
    let mut store = configured(Store::open(directory, &OPTIONS).unwrap(), Config::SMALL);
    store
        .initialize(&genesis(), &generator.first_block(BTreeMap::new()))
        .unwrap();
    let (mut writer, reader) = store.split();
    for number in 0..BLOCKS {
        let resources = [0, number / (BLOCKS / RESOURCES)];
        let write = |resource| {
            (
                resource_key(OWNER, resource),
                WriteOp::Create(vec![1].into()),
            )
        };
        let spec = TransactionSpec {
            writes: resources.map(write).into(),
            ..TransactionSpec::default()
        };
        writer
            .commit(&[Arc::new(generator.block(vec![spec]))])
            .unwrap();
    }
    let snapshot = reader.snapshot().unwrap();
    (writer, snapshot)
}

#[test]
fn lists_a_key_that_is_written_all_the_time_once() {
    let directory = tempfile::tempdir().unwrap();
    let (_writer, snapshot) = with_a_hot_key(directory.path());
    let version = snapshot.ledger_info().version;
    let entries = snapshot.state_keys(&address(OWNER), version, None).unwrap();
    let entries: Vec<AddressStateEntry> = entries.map(Result::unwrap).collect();
    assert_eq!(entries.len() as u64, RESOURCES, "{entries:?}");
    assert!(
        entries.iter().all(|entry| entry.key_value.is_some()),
        "{entries:?}"
    );
}

/// Digests of two addresses share a prefix too rarely for a test, so the scan gets another address.
#[test]
fn hides_values_of_another_address_with_the_same_prefix() {
    let directory = tempfile::tempdir().unwrap();
    let (_writer, snapshot) = with_a_hot_key(directory.path());
    let version = snapshot.ledger_info().version;
    let mut entries = snapshot.state_keys(&address(OWNER), version, None).unwrap();
    entries.address = address(OWNER + 1);
    let values: Vec<_> = entries
        .filter_map(|entry| entry.unwrap().key_value)
        .collect();
    assert_eq!(values, []);
}
