//! Cases of the functions that only the manager of an asset may call.

use super::{NATIVE, NOT_MANAGER};
use crate::functions::{
    Case, Expected, World, args,
    fungible_asset::{
        METADATA, MOON_BALANCE, MOON_MAX, STORE, balance, create_asset, create_moon, create_store,
        primary_store, store_balance, supply,
    },
};
use ledger_types::AccountAddress;

const NOT_MANAGED: Expected = Expected::Abort(
    "0x1::managed_fungible_asset: ENOT_MANAGED(0x60002): this asset has no manager: it was not made by \
     managed_fungible_asset",
);
const NO_STORE: Expected = Expected::Abort(
    "0x1::fungible_asset: EFUNGIBLE_STORE_EXISTENCE(0x60017): this object is no store of a fungible asset",
);
const SUPPLY_EXCEEDED: Expected = Expected::Abort(
    "0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
);
pub(super) const IS_FROZEN: Expected = Expected::Abort(
    "0x1::fungible_asset: ESTORE_IS_FROZEN(0x50003): the store of this asset is frozen",
);
const FROZEN: Expected = Expected::Success(&["0x1::fungible_asset::Frozen"]);
const MINTED: Expected = Expected::Success(&["0x1::fungible_asset::Deposit"]);
const BURNT: Expected = Expected::Success(&["0x1::fungible_asset::Withdraw"]);
const TRANSFERRED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::Deposit",
]);
pub(super) const MINT: &str = "0x1::managed_fungible_asset::mint";
pub(super) const FREEZE: &str = "0x1::managed_fungible_asset::freeze";
const BURN: &str = "0x1::managed_fungible_asset::burn";
const BURN_FROM_STORE: &str = "0x1::managed_fungible_asset::burn_from_store";
const FREEZE_STORE: &str = "0x1::managed_fungible_asset::freeze_store";
const UNFREEZE: &str = "0x1::managed_fungible_asset::unfreeze";
const UNFREEZE_STORE: &str = "0x1::managed_fungible_asset::unfreeze_store";
const TRANSFER: &str = "0x1::managed_fungible_asset::transfer";

fn is_frozen(world: &World, store: AccountAddress) -> bool {
    world.view("0x1::fungible_asset::is_frozen", &[STORE], args![store])[0] == true
}

pub(super) fn cases() -> Vec<Case> {
    [mints(), burns(), freezes(), forced_transfers()]
        .into_iter()
        .flatten()
        .collect()
}

fn mints() -> Vec<Case> {
    vec![
        Case::new(MINT, "supply equal to the maximum", MINTED, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            let rest = u64::try_from(MOON_MAX).unwrap() - MOON_BALANCE;
            let executed = world.call(0, MINT, &[], args![asset, to, rest]);
            assert_eq!(balance(world, to, asset), rest);
            assert_eq!(supply(world, asset), MOON_MAX);
            executed
        }),
        Case::new(
            MINT,
            "supply above the maximum",
            Expected::Abort(
                "0x1::fungible_asset: EMAX_SUPPLY_EXCEEDED(0x20005): the supply would exceed the maximum of \
                 this asset",
            ),
            |world| {
                let (asset, to) = (create_moon(world), world.address(1));
                let rest = u64::try_from(MOON_MAX).unwrap() - MOON_BALANCE;
                world.call(0, MINT, &[], args![asset, to, rest + 1])
            },
        ),
        Case::new(MINT, "by an indirect owner of the asset", MINTED, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            let parent = crate::functions::object::create_named_object(world, b"a");
            world.call_ok(0, "0x1::object::transfer_call", &[], args![asset, parent]);
            world.call(0, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(MINT, "by the new owner of the asset", MINTED, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            world.call_ok(0, "0x1::object::transfer", &[METADATA], args![asset, to]);
            world.call(1, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(
            MINT,
            "by the creator after transferring the asset",
            NOT_MANAGER,
            |world| {
                let (asset, to) = (create_moon(world), world.address(1));
                world.call_ok(0, "0x1::object::transfer", &[METADATA], args![asset, to]);
                world.call(0, MINT, &[], args![asset, to, 1u64])
            },
        ),
        Case::new(MINT, "paired asset of a coin", NOT_MANAGED, |world| {
            let to = world.address(1);
            world.call(0, MINT, &[], args![NATIVE, to, 1u64])
        }),
        Case::new(MINT, "to a frozen store", IS_FROZEN, |world| {
            let (asset, to) = (create_moon(world), world.address(1));
            world.call_ok(0, FREEZE, &[], args![asset, to]);
            world.call(0, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(
            MINT,
            "recipient store's balance overflows",
            Expected::Status(
                "Execution failed in 0x1::managed_fungible_asset::mint at code offset 0",
            ),
            |world| {
                let (asset, to) = (create_asset(world, "SUN", None), world.address(1));
                world.call_ok(0, MINT, &[], args![asset, to, u64::MAX]);
                let executed = world.call(0, MINT, &[], args![asset, to, 1u64]);
                assert_eq!(
                    supply(world, asset),
                    u128::from(u64::MAX),
                    "the supply is unchanged"
                );
                executed
            },
        ),
    ]
}

fn burns() -> Vec<Case> {
    vec![
        Case::new(BURN, "from a frozen store", BURNT, |world| {
            let (asset, holder) = (create_moon(world), world.address(0));
            world.call_ok(0, FREEZE, &[], args![asset, holder]);
            let executed = world.call(0, BURN, &[], args![asset, holder, 400u64]);
            assert_eq!(
                (balance(world, holder, asset), supply(world, asset)),
                (600, 600)
            );
            executed
        }),
        Case::new(BURN, "from an account without a store", NO_STORE, |world| {
            let (asset, from) = (create_moon(world), world.address(1));
            world.call(0, BURN, &[], args![asset, from, 0u64])
        }),
        Case::new(BURN, "amount above the balance", SUPPLY_EXCEEDED, |world| {
            let (asset, holder) = (create_moon(world), world.address(0));
            world.call(0, BURN, &[], args![asset, holder, MOON_BALANCE + 1])
        }),
        Case::new(
            BURN,
            "by an account that is not the manager",
            NOT_MANAGER,
            |world| {
                let (asset, from) = (create_moon(world), world.address(1));
                world.call(1, BURN, &[], args![asset, from, 0u64])
            },
        ),
        Case::new(BURN_FROM_STORE, "from a secondary store", BURNT, |world| {
            let asset = create_moon(world);
            let (first, second) = (
                primary_store(world, world.address(0), asset),
                create_store(world, 1, asset),
            );
            let transfer = "0x1::fungible_asset::transfer";
            world.call_ok(0, transfer, &[STORE], args![first, second, 10u64]);
            let executed = world.call(0, BURN_FROM_STORE, &[], args![second, 4u64]);
            assert_eq!(store_balance(world, second), 6);
            assert_eq!(supply(world, asset), u128::from(MOON_BALANCE) - 4);
            executed
        }),
        Case::new(
            BURN_FROM_STORE,
            "by the owner of the store",
            NOT_MANAGER,
            |world| {
                let asset = create_moon(world);
                let store = create_store(world, 1, asset);
                world.call(1, BURN_FROM_STORE, &[], args![store, 0u64])
            },
        ),
    ]
}

fn freezes() -> Vec<Case> {
    vec![
        Case::new(FREEZE, "creates a missing store", FROZEN, |world| {
            let (asset, owner) = (create_moon(world), world.address(1));
            let executed = world.call(0, FREEZE, &[], args![asset, owner]);
            assert!(is_frozen(world, primary_store(world, owner, asset)));
            let function = "0x1::primary_fungible_store::is_frozen";
            assert_eq!(
                world.view(function, &[METADATA], args![owner, asset])[0],
                true
            );
            executed
        }),
        Case::new(
            FREEZE,
            "by an account that is not the manager",
            NOT_MANAGER,
            |world| {
                let (asset, owner) = (create_moon(world), world.address(0));
                world.call(1, FREEZE, &[], args![asset, owner])
            },
        ),
        Case::new(UNFREEZE, "unfreezes the store", FROZEN, |world| {
            let (asset, owner) = (create_moon(world), world.address(1));
            world.call_ok(0, FREEZE, &[], args![asset, owner]);
            let executed = world.call(0, UNFREEZE, &[], args![asset, owner]);
            assert!(!is_frozen(world, primary_store(world, owner, asset)));
            executed
        }),
        Case::new(FREEZE_STORE, "secondary store", FROZEN, |world| {
            let asset = create_moon(world);
            let store = create_store(world, 1, asset);
            let executed = world.call(0, FREEZE_STORE, &[], args![store]);
            assert!(is_frozen(world, store));
            executed
        }),
        Case::new(
            FREEZE_STORE,
            "by the owner of the store",
            NOT_MANAGER,
            |world| {
                let asset = create_moon(world);
                let store = create_store(world, 1, asset);
                world.call(1, FREEZE_STORE, &[], args![store])
            },
        ),
        Case::new(UNFREEZE_STORE, "secondary store", FROZEN, |world| {
            let asset = create_moon(world);
            let store = create_store(world, 1, asset);
            world.call_ok(0, FREEZE_STORE, &[], args![store]);
            let executed = world.call(0, UNFREEZE_STORE, &[], args![store]);
            assert!(!is_frozen(world, store));
            executed
        }),
    ]
}

fn forced_transfers() -> Vec<Case> {
    vec![
        Case::new(TRANSFER, "between frozen stores", TRANSFERRED, |world| {
            let (asset, from, to) = (create_moon(world), world.address(0), world.address(1));
            for owner in [from, to] {
                world.call_ok(0, FREEZE, &[], args![asset, owner]);
            }
            // The manager is not the holder of the asset.
            let manager = world.address(2);
            world.call_ok(
                0,
                "0x1::object::transfer",
                &[METADATA],
                args![asset, manager],
            );
            let executed = world.call(2, TRANSFER, &[], args![asset, from, to, 300u64]);
            assert_eq!(
                (balance(world, from, asset), balance(world, to, asset)),
                (700, 300)
            );
            executed
        }),
        Case::new(
            TRANSFER,
            "from an account without a store",
            NO_STORE,
            |world| {
                let (asset, from, to) = (create_moon(world), world.address(1), world.address(0));
                world.call(0, TRANSFER, &[], args![asset, from, to, 1u64])
            },
        ),
        Case::new(
            TRANSFER,
            "amount above the balance",
            SUPPLY_EXCEEDED,
            |world| {
                let (asset, from, to) = (create_moon(world), world.address(0), world.address(1));
                world.call(0, TRANSFER, &[], args![asset, from, to, MOON_BALANCE + 1])
            },
        ),
        Case::new(
            TRANSFER,
            "by an account that is not the manager",
            NOT_MANAGER,
            |world| {
                let (asset, from, to) = (create_moon(world), world.address(0), world.address(1));
                world.call(1, TRANSFER, &[], args![asset, from, to, 1u64])
            },
        ),
    ]
}
