//! Cases of `0x1::primary_fungible_store`, with an asset that has its own stores, and with the
//! paired asset of the chain's coin.

use crate::functions::{
    Case, Expected, World, args,
    coin::{FROZEN, INSUFFICIENT, PAID},
    fungible_asset::{METADATA, MOON_BALANCE, STORE, balance, create_moon, primary_store, supply},
    object::{CORE, create_named_object},
};
use ledger_framework::modules::object::user_derived_address;
use ledger_types::AccountAddress;

const TRANSFER: &str = "0x1::primary_fungible_store::transfer";
const AT_LEAST: &str = "0x1::primary_fungible_store::transfer_assert_minimum_deposit";
const NATIVE: AccountAddress = AccountAddress::NATIVE_ASSET;
const TRANSFERRED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::Deposit",
]);

fn exists(world: &World, owner: AccountAddress, asset: AccountAddress) -> bool {
    let function = "0x1::primary_fungible_store::primary_store_exists";
    world.view(function, &[METADATA], args![owner, asset])[0] == true
}

pub fn cases() -> Vec<Case> {
    [transfers(), rejected_transfers(), minimum_deposits()]
        .into_iter()
        .flatten()
        .collect()
}

fn transfers() -> Vec<Case> {
    vec![
        Case::new(
            TRANSFER,
            "to an account without a store",
            TRANSFERRED,
            |world| {
                let (asset, from, to) = (create_moon(world), world.address(0), world.address(1));
                assert!(!exists(world, to, asset));
                let executed = world.call(0, TRANSFER, &[METADATA], args![asset, to, 300u64]);
                assert_eq!(
                    (balance(world, from, asset), balance(world, to, asset)),
                    (700, 300)
                );
                assert_eq!(supply(world, asset), u128::from(MOON_BALANCE));
                let store = primary_store(world, to, asset);
                assert_eq!(store, user_derived_address(to, asset));
                let is_ungated = world.view(
                    "0x1::object::ungated_transfer_allowed",
                    &[CORE],
                    args![store],
                );
                assert_eq!(
                    is_ungated[0], false,
                    "a primary store cannot be transferred"
                );
                executed
            },
        ),
        Case::new(TRANSFER, "sender is the recipient", TRANSFERRED, |world| {
            let (asset, sender) = (create_moon(world), world.address(0));
            let executed = world.call(0, TRANSFER, &[METADATA], args![asset, sender, 300u64]);
            assert_eq!(balance(world, sender, asset), MOON_BALANCE);
            executed
        }),
        Case::new(
            TRANSFER,
            "zero amount creates the recipient's store",
            Expected::Success(&[]),
            |world| {
                let (asset, to) = (create_moon(world), world.address(1));
                let executed = world.call(0, TRANSFER, &[METADATA], args![asset, to, 0u64]);
                assert!(exists(world, to, asset));
                executed
            },
        ),
        Case::new(TRANSFER, "unburns a burned store", TRANSFERRED, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            let store = primary_store(world, world.address(0), asset);
            world.call_ok(0, "0x1::object::burn", &[STORE], args![store]);
            let executed = world.call(0, TRANSFER, &[METADATA], args![asset, to, 1u64]);
            let burnt = world.view("0x1::object::is_burnt", &[STORE], args![store]);
            assert_eq!(burnt[0], false);
            executed
        }),
        Case::new(TRANSFER, "paired asset transfers coins", PAID, |world| {
            let (to, before) = (world.address(1), world.balance(1));
            let executed = world.call(0, TRANSFER, &[METADATA], args![NATIVE, to, 300u64]);
            assert_eq!(world.balance(1), before + 300);
            assert_eq!(balance(world, to, NATIVE), before + 300);
            executed
        }),
    ]
}

fn rejected_transfers() -> Vec<Case> {
    vec![
        Case::new(
            TRANSFER,
            "from an account without a store",
            INSUFFICIENT,
            |world| {
                let (asset, to) = (create_moon(world), world.address(0));
                world.call(1, TRANSFER, &[METADATA], args![asset, to, 1u64])
            },
        ),
        Case::new(TRANSFER, "from a frozen store", FROZEN, |world| {
            let (asset, sender, to) = (create_moon(world), world.address(0), world.address(1));
            world.call_ok(
                0,
                "0x1::managed_fungible_asset::freeze",
                &[],
                args![asset, sender],
            );
            world.call(0, TRANSFER, &[METADATA], args![asset, to, 1u64])
        }),
        Case::new(TRANSFER, "to a frozen store", FROZEN, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            world.call_ok(
                0,
                "0x1::managed_fungible_asset::freeze",
                &[],
                args![asset, to],
            );
            world.call(0, TRANSFER, &[METADATA], args![asset, to, 1u64])
        }),
        Case::new(
            TRANSFER,
            "object that is not an asset",
            Expected::Abort(
                "0x1::object: ERESOURCE_DOES_NOT_EXIST(0x60007): the object has no resource of this type",
            ),
            |world| {
                let (object, to) = (create_named_object(world, b"a"), world.address(1));
                world.call(0, TRANSFER, &[CORE], args![object, to, 1u64])
            },
        ),
        Case::new(
            TRANSFER,
            "coin amount above the balance",
            INSUFFICIENT,
            |world| {
                let to = world.address(1);
                world.call(0, TRANSFER, &[METADATA], args![NATIVE, to, u64::MAX])
            },
        ),
    ]
}

fn minimum_deposits() -> Vec<Case> {
    const TOO_LITTLE: Expected = Expected::Abort(
        "0x1::dispatchable_fungible_asset: EAMOUNT_MISMATCH(0x70002): less would arrive than the sender \
         expects",
    );
    vec![
        Case::new(
            AT_LEAST,
            "minimum deposit equal to the amount",
            TRANSFERRED,
            |world| {
                let (asset, to) = (create_moon(world), world.address(1));
                let executed =
                    world.call(0, AT_LEAST, &[METADATA], args![asset, to, 300u64, 300u64]);
                assert_eq!(balance(world, to, asset), 300);
                executed
            },
        ),
        Case::new(
            AT_LEAST,
            "minimum deposit above the amount",
            TOO_LITTLE,
            |world| {
                let (asset, to) = (create_moon(world), world.address(1));
                world.call(0, AT_LEAST, &[METADATA], args![asset, to, 300u64, 301u64])
            },
        ),
        Case::new(AT_LEAST, "paired asset transfers coins", PAID, |world| {
            let to = world.address(1);
            world.call(0, AT_LEAST, &[METADATA], args![NATIVE, to, 300u64, 300u64])
        }),
    ]
}

#[test]
fn views_return_zero_for_missing_stores() {
    let mut world = World::new();
    let asset = create_moon(&mut world);
    let (holder, other) = (world.address(0), world.address(1));
    for (owner, asset, balance_if_stored) in [
        (holder, asset, Some(MOON_BALANCE)),
        (other, asset, None),
        (other, NATIVE, Some(world.balance(1))),
        (AccountAddress::from_low_u64(0xabcdef), NATIVE, None),
    ] {
        assert_eq!(
            balance(&world, owner, asset),
            balance_if_stored.unwrap_or(0)
        );
        assert_eq!(exists(&world, owner, asset), balance_if_stored.is_some());
        let at_least = "0x1::primary_fungible_store::is_balance_at_least";
        let is_balance_at_least =
            |amount: u64| world.view(at_least, &[METADATA], args![owner, asset, amount]);
        assert_eq!(is_balance_at_least(balance_if_stored.unwrap_or(0))[0], true);
        assert_eq!(
            is_balance_at_least(balance_if_stored.unwrap_or(0) + 1)[0],
            false
        );
        let frozen = world.view(
            "0x1::primary_fungible_store::is_frozen",
            &[METADATA],
            args![owner, asset],
        );
        assert_eq!(frozen[0], false);
        let store = world.try_view(
            "0x1::primary_fungible_store::primary_store",
            &[METADATA],
            args![owner, asset],
        );
        let address = user_derived_address(owner, asset).to_string();
        match balance_if_stored {
            Some(_) => assert_eq!(store.unwrap()[0]["inner"], address),
            None => assert!(store.unwrap_err().contains("EOBJECT_DOES_NOT_EXIST")),
        }
    }
}
