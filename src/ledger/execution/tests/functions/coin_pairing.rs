//! The description of a coin under the names of coin and asset, and the pairing of both.

use crate::functions::{
    World, args,
    coin::{
        NATIVE, account_address, create_funded_coin, create_unpaired_asset, event_data, freeze,
        paired_asset, view,
    },
    fungible_asset::METADATA,
};
use ledger_execution::genesis::{DEVELOPMENT_ACCOUNT_COUNT, DEVELOPMENT_BALANCE, FAUCET_BALANCE};
use ledger_framework::modules::{coin::paired_metadata_address, object::user_derived_address};
use ledger_types::AccountAddress;
use serde_json::json;

#[test]
fn describes_the_native_coin_under_both_names() {
    let world = World::new();
    let field = |name: &str| view(&world, name, NATIVE, vec![]);
    assert_eq!(field("name"), "Node Coin");
    assert_eq!(field("symbol"), "NODE");
    assert_eq!(field("decimals"), 8);
    assert_eq!(field("is_coin_initialized"), true);
    assert_eq!(field("paired_metadata"), json!({"vec": [{"inner": "0xa"}]}));
    let accounts = DEVELOPMENT_BALANCE * u64::from(DEVELOPMENT_ACCOUNT_COUNT);
    let supply = FAUCET_BALANCE + accounts;
    assert_eq!(field("supply"), json!({"vec": [supply.to_string()]}));
    for name in ["name", "symbol", "decimals", "supply"] {
        let of_asset = world.view(
            &format!("0x1::fungible_asset::{name}"),
            &["0x1::object::ObjectCore"],
            args![AccountAddress::NATIVE_ASSET],
        );
        assert_eq!(of_asset, [field(name)], "{name}");
    }
    let paired = world.view(
        "0x1::coin::paired_coin",
        &[],
        args![AccountAddress::NATIVE_ASSET],
    );
    let struct_name = format!("0x{}", hex::encode("NodeCoin"));
    assert_eq!(paired[0]["vec"][0]["struct_name"], struct_name);
    assert_eq!(
        field("coin_supply"),
        json!({"vec": ["0"]}),
        "no program holds coins in a resource"
    );
    // The ledger holds the right to burn the native asset.
    for (power, exists) in [("mint", true), ("transfer", true), ("burn", false)] {
        assert_eq!(field(&format!("paired_{power}_ref_exists")), exists);
    }
    let owner = world.view(
        "0x1::object::owner",
        &["0x1::fungible_asset::Metadata"],
        args![AccountAddress::NATIVE_ASSET],
    );
    assert_eq!(owner, ["0x1"]);
}

#[test]
fn pairs_a_coin_on_its_first_use() {
    let mut world = World::new();
    let name = format!("Share<{NATIVE}, vector<u8>>");
    let coin = format!("{}::pool::{name}", account_address(0));
    let arguments = args![b"Share".to_vec(), b"SHR".to_vec(), 7u8, true];
    world.call_ok(0, "0x1::managed_coin::initialize", &[&coin], arguments);
    for power in ["mint", "transfer", "burn"] {
        let exists = view(&world, &format!("paired_{power}_ref_exists"), &coin, vec![]);
        assert_eq!(exists, false, "{power}");
    }
    let asset = paired_metadata_address(world.chain(), &coin.parse().unwrap());
    let executed = world.call(
        0,
        "0x1::managed_coin::mint",
        &[&coin],
        args![account_address(1), 5u64],
    );
    let coin_type = json!({
        "account_address": account_address(0).to_string(),
        "module_name": format!("0x{}", hex::encode("pool")),
        "struct_name": format!("0x{}", hex::encode(name)),
    });
    let store = user_derived_address(account_address(1), asset).to_string();
    assert_eq!(
        event_data(&world, &executed),
        [
            json!({
                "metadata": asset.to_string(), "name": "Share", "symbol": "SHR", "decimals": 7,
                "icon_uri": "", "project_uri": "", "maximum_supply": {"vec": []},
            }),
            json!({
                "coin_type": coin_type,
                "fungible_asset_metadata_address": asset.to_string(),
            }),
            json!({"store": store, "amount": "5"}),
            json!({"amount": "5"}),
        ]
    );
    assert_eq!(paired_asset(&world, &coin), asset);
    for power in ["mint", "transfer", "burn"] {
        let exists = view(&world, &format!("paired_{power}_ref_exists"), &coin, vec![]);
        assert_eq!(exists, true, "{power}");
    }
    for (view, expected) in [
        ("0x1::fungible_asset::name", json!("Share")),
        ("0x1::fungible_asset::symbol", json!("SHR")),
        ("0x1::fungible_asset::decimals", json!(7)),
        ("0x1::fungible_asset::supply", json!({"vec": ["5"]})),
        ("0x1::fungible_asset::maximum", json!({"vec": []})),
        ("0x1::object::owner", json!("0xa")),
    ] {
        assert_eq!(world.view(view, &[METADATA], args![asset]), [expected]);
    }
    let paired = world.view("0x1::coin::paired_coin", &[], args![asset]);
    assert_eq!(paired, [json!({"vec": [coin_type]})]);
    let second = world.call_ok(
        0,
        "0x1::managed_coin::mint",
        &[&coin],
        args![account_address(1), 5u64],
    );
    assert_eq!(
        event_data(&world, &second).len(),
        2,
        "the coin is paired once"
    );
}

#[test]
fn returns_no_frozen_flag_of_a_coin_store() {
    let mut world = World::new();
    let coin = create_funded_coin(&mut world, &[10]);
    freeze(&mut world, &coin, 0);
    for coin in [coin.as_str(), NATIVE] {
        let is_frozen = "0x1::coin::is_coin_store_frozen";
        let result = world.try_view(is_frozen, &[coin], args![account_address(0)]);
        assert_eq!(
            result.unwrap_err(),
            "Execution failed in 0x1::coin::is_coin_store_frozen at code offset 0"
        );
    }
}

#[test]
fn returns_no_paired_coin_for_an_unpaired_asset() {
    let mut world = World::new();
    let asset = create_unpaired_asset(&mut world);
    let paired = world.view("0x1::coin::paired_coin", &[], args![asset]);
    assert_eq!(paired, [json!({"vec": []})]);
}
