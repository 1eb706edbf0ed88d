//! Write sets of unrelated users.
//!
//! Their transactions change no common slot, because no counter and no supply is shared between
//! them. The only exception are escrows of the chain's coin, which move an amount between its two
//! supplies.

use crate::programs::program::{Form, NATIVE, Program, account, args, asset_of, coin_of};
use ledger_framework::modules::coin::CoinInfo;
use ledger_types::{AccountAddress, StateKey};
use std::collections::BTreeSet;

/// Executes each kind of call once for `user`, and returns the state keys that the calls write.
fn written_keys(program: &mut Program, user: usize, friend: usize) -> BTreeSet<StateKey> {
    let coin = coin_of(user);
    let fresh = AccountAddress::from_low_u64(0xabc0 + user as u64);
    let deadline_secs = program.chain.tip.timestamp_usecs / 1_000_000 + 1_000;
    let owners = Vec::<AccountAddress>::new();
    let no_metadata = Vec::<Vec<u8>>::new();
    let to = account(friend);
    let metadata = "0x1::fungible_asset::Metadata";
    let calls = [
        program.request(user, "0x1::node_account::transfer", &[], args![to, 5u64]),
        program.request(user, "0x1::node_account::create_account", &[], args![fresh]),
        program.request(user, "0x1::coin::transfer", &[&coin], args![to, 5u64]),
        program.request(user, "0x1::managed_coin::mint", &[&coin], args![to, 5u64]),
        program.request(
            user,
            "0x1::primary_fungible_store::transfer",
            &[metadata],
            args![asset_of(user), to, 5u64],
        ),
        program.request(
            user,
            "0x1::managed_fungible_asset::mint",
            &[],
            args![asset_of(user), to, 5u64],
        ),
        program.request(user, "0x1::managed_object::create_generated", &[], args![]),
        program.request(user, "0x1::registry::set", &[], args!["n", vec![1u8]]),
        program.request(
            user,
            "0x1::escrow::open",
            &[&coin],
            args![to, 5u64, deadline_secs],
        ),
        program.request(
            user,
            "0x1::multisig_account::create_with_owners",
            &[],
            args![owners, 1u64, no_metadata, no_metadata],
        ),
    ];
    let mut keys = BTreeSet::new();
    for request in calls {
        let payload_text = format!("{:?}", request.payload);
        let executed = program.run(request).unwrap();
        assert!(executed.info.v0().status.is_success(), "{payload_text}");
        keys.extend(executed.writes.iter().map(|(key, _)| key.clone()));
    }
    // The hash of sender and nonce selects one of 65,536 slots. The two users of the test get
    // different ones.
    let form = Form {
        fee_payer: None,
        nonce: Some(1),
    };
    let request = program.request(user, "0x1::node_account::transfer", &[], args![to, 5u64]);
    let executed = program.run_as(request, form).unwrap();
    keys.extend(executed.writes.iter().map(|(key, _)| key.clone()));
    keys
}

#[test]
fn changes_no_common_slot_in_unrelated_transactions() {
    let mut program = Program::new(1);
    let (one, other) = (
        written_keys(&mut program, 0, 1),
        written_keys(&mut program, 2, 3),
    );
    assert!(one.len() > 15 && other.len() > 15);
    let common: Vec<_> = one.intersection(&other).map(StateKey::decode).collect();
    assert!(common.is_empty(), "{common:#?}");
}

#[test]
fn changes_only_the_supplies_in_common_by_escrows_of_the_native_coin() {
    let mut program = Program::new(1);
    let mut open = |payer: usize, recipient: usize| -> BTreeSet<StateKey> {
        let deadline_secs = program.chain.tip.timestamp_usecs / 1_000_000 + 1_000;
        let arguments = args![account(recipient), 5u64, deadline_secs];
        let request = program.request(payer, "0x1::escrow::open", &[NATIVE], arguments);
        let executed = program.run(request).unwrap();
        assert!(executed.info.v0().status.is_success());
        executed.writes.iter().map(|(key, _)| key.clone()).collect()
    };
    let (one, other) = (open(0, 1), open(2, 3));
    let common: BTreeSet<StateKey> = one.intersection(&other).cloned().collect();
    let registry = program.chain.chain.registry();
    let native = std::slice::from_ref(registry.native_coin());
    let supplies = [
        registry.resource_key::<CoinInfo>(&AccountAddress::ONE, native),
        registry.group_key(&AccountAddress::NATIVE_ASSET),
    ];
    assert_eq!(common, BTreeSet::from(supplies));
}
