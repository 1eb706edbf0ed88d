//! Cases of `0x1::managed_fungible_asset`: creation and metadata of an asset. Modules of their own
//! have the cases of the manager and of the owners of stores.

mod powers;
mod stores;

use crate::functions::{
    Case, Expected, World, args,
    fungible_asset::{METADATA, STORE, balance, create_moon, create_store, supply},
};
use ledger_framework::modules::object::named_address;
use ledger_types::{AccountAddress, ExecutedTransaction};
use powers::MINT;

const NATIVE: AccountAddress = AccountAddress::NATIVE_ASSET;
const NOT_MANAGER: Expected = Expected::Abort(
    "0x1::managed_fungible_asset: ENOT_MANAGER(0x50001): the sender does not own the object of this asset, \
     whose owner manages it",
);
const NOTHING: Expected = Expected::Success(&[]);
const CREATE: &str = "0x1::managed_fungible_asset::create";
const CREATE_UNTRANSFERABLE: &str = "0x1::managed_fungible_asset::create_untransferable";
const SET: &str = "0x1::managed_fungible_asset::set_metadata";
/// Absent option of a call that leaves a field of the metadata unchanged.
const UNCHANGED: Option<String> = None;
type Run = fn(&mut World) -> ExecutedTransaction;

pub fn cases() -> Vec<Case> {
    [
        creations(),
        names(),
        metadata_changes(),
        powers::cases(),
        stores::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn creations() -> Vec<Case> {
    const CREATED: Expected = Expected::Success(&["0x1::fungible_asset::Creation"]);
    vec![
        Case::new(
            CREATE,
            "derives the address from the symbol",
            CREATED,
            |world| {
                let (creator, no_maximum) = (world.address(0), None::<u128>);
                let args = args!["Moon", "MOON", 6u8, "", "", no_maximum];
                let executed = world.call(0, CREATE, &[], args);
                let address = world.view(
                    "0x1::managed_fungible_asset::asset_address",
                    &[],
                    args![creator, "MOON"],
                );
                let asset = named_address(creator, b"MOON");
                assert_eq!(address[0], asset.to_string());
                assert_eq!(supply(world, asset), 0);
                let maximum = world.view("0x1::fungible_asset::maximum", &[METADATA], args![asset]);
                assert_eq!(maximum[0], serde_json::json!({"vec": []}));
                for (asset, is_managed) in [(asset, true), (NATIVE, false)] {
                    let managed =
                        world.view("0x1::managed_fungible_asset::is_managed", &[], args![asset]);
                    assert_eq!(managed[0], is_managed);
                }
                executed
            },
        ),
        Case::new(
            CREATE,
            "symbol already in use",
            Expected::Abort(
                "0x1::object: EOBJECT_EXISTS(0x80001): there is an object at this address",
            ),
            |world| {
                create_moon(world);
                world.call(
                    0,
                    CREATE,
                    &[],
                    args!["Other", "MOON", 0u8, "", "", None::<u128>],
                )
            },
        ),
        Case::new(
            CREATE_UNTRANSFERABLE,
            "stores cannot be transferred",
            CREATED,
            |world| {
                let args = args!["Bond", "BOND", 0u8, "", "", None::<u128>];
                let executed = world.call(0, CREATE_UNTRANSFERABLE, &[], args);
                let asset = named_address(world.address(0), b"BOND");
                let is_untransferable = world.view(
                    "0x1::fungible_asset::is_untransferable",
                    &[METADATA],
                    args![asset],
                );
                assert_eq!(is_untransferable[0], true);
                let (store, to) = (create_store(world, 1, asset), world.address(2));
                world.call_ok(0, MINT, &[], args![asset, to, 7u64]);
                assert_eq!(balance(world, to, asset), 7);
                let transfer = world.call(1, "0x1::object::transfer", &[STORE], args![store, to]);
                assert!(!transfer.info.v0().status.is_success());
                let is_untransferable =
                    world.view("0x1::object::is_untransferable", &[STORE], args![store]);
                assert_eq!(is_untransferable[0], true);
                executed
            },
        ),
    ]
}

fn names() -> Vec<Case> {
    fn too_long(
        function: &'static str,
        label: &'static str,
        expected: &'static str,
        run: Run,
    ) -> Case {
        Case::new(function, label, Expected::Abort(expected), run)
    }
    vec![
        Case::new(
            CREATE,
            "maximum text lengths and decimals",
            Expected::Success(&["0x1::fungible_asset::Creation"]),
            |world| {
                let (name, uri) = ("n".repeat(32), "u".repeat(512));
                world.call(
                    0,
                    CREATE,
                    &[],
                    args![name, name, 32u8, uri, uri, Some(0u128)],
                )
            },
        ),
        too_long(
            CREATE,
            "name too long",
            "0x1::fungible_asset: ENAME_TOO_LONG(0x2000f): the name of an asset has at most 32 bytes",
            |world| {
                let name = "n".repeat(33);
                world.call(0, CREATE, &[], args![name, "S", 0u8, "", "", None::<u128>])
            },
        ),
        too_long(
            CREATE,
            "symbol too long",
            "0x1::fungible_asset: ESYMBOL_TOO_LONG(0x20010): the symbol of an asset has at most 32 bytes",
            |world| {
                let symbol = "s".repeat(33);
                world.call(
                    0,
                    CREATE,
                    &[],
                    args!["N", symbol, 0u8, "", "", None::<u128>],
                )
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
            "URI too long",
            "0x1::fungible_asset: EURI_TOO_LONG(0x20013): a URI of an asset has at most 512 bytes",
            |world| {
                let uri = "u".repeat(513);
                world.call(0, CREATE, &[], args!["N", "S", 0u8, "", uri, None::<u128>])
            },
        ),
    ]
}

fn metadata_changes() -> Vec<Case> {
    vec![
        Case::new(SET, "changes only the given fields", NOTHING, |world| {
            let asset = create_moon(world);
            let (name, decimals) = (Some("Luna"), Some(3u8));
            let executed = world.call(
                0,
                SET,
                &[],
                args![asset, name, UNCHANGED, decimals, UNCHANGED, Some("x")],
            );
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
            "symbol too long",
            Expected::Abort(
                "0x1::fungible_asset: ESYMBOL_TOO_LONG(0x20010): the symbol of an asset has at most 32 bytes",
            ),
            |world| {
                let (asset, symbol) = (create_moon(world), Some("s".repeat(33)));
                world.call(
                    0,
                    SET,
                    &[],
                    args![asset, UNCHANGED, symbol, None::<u8>, UNCHANGED, UNCHANGED],
                )
            },
        ),
        Case::new(
            SET,
            "by an account that is not the manager",
            NOT_MANAGER,
            |world| {
                let asset = create_moon(world);
                world.call(
                    1,
                    SET,
                    &[],
                    args![
                        asset, UNCHANGED, UNCHANGED, None::<u8>, UNCHANGED, UNCHANGED
                    ],
                )
            },
        ),
    ]
}
