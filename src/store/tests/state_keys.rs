//! State keys of an address, in cases that the random chains of the model do not reach.

use crate::tests::{
    OPTIONS, SMALL_RUNS,
    kit::{Maker, Spec, address, genesis, resource_key},
    with_config,
};
use crate::{AddressStateEntry, Snapshot, Store, StoreWriter};
use ledger_types::WriteOp;
use std::{collections::BTreeMap, path::Path, sync::Arc};

const OWNER: u64 = 7;
const SLOTS: u64 = 10;
const BLOCKS: u64 = 200;

/// Creates a ledger whose blocks all write the first slot of an account, and another slot that
/// changes every twenty blocks.
fn with_a_hot_slot(directory: &Path) -> (StoreWriter, Snapshot) {
    let mut maker = Maker::new();
    let mut store = with_config(Store::open(directory, &OPTIONS).unwrap(), SMALL_RUNS);
    store
        .initialize(&genesis(), &maker.first_block(BTreeMap::new()))
        .unwrap();
    let (mut writer, reader) = store.split();
    for number in 0..BLOCKS {
        let state_keys = [0, number / (BLOCKS / SLOTS)];
        let write = |slot| (resource_key(OWNER, slot), WriteOp::Put(vec![1].into()));
        let spec = Spec {
            writes: state_keys.map(write).into(),
            ..Spec::default()
        };
        writer.commit(&[Arc::new(maker.block(vec![spec]))]).unwrap();
    }
    let snapshot = reader.snapshot().unwrap();
    (writer, snapshot)
}

#[test]
fn a_slot_that_is_written_all_the_time_is_listed_once() {
    let directory = tempfile::tempdir().unwrap();
    let (_writer, snapshot) = with_a_hot_slot(directory.path());
    let version = snapshot.ledger_info().version;
    let state_keys = snapshot.state_keys(&address(OWNER), version, None).unwrap();
    let state_keys: Vec<AddressStateEntry> = state_keys.map(Result::unwrap).collect();
    assert_eq!(state_keys.len() as u64, SLOTS, "{state_keys:?}");
    assert!(
        state_keys.iter().all(|slot| slot.key_value.is_some()),
        "{state_keys:?}"
    );
}

/// Simulates two addresses whose digests have the same prefix, which chance does not produce.
#[test]
fn slots_of_another_address_among_them_hold_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (_writer, snapshot) = with_a_hot_slot(directory.path());
    let version = snapshot.ledger_info().version;
    let mut state_keys = snapshot.state_keys(&address(OWNER), version, None).unwrap();
    state_keys.address = address(OWNER + 1);
    let key_value: Vec<_> = state_keys
        .filter_map(|slot| slot.unwrap().key_value)
        .collect();
    assert_eq!(key_value, []);
}
