//! Items of tables, with and without recorded types.

use crate::kit::{Settings, TestApi, assert_error, assert_still_commits, ok_bcs, ok_json};
use bytes::Bytes;
use ledger_execution::{build_chain, development_genesis};
use ledger_framework::modules::table::TableInfo;
use ledger_types::{AccountAddress, Parameters, StateKey, Vendor};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";
const TYPED: AccountAddress = AccountAddress::from_low_u64(0x7ab1e);
const UNTYPED: AccountAddress = AccountAddress::from_low_u64(0x7ab1f);
const KEY: u64 = 5;

/// Returns a table from u64 to address that recorded its types and one that did not, with one item
/// each.
fn tables() -> Vec<(StateKey, Bytes)> {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let tag = build_chain(&genesis)
        .unwrap()
        .registry()
        .tag_of::<TableInfo>(&[]);
    let info = TableInfo {
        key_type: "u64".to_owned(),
        value_type: "address".to_owned(),
    };
    let item = |handle| {
        let value = bcs::to_bytes(&AccountAddress::from_low_u64(0xcafe)).unwrap();
        (
            StateKey::table_item(&handle, &KEY.to_le_bytes()),
            value.into(),
        )
    };
    vec![
        (
            StateKey::resource(&TYPED, &tag),
            bcs::to_bytes(&info).unwrap().into(),
        ),
        item(TYPED),
        item(UNTYPED),
    ]
}

async fn start() -> TestApi {
    TestApi::start(Settings {
        more_state: tables(),
        ..Settings::default()
    })
    .await
}

fn raw_key() -> Value {
    json!({ "key": format!("0x{}", hex::encode(KEY.to_le_bytes())) })
}

fn typed_key() -> Value {
    json!({ "key_type": "u64", "value_type": "address", "key": KEY.to_string() })
}

#[actix_web::test]
async fn reads_an_item_by_the_bytes_of_its_key() {
    let api = start().await;
    let stored = AccountAddress::from_low_u64(0xcafe);
    for (handle, expected) in [
        (TYPED, "0xcafe".to_owned()),
        (UNTYPED, stored.to_long_hex()),
    ] {
        for suffix in ["", "?ledger_version=0"] {
            let path = format!("/v1/tables/{}/raw_item{suffix}", handle.to_long_hex());
            let in_json = api.client.post_json(&path, &raw_key(), JSON).await;
            assert_eq!(ok_json(&in_json), expected, "{path}");
            let in_bcs = api.client.post_json(&path, &raw_key(), BCS).await;
            assert_eq!(ok_bcs(&in_bcs), stored.as_bytes(), "{path}");
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn reads_an_item_by_the_json_form_of_its_key() {
    let api = start().await;
    for handle in [TYPED, UNTYPED] {
        let path = format!("/v1/tables/{handle}/item");
        let in_json = api.client.post_json(&path, &typed_key(), JSON).await;
        assert_eq!(ok_json(&in_json), "0xcafe");
        let in_bcs = api.client.post_json(&path, &typed_key(), BCS).await;
        assert_eq!(
            ok_bcs(&in_bcs),
            AccountAddress::from_low_u64(0xcafe).as_bytes()
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn names_a_missing_item_and_the_version() {
    let api = start().await;
    let missing = (404, "table_item_not_found");
    let other = json!({ "key_type": "u64", "value_type": "address", "key": "6" });
    let path = format!("/v1/tables/{TYPED}/item");
    let response = api.client.post_json(&path, &other, JSON).await;
    assert_error(&response, missing, "another key");
    assert_eq!(
        response.json()["message"],
        "Table Item not found by Table handle(0x7ab1e), Table key(\"6\") and Ledger version(0)"
    );
    let response = api
        .client
        .post_json("/v1/tables/0xdead/raw_item", &raw_key(), JSON)
        .await;
    assert_error(&response, missing, "another table");
    assert_eq!(
        response.json()["message"],
        "Table Item not found by Table handle(0xdead), Table key(0x0500000000000000) \
         and Ledger version(0)"
    );
    for route in ["item", "raw_item"] {
        let path = format!("/v1/tables/{TYPED}/{route}?ledger_version=9");
        let body = if route == "item" {
            typed_key()
        } else {
            raw_key()
        };
        let response = api.client.post_json(&path, &body, JSON).await;
        assert_error(&response, (404, "version_not_found"), route);
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_bodies_that_name_no_item() {
    let api = start().await;
    let syntax = (400, "web_framework_error");
    let input = (400, "invalid_input");
    let changed = |name: &str, value: Value| {
        let mut body = typed_key();
        body[name] = value;
        body
    };
    let rows = [
        ("raw_item", json!({}), syntax),
        ("raw_item", json!({ "key": "0x0" }), syntax),
        ("raw_item", json!({ "key": 5 }), syntax),
        ("raw_item", json!([]), syntax),
        ("item", json!({ "key": "5" }), syntax),
        ("item", changed("key_type", json!(5)), syntax),
        ("item", changed("key_type", json!("u65")), input),
        ("item", changed("value_type", json!("vector<")), input),
        ("item", changed("key_type", json!("0x1::no::Thing")), input),
        ("item", changed("key", json!("x")), input),
        ("item", changed("key", json!(5)), input),
        ("item", changed("value_type", json!("u64")), input),
        (
            "item",
            changed("value_type", json!("0x1::no::Thing")),
            input,
        ),
    ];
    for (route, body, expected) in rows {
        let path = format!("/v1/tables/{TYPED}/{route}");
        let response = api.client.post_json(&path, &body, JSON).await;
        assert_error(&response, expected, &body.to_string());
    }
    let response = api
        .client
        .post_json("/v1/tables/0xg/raw_item", &raw_key(), JSON)
        .await;
    assert_error(&response, syntax, "not a handle");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Returns the change of an item of `table` in a transaction.
fn change_of(transaction: &Value, table: AccountAddress) -> &Value {
    let handle = table.to_long_hex();
    let changes = transaction["changes"].as_array().unwrap();
    changes
        .iter()
        .find(|change| change["handle"] == handle)
        .unwrap()
}

#[actix_web::test]
async fn decodes_a_change_of_an_item_if_the_types_are_known() {
    let api = start().await;
    let genesis = ok_json(&api.client.get("/v1/transactions/by_version/0").await);
    let hash = genesis["hash"].as_str().unwrap();
    let by_hash = ok_json(
        &api.client
            .get(&format!("/v1/transactions/by_hash/{hash}"))
            .await,
    );
    let block = ok_json(
        &api.client
            .get("/v1/blocks/by_height/0?with_transactions=true")
            .await,
    );
    for transaction in [&genesis, &by_hash, &block["transactions"][0]] {
        let change = change_of(transaction, TYPED);
        assert_eq!(change["type"], "write_table_item");
        assert_eq!(change["key"], raw_key()["key"]);
        let data =
            json!({ "key": "5", "key_type": "u64", "value": "0xcafe", "value_type": "address" });
        assert_eq!(change["data"], data);
        let change = change_of(transaction, UNTYPED);
        assert_eq!(change["type"], "write_table_item");
        assert_eq!(change.get("data"), None);
    }
    api.stop().await;
}
