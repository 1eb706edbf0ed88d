//! Cases of stores that owners create and remove.

use super::{
    NATIVE,
    powers::{FREEZE, IS_FROZEN},
};
use crate::functions::{
    Case, Expected, args,
    coin::{create_funded_coin, paired_asset},
    fungible_asset::{
        METADATA, MOON_BALANCE, STORE, create_moon, create_store, primary_store, store_balance,
    },
    managed_object::event_field,
    object::{create_named_object, owner},
};

const CREATE_STORE: &str = "0x1::managed_fungible_asset::create_store";
const PRIMARY_STORE_OF_COIN: Expected = Expected::Abort(
    "0x1::managed_fungible_asset: EPRIMARY_STORE_OF_COIN(0x10003): the primary store of a coin cannot be \
     removed, because its event streams would restart",
);
const REMOVE_STORE: &str = "0x1::managed_fungible_asset::remove_store";

pub(super) fn cases() -> Vec<Case> {
    [created_stores(), removed_stores()]
        .into_iter()
        .flatten()
        .collect()
}

fn created_stores() -> Vec<Case> {
    vec![
        Case::new(
            CREATE_STORE,
            "asset of another account",
            Expected::Success(&["0x1::managed_fungible_asset::StoreCreation"]),
            |world| {
                let asset = create_moon(world);
                let executed = world.call(1, CREATE_STORE, &[], args![asset]);
                let event = "0x1::managed_fungible_asset::StoreCreation";
                let store = event_field(world, &executed, event, "store");
                assert_eq!(store_balance(world, store), 0);
                assert_eq!(owner(world, store), world.address(1).to_string());
                executed
            },
        ),
        Case::new(
            CREATE_STORE,
            "paired asset of the chain's coin",
            Expected::Success(&["0x1::managed_fungible_asset::StoreCreation"]),
            |world| {
                let executed = world.call(0, CREATE_STORE, &[], args![NATIVE]);
                let event = "0x1::managed_fungible_asset::StoreCreation";
                let store = event_field(world, &executed, event, "store");
                let primary = primary_store(world, world.address(0), NATIVE);
                let transfer = "0x1::fungible_asset::transfer";
                world.call_ok(0, transfer, &[STORE], args![primary, store, 7u64]);
                assert_eq!(store_balance(world, store), 7);
                executed
            },
        ),
    ]
}

fn removed_stores() -> Vec<Case> {
    const REMOVED: Expected = Expected::Success(&["0x1::fungible_asset::FungibleStoreDeletion"]);
    vec![
        Case::new(
            REMOVE_STORE,
            "refunds the storage deposit",
            REMOVED,
            |world| {
                let asset = create_moon(world);
                let store = create_store(world, 1, asset);
                let executed = world.call(1, REMOVE_STORE, &[], args![store]);
                let exists = world.view("0x1::fungible_asset::store_exists", &[], args![store]);
                assert_eq!(exists[0], false);
                assert!(world.net_fee(&executed) < 0, "the refund exceeds the fee");
                executed
            },
        ),
        Case::new(
            REMOVE_STORE,
            "removed primary store is recreated by a deposit",
            REMOVED,
            |world| {
                let (asset, holder, to) = (create_moon(world), world.address(0), world.address(1));
                let transfer = "0x1::primary_fungible_store::transfer";
                world.call_ok(0, transfer, &[METADATA], args![asset, to, MOON_BALANCE]);
                let store = primary_store(world, holder, asset);
                let executed = world.call(0, REMOVE_STORE, &[], args![store]);
                world.call_ok(1, transfer, &[METADATA], args![asset, holder, 1u64]);
                assert_eq!(store_balance(world, store), 1);
                executed
            },
        ),
        Case::new(
            REMOVE_STORE,
            "store with a balance",
            Expected::Abort(
                "0x1::fungible_asset: EBALANCE_IS_NOT_ZERO(0x5000e): the store is not empty",
            ),
            |world| {
                let asset = create_moon(world);
                let store = primary_store(world, world.address(0), asset);
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
        Case::new(REMOVE_STORE, "frozen store", IS_FROZEN, |world| {
            let (asset, owner) = (create_moon(world), world.address(1));
            world.call_ok(0, FREEZE, &[], args![asset, owner]);
            let store = primary_store(world, owner, asset);
            world.call(1, REMOVE_STORE, &[], args![store])
        }),
        Case::new(
            REMOVE_STORE,
            "secondary store of a coin",
            REMOVED,
            |world| {
                let store = create_store(world, 1, NATIVE);
                world.call(1, REMOVE_STORE, &[], args![store])
            },
        ),
        Case::new(
            REMOVE_STORE,
            "empty primary store of a coin",
            PRIMARY_STORE_OF_COIN,
            |world| {
                let coin = create_funded_coin(world, &[0]);
                let store = primary_store(world, world.address(0), paired_asset(world, &coin));
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
        Case::new(
            REMOVE_STORE,
            "empty primary store of an object",
            PRIMARY_STORE_OF_COIN,
            |world| {
                let object = create_named_object(world, b"a");
                let transfer = "0x1::node_account::transfer";
                world.call_ok(0, transfer, &[], args![object, 0u64]);
                let store = primary_store(world, object, NATIVE);
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
        Case::new(
            REMOVE_STORE,
            "by an account that does not own the store",
            Expected::Abort(
                "0x1::fungible_asset: ENOT_STORE_OWNER(0x50008): the sender does not own this store",
            ),
            |world| {
                let asset = create_moon(world);
                let store = create_store(world, 1, asset);
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
    ]
}
