//! Slots of an address where the model's random chains do not reach.

use super::{
    FAST, OPTIONS,
    kit::{Maker, Spec, address, genesis, resource_key},
    with_pace,
};
use crate::{Slot, Snapshot, Store, StoreWriter};
use ledger_types::WriteOp;
use std::{collections::BTreeMap, path::Path, sync::Arc};

const OWNER: u64 = 7;
const SLOTS: u64 = 10;
const BLOCKS: u64 = 200;

/// A ledger whose blocks all write the same slot of an account, and one in twenty another one.
fn with_a_hot_slot(directory: &Path) -> (StoreWriter, Snapshot) {
    let mut maker = Maker::new();
    let mut store = with_pace(Store::open(directory, &OPTIONS).unwrap(), FAST);
    store
        .initialize(&genesis(), &maker.first_block(BTreeMap::new()))
        .unwrap();
    let (mut writer, reader) = store.split();
    for number in 0..BLOCKS {
        let slots = [0, number / (BLOCKS / SLOTS)];
        let write = |slot| (resource_key(OWNER, slot), WriteOp::Put(vec![1].into()));
        let spec = Spec {
            writes: slots.map(write).into(),
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
    let slots = snapshot.slots(&address(OWNER), version, None).unwrap();
    let slots: Vec<Slot> = slots.map(Result::unwrap).collect();
    assert_eq!(slots.len() as u64, SLOTS, "{slots:?}");
    assert!(slots.iter().all(|slot| slot.held.is_some()), "{slots:?}");
}

/// As where the digests of two addresses begin alike, which chance does not bring about.
#[test]
fn slots_of_another_address_among_them_hold_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (_writer, snapshot) = with_a_hot_slot(directory.path());
    let version = snapshot.ledger_info().version;
    let mut slots = snapshot.slots(&address(OWNER), version, None).unwrap();
    slots.address = address(OWNER + 1);
    let held: Vec<_> = slots.filter_map(|slot| slot.unwrap().held).collect();
    assert_eq!(held, []);
}
