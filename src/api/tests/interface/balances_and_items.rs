//! docs/reference/rest-contract.md#s2-9: balances and values of table items.

use crate::kit::members;
use crate::{
    interface::chain::{History, RECORD_KEY},
    kit::{Settings, TestApi, ok_json},
};
use ledger_execution::{build_chain, development_genesis, genesis::DEVELOPMENT_BALANCE};
use ledger_framework::modules::table::TableInfo;
use ledger_types::{AccountAddress, Parameters, StateKey, Vendor};
use serde_json::json;

/// Differs from every other U64, which is text.
#[actix_web::test]
async fn a_balance_is_a_json_number() {
    let history = History::start().await;
    let path = format!("/v1/accounts/{}/balance/0xa", history.owner());
    let balance = history.get(&path).await;
    let spent = DEVELOPMENT_BALANCE - balance.as_u64().unwrap();
    assert!(spent > 0, "{balance}");
    let response = history.api.client.get(&path).await;
    assert!(
        response.body.iter().all(u8::is_ascii_digit),
        "{}",
        response.text()
    );
    history.api.stop().await;
}

/// Shows an item as a JSON number if its table recorded `u8` as the type of its values.
#[actix_web::test]
async fn a_raw_item_of_type_u8_is_a_number() {
    let table = AccountAddress::from_low_u64(0x7ab1e);
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let tag = build_chain(&genesis)
        .unwrap()
        .registry()
        .tag_of::<TableInfo>(&[]);
    let types = TableInfo {
        key_type: "u8".to_owned(),
        value_type: "u8".to_owned(),
    };
    let api = TestApi::start(Settings {
        more_state: vec![
            (
                StateKey::resource(&table, &tag),
                bcs::to_bytes(&types).unwrap().into(),
            ),
            (StateKey::table_item(&table, &[1]), vec![200].into()),
        ],
        ..Settings::default()
    })
    .await;
    let path = format!("/v1/tables/{table}/raw_item");
    let item = api
        .client
        .post_json(&path, &json!({ "key": "0x01" }), "*/*")
        .await;
    assert_eq!(ok_json(&item), 200);
    api.stop().await;
}

#[actix_web::test]
async fn a_raw_item_of_a_struct_is_an_object() {
    let history = History::start().await;
    let path = format!("/v1/tables/{}/raw_item", history.table);
    let key = json!({ "key": RECORD_KEY });
    let item = ok_json(&history.api.client.post_json(&path, &key, "*/*").await);
    assert_eq!(members(&item), ["content", "revision", "updated_usecs"]);
    history.api.stop().await;
}
