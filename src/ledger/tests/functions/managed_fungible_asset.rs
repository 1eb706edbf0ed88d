//! Cases of `0x1::managed_fungible_asset`.

use crate::{
    Case, Expected, World, args,
    fungible_asset::{
        METADATA, MOON_HELD, MOON_MAX, STORE, asset, balance, held, moon, primary, store, supply,
    },
};
use ledger::{AccountAddress, framework::modules::object::named_address};

const NATIVE: AccountAddress = AccountAddress::NATIVE_ASSET;
const NOT_MANAGER: Expected = Expected::Abort(
    "0x1::managed_fungible_asset: ENOT_MANAGER(0x50001): the sender does not own the object of this asset, \
     whose owner manages it",
);
const NOT_MANAGED: Expected = Expected::Abort(
    "0x1::managed_fungible_asset: ENOT_MANAGED(0x60002): this asset has no manager: it was not made by \
     managed_fungible_asset",
);
const NO_STORE: Expected = Expected::Abort(
    "0x1::fungible_asset: EFUNGIBLE_STORE_EXISTENCE(0x60017): this object is no store of a fungible asset",
);
const TOO_MUCH: Expected = Expected::Abort(
    "0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
);
const IS_FROZEN: Expected =
    Expected::Abort("0x1::fungible_asset: ESTORE_IS_FROZEN(0x50003): the store of this asset is frozen");
const FROZEN: Expected = Expected::Success(&["0x1::fungible_asset::Frozen"]);
const MINTED: Expected = Expected::Success(&["0x1::fungible_asset::Deposit"]);
const BURNT: Expected = Expected::Success(&["0x1::fungible_asset::Withdraw"]);
const MOVED: Expected = Expected::Success(&["0x1::fungible_asset::Withdraw", "0x1::fungible_asset::Deposit"]);
const NOTHING: Expected = Expected::Success(&[]);

const CREATE: &str = "0x1::managed_fungible_asset::create";
const CREATE_BOUND: &str = "0x1::managed_fungible_asset::create_untransferable";
const MINT: &str = "0x1::managed_fungible_asset::mint";
const BURN: &str = "0x1::managed_fungible_asset::burn";
const BURN_FROM_STORE: &str = "0x1::managed_fungible_asset::burn_from_store";
const FREEZE: &str = "0x1::managed_fungible_asset::freeze";
const FREEZE_STORE: &str = "0x1::managed_fungible_asset::freeze_store";
const UNFREEZE: &str = "0x1::managed_fungible_asset::unfreeze";
const UNFREEZE_STORE: &str = "0x1::managed_fungible_asset::unfreeze_store";
const TRANSFER: &str = "0x1::managed_fungible_asset::transfer";
const SET: &str = "0x1::managed_fungible_asset::set_metadata";
const CREATE_STORE: &str = "0x1::managed_fungible_asset::create_store";
const REMOVE_STORE: &str = "0x1::managed_fungible_asset::remove_store";

/// Leaves an option of a call open.
const KEEP: Option<String> = None;

fn is_frozen(world: &World, store: AccountAddress) -> bool {
    world.view("0x1::fungible_asset::is_frozen", &[STORE], args![store])[0] == true
}

pub fn cases() -> Vec<Case> {
    [
        creations(),
        names(),
        mints(),
        burns(),
        ice(),
        forced_transfers(),
        new_names(),
        created_stores(),
        removed_stores(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn creations() -> Vec<Case> {
    const CREATED: Expected = Expected::Success(&["0x1::fungible_asset::Creation"]);
    vec![
        Case::new(CREATE, "the asset is where its symbol says", CREATED, |world| {
            let (me, no_maximum) = (world.address(0), None::<u128>);
            let args = args!["Moon", "MOON", 6u8, "", "", no_maximum];
            let executed = world.call(0, CREATE, &[], args);
            let address = world.view(
                "0x1::managed_fungible_asset::asset_address",
                &[],
                args![me, "MOON"],
            );
            let asset = named_address(me, b"MOON");
            assert_eq!(address[0], asset.to_string());
            assert_eq!(supply(world, asset), 0);
            let maximum = world.view("0x1::fungible_asset::maximum", &[METADATA], args![asset]);
            assert_eq!(maximum[0], serde_json::json!({"vec": []}));
            for (asset, is_managed) in [(asset, true), (NATIVE, false)] {
                let managed = world.view("0x1::managed_fungible_asset::is_managed", &[], args![asset]);
                assert_eq!(managed[0], is_managed);
            }
            executed
        }),
        Case::new(
            CREATE,
            "a second time under one symbol",
            Expected::Abort("0x1::object: EOBJECT_EXISTS(0x80001): there is an object at this address"),
            |world| {
                moon(world);
                world.call(0, CREATE, &[], args!["Other", "MOON", 0u8, "", "", None::<u128>])
            },
        ),
        Case::new(
            CREATE_BOUND,
            "its stores stay with their owners",
            CREATED,
            |world| {
                let args = args!["Bond", "BOND", 0u8, "", "", None::<u128>];
                let executed = world.call(0, CREATE_BOUND, &[], args);
                let asset = named_address(world.address(0), b"BOND");
                let bound = world.view(
                    "0x1::fungible_asset::is_untransferable",
                    &[METADATA],
                    args![asset],
                );
                assert_eq!(bound[0], true);
                let (store, to) = (store(world, 1, asset), world.address(2));
            world.must(0, MINT, &[], args![asset, to, 7u64]);
            assert_eq!(balance(world, to, asset), 7);
                let given = world.call(1, "0x1::object::transfer", &[STORE], args![store, to]);
                assert!(!given.info.v0().status.is_success());
                let bound = world.view("0x1::object::is_untransferable", &[STORE], args![store]);
                assert_eq!(bound[0], true);
                executed
            },
        ),
    ]
}

fn names() -> Vec<Case> {
    fn too_long(function: &'static str, shows: &'static str, expected: &'static str, run: Run) -> Case {
        Case::new(function, shows, Expected::Abort(expected), run)
    }
    vec![
        Case::new(
            CREATE,
            "the longest names, the most decimals",
            Expected::Success(&["0x1::fungible_asset::Creation"]),
            |world| {
                let (name, uri) = ("n".repeat(32), "u".repeat(512));
                world.call(0, CREATE, &[], args![name, name, 32u8, uri, uri, Some(0u128)])
            },
        ),
        too_long(
            CREATE,
            "a name that is too long",
            "0x1::fungible_asset: ENAME_TOO_LONG(0x2000f): the name of an asset has at most 32 bytes",
            |world| {
                let name = "n".repeat(33);
                world.call(0, CREATE, &[], args![name, "S", 0u8, "", "", None::<u128>])
            },
        ),
        too_long(
            CREATE,
            "a symbol that is too long",
            "0x1::fungible_asset: ESYMBOL_TOO_LONG(0x20010): the symbol of an asset has at most 32 bytes",
            |world| {
                let symbol = "s".repeat(33);
                world.call(0, CREATE, &[], args!["N", symbol, 0u8, "", "", None::<u128>])
            },
        ),
        too_long(
            CREATE,
            "too many decimals",
            "0x1::fungible_asset: EDECIMALS_TOO_LARGE(0x20011): an asset has at most 32 decimal places",
            |world| world.call(0, CREATE, &[], args!["N", "S", 33u8, "", "", None::<u128>]),
        ),
        too_long(
            CREATE,
            "a URI that is too long",
            "0x1::fungible_asset: EURI_TOO_LONG(0x20013): a URI of an asset has at most 512 bytes",
            |world| {
                let uri = "u".repeat(513);
                world.call(0, CREATE, &[], args!["N", "S", 0u8, "", uri, None::<u128>])
            },
        ),
    ]
}

type Run = fn(&mut World) -> ledger::ExecutedTransaction;

fn mints() -> Vec<Case> {
    vec![
        Case::new(MINT, "up to the maximum", MINTED, |world| {
            let (asset, to) = (moon(world), world.address(1));
            let rest = u64::try_from(MOON_MAX).unwrap() - MOON_HELD;
            let executed = world.call(0, MINT, &[], args![asset, to, rest]);
            assert_eq!(balance(world, to, asset), rest);
            assert_eq!(supply(world, asset), MOON_MAX);
            executed
        }),
        Case::new(
            MINT,
            "over the maximum",
            Expected::Abort(
                "0x1::fungible_asset: EMAX_SUPPLY_EXCEEDED(0x20005): the supply would exceed the maximum of \
                 this asset",
            ),
            |world| {
                let (asset, to) = (moon(world), world.address(1));
                let rest = u64::try_from(MOON_MAX).unwrap() - MOON_HELD;
                world.call(0, MINT, &[], args![asset, to, rest + 1])
            },
        ),
        Case::new(MINT, "by the owner of the owner of the asset", MINTED, |world| {
            let (asset, to) = (moon(world), world.address(1));
            let between = crate::object::named(world, b"a");
            world.must(0, "0x1::object::transfer_call", &[], args![asset, between]);
            world.call(0, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(MINT, "by the one who got the asset's object", MINTED, |world| {
            let (asset, to) = (moon(world), world.address(1));
            world.must(0, "0x1::object::transfer", &[METADATA], args![asset, to]);
            world.call(1, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(
            MINT,
            "by the creator who gave the asset away",
            NOT_MANAGER,
            |world| {
                let (asset, to) = (moon(world), world.address(1));
                world.must(0, "0x1::object::transfer", &[METADATA], args![asset, to]);
                world.call(0, MINT, &[], args![asset, to, 1u64])
            },
        ),
        Case::new(MINT, "of a coin's asset", NOT_MANAGED, |world| {
            let to = world.address(1);
            world.call(0, MINT, &[], args![NATIVE, to, 1u64])
        }),
        Case::new(MINT, "into a frozen store", IS_FROZEN, |world| {
            let (asset, to) = (moon(world), world.address(1));
            world.must(0, FREEZE, &[], args![asset, to]);
            world.call(0, MINT, &[], args![asset, to, 1u64])
        }),
        Case::new(
            MINT,
            "more than a store can hold",
            Expected::Status("Execution failed in 0x1::managed_fungible_asset::mint at code offset 0"),
            |world| {
                let (asset, to) = (asset(world, "SUN", None), world.address(1));
                world.must(0, MINT, &[], args![asset, to, u64::MAX]);
                let executed = world.call(0, MINT, &[], args![asset, to, 1u64]);
                assert_eq!(supply(world, asset), u128::from(u64::MAX), "nothing was counted");
                executed
            },
        ),
    ]
}

fn burns() -> Vec<Case> {
    vec![
        Case::new(BURN, "also from a frozen store", BURNT, |world| {
            let (asset, me) = (moon(world), world.address(0));
            world.must(0, FREEZE, &[], args![asset, me]);
            let executed = world.call(0, BURN, &[], args![asset, me, 400u64]);
            assert_eq!((balance(world, me, asset), supply(world, asset)), (600, 600));
            executed
        }),
        Case::new(BURN, "from one without a store", NO_STORE, |world| {
            let (asset, from) = (moon(world), world.address(1));
            world.call(0, BURN, &[], args![asset, from, 0u64])
        }),
        Case::new(BURN, "more than there is", TOO_MUCH, |world| {
            let (asset, me) = (moon(world), world.address(0));
            world.call(0, BURN, &[], args![asset, me, MOON_HELD + 1])
        }),
        Case::new(BURN, "by one who is no manager", NOT_MANAGER, |world| {
            let (asset, from) = (moon(world), world.address(1));
            world.call(1, BURN, &[], args![asset, from, 0u64])
        }),
        Case::new(BURN_FROM_STORE, "from a second store", BURNT, |world| {
            let asset = moon(world);
            let (first, second) = (primary(world, world.address(0), asset), store(world, 1, asset));
            let transfer = "0x1::fungible_asset::transfer";
            world.must(0, transfer, &[STORE], args![first, second, 10u64]);
            let executed = world.call(0, BURN_FROM_STORE, &[], args![second, 4u64]);
            assert_eq!(held(world, second), 6);
            assert_eq!(supply(world, asset), u128::from(MOON_HELD) - 4);
            executed
        }),
        Case::new(
            BURN_FROM_STORE,
            "by the owner of the store",
            NOT_MANAGER,
            |world| {
                let asset = moon(world);
                let store = store(world, 1, asset);
                world.call(1, BURN_FROM_STORE, &[], args![store, 0u64])
            },
        ),
    ]
}

fn ice() -> Vec<Case> {
    vec![
        Case::new(FREEZE, "the store is made where it is missing", FROZEN, |world| {
            let (asset, owner) = (moon(world), world.address(1));
            let executed = world.call(0, FREEZE, &[], args![asset, owner]);
            assert!(is_frozen(world, primary(world, owner, asset)));
            let function = "0x1::primary_fungible_store::is_frozen";
            assert_eq!(world.view(function, &[METADATA], args![owner, asset])[0], true);
            executed
        }),
        Case::new(FREEZE, "by one who is no manager", NOT_MANAGER, |world| {
            let (asset, owner) = (moon(world), world.address(0));
            world.call(1, FREEZE, &[], args![asset, owner])
        }),
        Case::new(UNFREEZE, "the store thaws", FROZEN, |world| {
            let (asset, owner) = (moon(world), world.address(1));
            world.must(0, FREEZE, &[], args![asset, owner]);
            let executed = world.call(0, UNFREEZE, &[], args![asset, owner]);
            assert!(!is_frozen(world, primary(world, owner, asset)));
            executed
        }),
        Case::new(FREEZE_STORE, "a second store", FROZEN, |world| {
            let asset = moon(world);
            let store = store(world, 1, asset);
            let executed = world.call(0, FREEZE_STORE, &[], args![store]);
            assert!(is_frozen(world, store));
            executed
        }),
        Case::new(FREEZE_STORE, "by the owner of the store", NOT_MANAGER, |world| {
            let asset = moon(world);
            let store = store(world, 1, asset);
            world.call(1, FREEZE_STORE, &[], args![store])
        }),
        Case::new(UNFREEZE_STORE, "a second store", FROZEN, |world| {
            let asset = moon(world);
            let store = store(world, 1, asset);
            world.must(0, FREEZE_STORE, &[], args![store]);
            let executed = world.call(0, UNFREEZE_STORE, &[], args![store]);
            assert!(!is_frozen(world, store));
            executed
        }),
    ]
}

fn forced_transfers() -> Vec<Case> {
    vec![
        Case::new(TRANSFER, "from and to frozen stores", MOVED, |world| {
            let (asset, from, to) = (moon(world), world.address(0), world.address(1));
            for owner in [from, to] {
                world.must(0, FREEZE, &[], args![asset, owner]);
            }
            // The manager is another than the one who holds.
            let manager = world.address(2);
            world.must(0, "0x1::object::transfer", &[METADATA], args![asset, manager]);
            let executed = world.call(2, TRANSFER, &[], args![asset, from, to, 300u64]);
            assert_eq!(
                (balance(world, from, asset), balance(world, to, asset)),
                (700, 300)
            );
            executed
        }),
        Case::new(TRANSFER, "from one without a store", NO_STORE, |world| {
            let (asset, from, to) = (moon(world), world.address(1), world.address(0));
            world.call(0, TRANSFER, &[], args![asset, from, to, 1u64])
        }),
        Case::new(TRANSFER, "more than there is", TOO_MUCH, |world| {
            let (asset, from, to) = (moon(world), world.address(0), world.address(1));
            world.call(0, TRANSFER, &[], args![asset, from, to, MOON_HELD + 1])
        }),
        Case::new(TRANSFER, "by one who is no manager", NOT_MANAGER, |world| {
            let (asset, from, to) = (moon(world), world.address(0), world.address(1));
            world.call(1, TRANSFER, &[], args![asset, from, to, 1u64])
        }),
    ]
}

fn new_names() -> Vec<Case> {
    vec![
        Case::new(SET, "what is given changes", NOTHING, |world| {
            let asset = moon(world);
            let (name, decimals) = (Some("Luna"), Some(3u8));
            let executed = world.call(0, SET, &[], args![asset, name, KEEP, decimals, KEEP, Some("x")]);
            let metadata = world.view("0x1::fungible_asset::metadata", &[METADATA], args![asset]);
            let expected = serde_json::json!({
                "name": "Luna", "symbol": "MOON", "decimals": 3,
                "icon_uri": "https://moon/icon", "project_uri": "x",
            });
            assert_eq!(metadata, [expected]);
            executed
        }),
        Case::new(
            SET,
            "a symbol that is too long",
            Expected::Abort(
                "0x1::fungible_asset: ESYMBOL_TOO_LONG(0x20010): the symbol of an asset has at most 32 bytes",
            ),
            |world| {
                let (asset, symbol) = (moon(world), Some("s".repeat(33)));
                world.call(0, SET, &[], args![asset, KEEP, symbol, None::<u8>, KEEP, KEEP])
            },
        ),
        Case::new(SET, "by one who is no manager", NOT_MANAGER, |world| {
            let asset = moon(world);
            world.call(1, SET, &[], args![asset, KEEP, KEEP, None::<u8>, KEEP, KEEP])
        }),
    ]
}

fn created_stores() -> Vec<Case> {
    vec![
        Case::new(
            CREATE_STORE,
            "of another's asset",
            Expected::Success(&["0x1::managed_fungible_asset::StoreCreation"]),
            |world| {
                let asset = moon(world);
                let executed = world.call(1, CREATE_STORE, &[], args![asset]);
                let event = "0x1::managed_fungible_asset::StoreCreation";
                let store = crate::managed_object::event_field(world, &executed, event, "store");
                assert_eq!(held(world, store), 0);
                let owner = world.address(1).to_string();
                assert_eq!(crate::object::owner(world, store), owner);
                executed
            },
        ),
        Case::new(
            CREATE_STORE,
            "of a coin's asset",
            Expected::Abort(
                "0x1::managed_fungible_asset: EPAIRED_WITH_COIN(0x10003): this asset is a coin's, which lies \
                 in coin stores alone",
            ),
            |world| world.call(0, CREATE_STORE, &[], args![NATIVE]),
        ),
    ]
}

fn removed_stores() -> Vec<Case> {
    const REMOVED: Expected = Expected::Success(&["0x1::fungible_asset::FungibleStoreDeletion"]);
    vec![
        Case::new(REMOVE_STORE, "its room is given back", REMOVED, |world| {
            let asset = moon(world);
            let store = store(world, 1, asset);
            let executed = world.call(1, REMOVE_STORE, &[], args![store]);
            let exists = world.view("0x1::fungible_asset::store_exists", &[], args![store]);
            assert_eq!(exists[0], false);
            assert!(world.paid(&executed) < 0, "the deposit is more than the fee");
            executed
        }),
        Case::new(
            REMOVE_STORE,
            "a primary store, which comes back when it is needed",
            REMOVED,
            |world| {
                let (asset, me, to) = (moon(world), world.address(0), world.address(1));
                let transfer = "0x1::primary_fungible_store::transfer";
                world.must(0, transfer, &[METADATA], args![asset, to, MOON_HELD]);
                let store = primary(world, me, asset);
                let executed = world.call(0, REMOVE_STORE, &[], args![store]);
                world.must(1, transfer, &[METADATA], args![asset, me, 1u64]);
                assert_eq!(held(world, store), 1);
                executed
            },
        ),
        Case::new(
            REMOVE_STORE,
            "that is not empty",
            Expected::Abort("0x1::fungible_asset: EBALANCE_IS_NOT_ZERO(0x5000e): the store is not empty"),
            |world| {
                let asset = moon(world);
                let store = primary(world, world.address(0), asset);
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
        Case::new(REMOVE_STORE, "that is frozen", IS_FROZEN, |world| {
            let (asset, owner) = (moon(world), world.address(1));
            world.must(0, FREEZE, &[], args![asset, owner]);
            let store = primary(world, owner, asset);
            world.call(1, REMOVE_STORE, &[], args![store])
        }),
        Case::new(
            REMOVE_STORE,
            "by one who does not own it",
            Expected::Abort(
                "0x1::fungible_asset: ENOT_STORE_OWNER(0x50008): the sender does not own this store",
            ),
            |world| {
                let asset = moon(world);
                let store = store(world, 1, asset);
                world.call(0, REMOVE_STORE, &[], args![store])
            },
        ),
    ]
}
