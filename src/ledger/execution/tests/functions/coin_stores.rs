//! The stores that hold a coin: secondary ones, their event streams, and the slots that a transfer
//! writes.

use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, NATIVE, UNKNOWN_ADDRESS, account_address, assert_holds, create_funded_coin, freeze,
        initialize_coin, mint, moon_type, paired_asset, pay, view,
    },
    event_types,
    fungible_asset::{STORE, create_store, primary_store, store_balance},
};
use ledger_framework::modules::{
    fungible_asset::FungibleAssetEvents,
    object::{INIT_GUID_CREATION_NUM, user_derived_address},
};
use ledger_types::{
    AccountAddress, EventKey, ExecutedTransaction, StateKey, StateKeyParts, StructTag,
    state::group_members,
};
use serde_json::json;

/// Returns the cases of stores of a coin's paired asset.
pub(crate) fn cases() -> Vec<Case> {
    let transfer = "0x1::fungible_asset::transfer";
    vec![
        Case::new(
            transfer,
            "from the primary store of a coin to a secondary one",
            // Only primary stores have event streams.
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::WithdrawEvent",
                "0x1::fungible_asset::Deposit",
            ]),
            |world| {
                let (coin, primary, secondary) = create_coin_with_secondary_store(world);
                let arguments = args![primary, secondary, 4u64];
                let transfer = "0x1::fungible_asset::transfer";
                let executed = world.call(0, transfer, &[STORE], arguments);
                assert_eq!(store_balance(world, secondary), 4);
                // The balance of an account is that of its primary store alone.
                assert_holds(world, &coin, account_address(0), 6);
                let supply = view(world, "supply", &coin, vec![]);
                assert_eq!(supply, json!({"vec": ["10"]}));
                executed
            },
        ),
        Case::new(
            transfer,
            "from a secondary store of a coin to the primary one",
            Expected::Success(&[
                "0x1::fungible_asset::Withdraw",
                "0x1::fungible_asset::Deposit",
                "0x1::fungible_asset::DepositEvent",
            ]),
            |world| {
                let (coin, primary, secondary) = create_coin_with_secondary_store(world);
                let transfer = "0x1::fungible_asset::transfer";
                world.call_ok(0, transfer, &[STORE], args![primary, secondary, 4u64]);
                let arguments = args![secondary, primary, 4u64];
                let executed = world.call(0, transfer, &[STORE], arguments);
                assert_holds(world, &coin, account_address(0), 10);
                executed
            },
        ),
        Case::new(
            transfer,
            "from a frozen primary store of a coin",
            FROZEN,
            |world| {
                let (coin, primary, secondary) = create_coin_with_secondary_store(world);
                freeze(world, &coin, 0);
                let transfer = "0x1::fungible_asset::transfer";
                world.call(0, transfer, &[STORE], args![primary, secondary, 4u64])
            },
        ),
    ]
}

/// Creates a coin of which account 0 holds 10 units, and a secondary store of account 0.
///
/// Returns the coin, the primary store, and the secondary store.
fn create_coin_with_secondary_store(world: &mut World) -> (String, AccountAddress, AccountAddress) {
    let coin = initialize_coin(world, true);
    mint(world, &coin, account_address(0), 10);
    let asset = paired_asset(world, &coin);
    let primary = primary_store(world, account_address(0), asset);
    let secondary = create_store(world, 0, asset);
    (coin, primary, secondary)
}

/// Returns the event streams of a store, or `None` if the store has none.
fn event_streams(world: &World, store: AccountAddress) -> Option<FungibleAssetEvents> {
    let registry = world.chain().registry();
    let group = &world.chain.state[&registry.group_key(&store)];
    let tag = registry.tag_of::<FungibleAssetEvents>(&[]);
    let streams = group_members(group).unwrap().remove(&tag)?;
    Some(bcs::from_bytes(&streams).unwrap())
}

/// Returns the stream positions of the events of a transaction that belong to streams.
fn stream_positions(executed: &ExecutedTransaction) -> Vec<(EventKey, u64)> {
    let events = executed.events.iter();
    events
        .filter_map(ledger_types::ContractEvent::stream_position)
        .collect()
}

#[test]
fn numbers_the_events_of_each_store_from_zero() {
    let mut world = World::new();
    let (from, to) = (
        native_store(account_address(0)),
        native_store(UNKNOWN_ADDRESS),
    );
    let key = |store: AccountAddress, number: u64| EventKey {
        account_address: store,
        creation_number: INIT_GUID_CREATION_NUM + number,
    };
    for count in 0..3 {
        let executed = pay(&mut world, NATIVE, UNKNOWN_ADDRESS, 1);
        let expected = [(key(from, 2), count), (key(to, 1), count)];
        assert_eq!(stream_positions(&executed), expected);
    }
    let streams = event_streams(&world, to).unwrap();
    assert_eq!(streams.deposit_events.key(), key(to, 1));
    assert_eq!(streams.withdraw_events.key(), key(to, 2));
    assert_eq!(streams.frozen_events.key(), key(to, 3));
    assert_eq!(streams.deposit_events.counter, 3);
    assert_eq!(streams.withdraw_events.counter, 0);
    let tag: StructTag = "0x1::object::ObjectCore".parse().unwrap();
    let group = &world.chain.state[&world.chain().registry().group_key(&to)];
    let core = group_members(group).unwrap().remove(&tag).unwrap();
    let core = world
        .chain()
        .registry()
        .value_to_json(&tag.into(), &core)
        .unwrap();
    let next = (INIT_GUID_CREATION_NUM + 4).to_string();
    assert_eq!(
        core["guid_creation_num"], next,
        "a later handle has its own number"
    );
}

#[test]
fn emits_only_module_events_without_event_handles() {
    let mut world = World::without_event_handles();
    let module_events = [
        "0x1::fungible_asset::Withdraw",
        "0x1::fungible_asset::Deposit",
    ];
    for (coin, to) in [(NATIVE.to_owned(), UNKNOWN_ADDRESS), {
        let coin = initialize_coin(&mut world, true);
        mint(&mut world, &coin, account_address(0), 10);
        (coin, account_address(1))
    }] {
        let executed = pay(&mut world, &coin, to, 3);
        assert_eq!(event_types(&executed), module_events, "{coin}");
        assert_holds(&world, &coin, to, 3);
        let asset = paired_asset(&world, &coin);
        for owner in [account_address(0), to] {
            let streams = event_streams(&world, user_derived_address(owner, asset));
            assert!(streams.is_none(), "{coin}: {streams:?}");
        }
    }
    let coin = moon_type();
    let frozen = world.call_ok(
        0,
        "0x1::managed_coin::freeze_coin_store",
        &[&coin],
        args![account_address(1)],
    );
    assert_eq!(event_types(&frozen), ["0x1::fungible_asset::Frozen"]);
}

/// Returns the address of the primary store of the chain's coin.
pub(crate) fn native_store(owner: AccountAddress) -> AccountAddress {
    user_derived_address(owner, AccountAddress::NATIVE_ASSET)
}

/// Returns the written slots of a transaction: their addresses and the names of their structs.
pub(crate) fn written_slots(executed: &ExecutedTransaction) -> Vec<(AccountAddress, String)> {
    let slot = |key: &StateKey| match key.decode().unwrap() {
        StateKeyParts::Resource { address, tag }
        | StateKeyParts::ResourceGroup { address, tag } => (address, tag.name.to_string()),
        other => panic!("{other:?}"),
    };
    let mut slots: Vec<_> = executed.writes.iter().map(|(key, _)| slot(key)).collect();
    slots.sort();
    slots
}

#[test]
fn writes_only_the_slots_of_both_accounts_in_a_transfer() {
    let mut world = World::new();
    let coin = create_funded_coin(&mut world, &[10, 10]);
    let (from, to) = (account_address(0), account_address(1));
    let group = "ObjectGroup".to_owned();
    let mut expected = vec![
        (from, "Account".to_owned()),
        (native_store(from), group.clone()),
        (native_store(to), group.clone()),
    ];
    expected.sort();
    let native = pay(&mut world, NATIVE, to, 1);
    assert_eq!(written_slots(&native), expected);
    // Another coin has its own stores; the store of the chain's coin pays the fee.
    let asset = paired_asset(&world, &coin);
    let mut expected = vec![
        (from, "Account".to_owned()),
        (native_store(from), group.clone()),
        (user_derived_address(from, asset), group.clone()),
        (user_derived_address(to, asset), group),
    ];
    expected.sort();
    let other = pay(&mut world, &coin, to, 1);
    assert_eq!(written_slots(&other), expected);
}
