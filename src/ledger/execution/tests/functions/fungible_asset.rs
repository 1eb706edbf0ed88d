//! Cases of `0x1::fungible_asset` and `0x1::dispatchable_fungible_asset`, which behaves the same.
//! `0x1::managed_fungible_asset` creates the asset and the stores.

use crate::functions::{
    Case, Expected, World, args,
    managed_object::event_field,
    object::{CORE, create_named_object},
};
use ledger_framework::modules::object::named_address;
use ledger_types::AccountAddress;

/// The type of assets.
pub const METADATA: &str = "0x1::fungible_asset::Metadata";
/// The type of stores.
pub const STORE: &str = "0x1::fungible_asset::FungibleStore";
/// Maximum supply of the asset [`create_moon`], in its smallest unit.
pub const MOON_MAX: u128 = 10_000;
/// Balance of account 0 of the asset [`create_moon`], in its smallest unit.
pub const MOON_BALANCE: u64 = 1_000;

const TRANSFER: &str = "0x1::fungible_asset::transfer";
const TRANSFERRED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::Deposit",
]);
const FROZEN: Expected = Expected::Abort(
    "0x1::fungible_asset: ESTORE_IS_FROZEN(0x50003): the store of this asset is frozen",
);
const NO_STORE: Expected = Expected::Abort(
    "0x1::fungible_asset: EFUNGIBLE_STORE_EXISTENCE(0x60017): this object is no store of a fungible asset",
);

/// Creates an asset of account 0 with this symbol.
pub fn create_asset(world: &mut World, symbol: &str, maximum: Option<u128>) -> AccountAddress {
    let args = args![
        "Moon",
        symbol,
        6u8,
        "https://moon/icon",
        "https://moon",
        maximum
    ];
    world.call_ok(0, "0x1::managed_fungible_asset::create", &[], args);
    named_address(world.address(0), symbol.as_bytes())
}

/// Creates the asset MOON of account 0 and mints [`MOON_BALANCE`] units to account 0.
pub fn create_moon(world: &mut World) -> AccountAddress {
    let moon = create_asset(world, "MOON", Some(MOON_MAX));
    let holder = world.address(0);
    world.call_ok(
        0,
        "0x1::managed_fungible_asset::mint",
        &[],
        args![moon, holder, MOON_BALANCE],
    );
    moon
}

/// Creates a store of a development account beside its primary store.
pub fn create_store(world: &mut World, account: usize, asset: AccountAddress) -> AccountAddress {
    let executed = world.call_ok(
        account,
        "0x1::managed_fungible_asset::create_store",
        &[],
        args![asset],
    );
    event_field(
        world,
        &executed,
        "0x1::managed_fungible_asset::StoreCreation",
        "store",
    )
}

/// Returns the address of the primary store of `owner`.
pub fn primary_store(
    world: &World,
    owner: AccountAddress,
    asset: AccountAddress,
) -> AccountAddress {
    let function = "0x1::primary_fungible_store::primary_store_address";
    let address = world.view(function, &[METADATA], args![owner, asset]);
    address[0].as_str().unwrap().parse().unwrap()
}

/// Returns the balance of the primary store of `owner`.
pub fn balance(world: &World, owner: AccountAddress, asset: AccountAddress) -> u64 {
    let function = "0x1::primary_fungible_store::balance";
    let balance = world.view(function, &[METADATA], args![owner, asset]);
    balance[0].as_str().unwrap().parse().unwrap()
}

/// Returns the balance of a store.
pub fn store_balance(world: &World, store: AccountAddress) -> u64 {
    let balance = world.view("0x1::fungible_asset::balance", &[STORE], args![store]);
    balance[0].as_str().unwrap().parse().unwrap()
}

/// Returns the supply of an asset.
pub fn supply(world: &World, asset: AccountAddress) -> u128 {
    let supply = world.view("0x1::fungible_asset::supply", &[METADATA], args![asset]);
    supply[0]["vec"][0].as_str().unwrap().parse().unwrap()
}

/// Returns the asset MOON, the primary store of account 0, and its second store.
fn create_two_stores(world: &mut World) -> (AccountAddress, AccountAddress, AccountAddress) {
    let asset = create_moon(world);
    let second = create_store(world, 0, asset);
    (asset, primary_store(world, world.address(0), asset), second)
}

pub fn cases() -> Vec<Case> {
    [transfers(), rejected_transfers(), dispatchable_transfers()]
        .into_iter()
        .flatten()
        .collect()
}

fn transfers() -> Vec<Case> {
    vec![
        Case::new(TRANSFER, "between two stores", TRANSFERRED, |world| {
            let (asset, first, second) = create_two_stores(world);
            let executed = world.call(0, TRANSFER, &[STORE], args![first, second, 400u64]);
            assert_eq!(
                (store_balance(world, first), store_balance(world, second)),
                (600, 400)
            );
            assert_eq!(supply(world, asset), u128::from(MOON_BALANCE));
            executed
        }),
        Case::new(TRANSFER, "to the same store", TRANSFERRED, |world| {
            let (_, first, _) = create_two_stores(world);
            let executed = world.call(0, TRANSFER, &[STORE], args![first, first, MOON_BALANCE]);
            assert_eq!(store_balance(world, first), MOON_BALANCE);
            executed
        }),
        Case::new(
            TRANSFER,
            "zero amount emits no event",
            Expected::Success(&[]),
            |world| {
                let (_, first, second) = create_two_stores(world);
                world.call(0, TRANSFER, &[STORE], args![second, first, 0u64])
            },
        ),
        Case::new(
            TRANSFER,
            "from a store that an object owns",
            TRANSFERRED,
            |world| {
                let (_, first, second) = create_two_stores(world);
                let parent = create_named_object(world, b"a");
                world.call_ok(0, "0x1::object::transfer_call", &[], args![second, parent]);
                world.call_ok(0, TRANSFER, &[STORE], args![first, second, 5u64]);
                world.call(0, TRANSFER, &[STORE], args![second, first, 5u64])
            },
        ),
        Case::new(
            TRANSFER,
            "transferred store keeps its balance",
            TRANSFERRED,
            |world| {
                let (_, first, second) = create_two_stores(world);
                world.call_ok(0, TRANSFER, &[STORE], args![first, second, 5u64]);
                let to = world.address(1);
                world.call_ok(0, "0x1::object::transfer", &[STORE], args![second, to]);
                world.call(1, TRANSFER, &[STORE], args![second, first, 5u64])
            },
        ),
    ]
}

fn rejected_transfers() -> Vec<Case> {
    vec![
        Case::new(
            TRANSFER,
            "by an account that does not own the store",
            Expected::Abort(
                "0x1::fungible_asset: ENOT_STORE_OWNER(0x50008): the sender does not own this store",
            ),
            |world| {
                let (_, first, second) = create_two_stores(world);
                world.call(1, TRANSFER, &[STORE], args![first, second, 1u64])
            },
        ),
        Case::new(
            TRANSFER,
            "amount above the balance",
            Expected::Abort(
                "0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
            ),
            |world| {
                let (_, first, second) = create_two_stores(world);
                world.call(
                    0,
                    TRANSFER,
                    &[STORE],
                    args![first, second, MOON_BALANCE + 1],
                )
            },
        ),
        Case::new(
            TRANSFER,
            "to a store of another asset",
            Expected::Abort(
                "0x1::fungible_asset: EFUNGIBLE_ASSET_AND_STORE_MISMATCH(0x1000b): the store is for another \
                 asset",
            ),
            |world| {
                let (_, first, _) = create_two_stores(world);
                let other = create_asset(world, "SUN", None);
                let other = create_store(world, 0, other);
                world.call(0, TRANSFER, &[STORE], args![first, other, 1u64])
            },
        ),
        Case::new(TRANSFER, "from a frozen store", FROZEN, |world| {
            let (_, first, second) = create_two_stores(world);
            world.call_ok(
                0,
                "0x1::managed_fungible_asset::freeze_store",
                &[],
                args![first],
            );
            world.call(0, TRANSFER, &[STORE], args![first, second, 1u64])
        }),
        Case::new(TRANSFER, "to a frozen store", FROZEN, |world| {
            let (_, first, second) = create_two_stores(world);
            world.call_ok(
                0,
                "0x1::managed_fungible_asset::freeze_store",
                &[],
                args![second],
            );
            world.call(0, TRANSFER, &[STORE], args![first, second, 1u64])
        }),
        Case::new(
            TRANSFER,
            "from an object that is not a store",
            NO_STORE,
            |world| {
                let (_, first, _) = create_two_stores(world);
                let object = create_named_object(world, b"a");
                world.call(0, TRANSFER, &[CORE], args![object, first, 1u64])
            },
        ),
        Case::new(
            TRANSFER,
            "recipient store's balance overflows",
            Expected::Status("Execution failed in 0x1::fungible_asset::transfer at code offset 0"),
            |world| {
                let asset = create_asset(world, "SUN", None);
                let (holder, second) = (world.address(0), create_store(world, 0, asset));
                let first = primary_store(world, holder, asset);
                let mint = "0x1::managed_fungible_asset::mint";
                world.call_ok(0, mint, &[], args![asset, holder, u64::MAX]);
                world.call_ok(0, TRANSFER, &[STORE], args![first, second, u64::MAX]);
                world.call_ok(0, mint, &[], args![asset, holder, 1u64]);
                world.call(0, TRANSFER, &[STORE], args![first, second, 1u64])
            },
        ),
    ]
}

fn dispatchable_transfers() -> Vec<Case> {
    const DISPATCHED: &str = "0x1::dispatchable_fungible_asset::transfer";
    const AT_LEAST: &str = "0x1::dispatchable_fungible_asset::transfer_assert_minimum_deposit";
    vec![
        Case::new(DISPATCHED, "between two stores", TRANSFERRED, |world| {
            let (_, first, second) = create_two_stores(world);
            let executed = world.call(0, DISPATCHED, &[STORE], args![first, second, 400u64]);
            assert_eq!(
                (store_balance(world, first), store_balance(world, second)),
                (600, 400)
            );
            executed
        }),
        Case::new(
            AT_LEAST,
            "minimum deposit equal to the amount",
            TRANSFERRED,
            |world| {
                let (_, first, second) = create_two_stores(world);
                let executed =
                    world.call(0, AT_LEAST, &[STORE], args![first, second, 400u64, 400u64]);
                assert_eq!(
                    (store_balance(world, first), store_balance(world, second)),
                    (600, 400)
                );
                executed
            },
        ),
        Case::new(
            AT_LEAST,
            "minimum deposit above the amount",
            Expected::Abort(
                "0x1::dispatchable_fungible_asset: EAMOUNT_MISMATCH(0x70002): less would arrive than the \
                 sender expects",
            ),
            |world| {
                let (_, first, second) = create_two_stores(world);
                world.call(0, AT_LEAST, &[STORE], args![first, second, 400u64, 401u64])
            },
        ),
    ]
}

#[test]
fn views_return_the_metadata_of_an_asset() {
    let mut world = World::new();
    let asset = create_moon(&mut world);
    for (view, expected) in [
        ("name", serde_json::json!("Moon")),
        ("symbol", "MOON".into()),
        ("decimals", 6.into()),
        ("icon_uri", "https://moon/icon".into()),
        ("project_uri", "https://moon".into()),
        ("supply", serde_json::json!({"vec": ["1000"]})),
        ("maximum", serde_json::json!({"vec": ["10000"]})),
        ("is_untransferable", false.into()),
        (
            "metadata",
            serde_json::json!({
                "name": "Moon", "symbol": "MOON", "decimals": 6,
                "icon_uri": "https://moon/icon", "project_uri": "https://moon",
            }),
        ),
    ] {
        let function = format!("0x1::fungible_asset::{view}");
        assert_eq!(
            world.view(&function, &[METADATA], args![asset]),
            [expected],
            "{view}"
        );
    }
    let dispatchable = "0x1::fungible_asset::is_asset_type_dispatchable";
    assert_eq!(world.view(dispatchable, &[], args![asset])[0], false);
    let derived = "0x1::dispatchable_fungible_asset::derived_supply";
    assert_eq!(
        world.view(derived, &[METADATA], args![asset])[0]["vec"][0],
        "1000"
    );

    let object = create_named_object(&mut world, b"a");
    let failed = world.try_view("0x1::fungible_asset::name", &[CORE], args![object]);
    assert_eq!(
        failed.unwrap_err(),
        "Move abort in 0x1::fungible_asset: EFUNGIBLE_METADATA_EXISTENCE(0x6001e): this object is no \
         fungible asset"
    );
}

#[test]
fn views_return_the_balance_of_a_store() {
    let mut world = World::new();
    let (asset, first, second) = create_two_stores(&mut world);
    for (store, balance) in [(first, MOON_BALANCE), (second, 0)] {
        for (view, expected) in [
            (
                "fungible_asset::balance",
                serde_json::json!(balance.to_string()),
            ),
            (
                "dispatchable_fungible_asset::derived_balance",
                balance.to_string().into(),
            ),
            ("fungible_asset::is_frozen", false.into()),
            ("fungible_asset::is_store_dispatchable", false.into()),
            (
                "fungible_asset::store_metadata",
                serde_json::json!({"inner": asset.to_string()}),
            ),
        ] {
            let function = format!("0x1::{view}");
            assert_eq!(
                world.view(&function, &[STORE], args![store]),
                [expected],
                "{view}"
            );
        }
        for view in [
            "0x1::fungible_asset::is_balance_at_least",
            "0x1::dispatchable_fungible_asset::is_derived_balance_at_least",
        ] {
            assert_eq!(world.view(view, &[STORE], args![store, balance])[0], true);
            assert_eq!(
                world.view(view, &[STORE], args![store, balance + 1])[0],
                false
            );
        }
    }
    for (address, exists) in [(first, true), (asset, false)] {
        let store_exists = world.view("0x1::fungible_asset::store_exists", &[], args![address]);
        assert_eq!(store_exists[0], exists);
    }
}
