//! The registry program, with a typed table, event streams and views, read through every route.

use crate::kit::{Settings, TestApi, Transfer, assert_error, ok_json};
use ledger_crypto::Ed25519Signature;
use ledger_types::{SignedTransaction, transaction::TransactionAuthenticator};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const RECORD: &str = "0x1::registry::Record";
const TEXT: &str = "0x1::string::String";

/// Creates a registry of the first development account with one record. Returns the committed
/// transaction that set the record.
async fn with_record(api: &TestApi) -> Value {
    let owner = Transfer::new(0, 0);
    let created = owner.sign_call(&api.chain, "0x1::registry::initialize", &[]);
    let created = api.commit_signed(&created).await;
    assert_eq!(created["success"], true, "{created}");
    let set = api.commit_signed(&set(api, 1)).await;
    assert_eq!(set["success"], true, "{set}");
    set
}

fn set(api: &TestApi, sequence_number: u64) -> SignedTransaction {
    let arguments = [json!("name"), json!("0xab")];
    Transfer::new(0, sequence_number).sign_call(&api.chain, "0x1::registry::set", &arguments)
}

/// Returns the only change of a table item in a transaction.
fn item_change(transaction: &Value) -> &Value {
    let changes = transaction["changes"].as_array().unwrap();
    let mut items = changes
        .iter()
        .filter(|change| change.get("handle").is_some());
    let item = items.next().expect("a table item");
    assert_eq!(items.next(), None);
    item
}

#[actix_web::test]
async fn decodes_item_changes_with_the_recorded_types() {
    let api = TestApi::start(Settings::default()).await;
    let committed = with_record(&api).await;
    let (version, hash) = (
        committed["version"].as_str().unwrap(),
        committed["hash"].as_str().unwrap(),
    );
    let record =
        json!({ "content": "0xab", "revision": "1", "updated_usecs": committed["timestamp"] });
    let data = json!({ "key": "name", "key_type": TEXT, "value": record, "value_type": RECORD });
    let get = |path: String| {
        let client = api.client.clone();
        async move { ok_json(&client.get(&path).await) }
    };
    let block = get("/v1/blocks/by_height/2?with_transactions=true".to_owned()).await;
    for transaction in [
        &committed,
        &get(format!("/v1/transactions/by_hash/{hash}")).await,
        &get(format!("/v1/transactions/by_version/{version}")).await,
        &block["transactions"][1],
    ] {
        let change = item_change(transaction);
        assert_eq!(change["type"], "write_table_item");
        assert_eq!(change["key"], "0x046e616d65");
        assert_eq!(change["data"], data);
    }

    let mut again = set(&api, 2);
    again.authenticator = TransactionAuthenticator::Ed25519 {
        public_key: Transfer::new(0, 2).account().key.public_key(),
        signature: Ed25519Signature([0; 64]),
    };
    let headers = [("content-type", &api.client.signed_transaction_type()[..])];
    let body = bcs::to_bytes(&again).unwrap();
    let simulated = api
        .client
        .send("POST", "/v1/transactions/simulate", &headers, Some(&body))
        .await;
    let simulated = ok_json(&simulated);
    assert_eq!(
        item_change(&simulated[0])["data"]["value"]["revision"],
        "2",
        "{simulated}"
    );

    let removal =
        Transfer::new(0, 2).sign_call(&api.chain, "0x1::registry::remove", &[json!("name")]);
    let removed = api.commit_signed(&removal).await;
    let change = item_change(&removed);
    assert_eq!(change["type"], "delete_table_item");
    assert_eq!(change["data"], json!({ "key": "name", "key_type": TEXT }));
    api.stop().await;
}

#[actix_web::test]
async fn items_views_and_events_show_the_same_record() {
    let api = TestApi::start(Settings::default()).await;
    let committed = with_record(&api).await;
    let owner = Transfer::new(0, 0).sender();
    let record =
        json!({ "content": "0xab", "revision": "1", "updated_usecs": committed["timestamp"] });

    let registry = format!("/v1/accounts/{owner}/resource/0x1::registry::Registry");
    let registry = ok_json(&api.client.get(&registry).await);
    let handle = registry["data"]["records"]["inner"]["handle"]
        .as_str()
        .unwrap();
    let (item, raw_item) = (
        format!("/v1/tables/{handle}/item"),
        format!("/v1/tables/{handle}/raw_item"),
    );
    let typed = json!({ "key_type": TEXT, "value_type": RECORD, "key": "name" });
    let raw = json!({ "key": "0x046e616d65" });
    assert_eq!(
        ok_json(&api.client.post_json(&item, &typed, JSON).await),
        record
    );
    assert_eq!(
        ok_json(&api.client.post_json(&raw_item, &raw, JSON).await),
        record
    );
    let before = format!("{raw_item}?ledger_version=0");
    let missing = api.client.post_json(&before, &raw, JSON).await;
    assert_error(&missing, (404, "table_item_not_found"), "before it was set");

    let call = json!({
        "function": "0x1::registry::get",
        "type_arguments": [],
        "arguments": [owner.to_string(), "name"],
    });
    let viewed = ok_json(&api.client.post_json("/v1/view", &call, JSON).await);
    assert_eq!(viewed, json!([{ "vec": [record] }]));

    let events = format!("/v1/accounts/{owner}/events/0x1::registry::Registry/set_events");
    let events = ok_json(&api.client.get(&events).await);
    assert_eq!(events[0]["version"], committed["version"]);
    assert_eq!(
        events[0]["data"],
        json!({ "name": "name", "record": record })
    );
    assert_eq!(events.as_array().unwrap().len(), 1);
    api.stop().await;
}
