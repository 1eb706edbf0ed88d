//! Raw values of the state by their key: the response for each kind of key, and invalid keys.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
};
use bytes::Bytes;
use ledger_execution::{build_chain, development_genesis};
use ledger_framework::modules::table::TableInfo;
use ledger_types::{AccountAddress, Parameters, StateKey, StructTag, Vendor};
use serde::Serialize;
use serde_json::{Value, json};

const PATH: &str = "/v1/experimental/state_values/raw";
const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";
const OWNER: AccountAddress = AccountAddress::from_low_u64(0x57a7e);
const TYPED: AccountAddress = AccountAddress::from_low_u64(0x7ab1e);
const UNTYPED: AccountAddress = AccountAddress::from_low_u64(0x7ab1f);

/// A state key as a client encodes it in BCS, with the variants of the reference node.
#[derive(Serialize)]
enum Key {
    AccessPath(AccountAddress, Bytes),
    TableItem(AccountAddress, Bytes),
}

/// Returns a stored value as a client receives it in BCS.
fn stored(value: &[u8]) -> Vec<u8> {
    bcs::to_bytes(&(0u8, Bytes::copy_from_slice(value))).unwrap()
}

/// Returns an access path below an address: its kind and its name.
fn path(kind: u8, name: &impl Serialize) -> Bytes {
    let mut path = vec![kind];
    path.extend(bcs::to_bytes(name).unwrap());
    path.into()
}

fn body(key: &impl Serialize) -> Value {
    json!({ "key": format!("0x{}", hex::encode(bcs::to_bytes(key).unwrap())) })
}

fn tag(text: &str) -> StructTag {
    text.parse().unwrap()
}

/// Returns a resource that the framework declares, one that it does not, a group, and an item of
/// each table.
fn state() -> Vec<(StateKey, Bytes)> {
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let info_tag = build_chain(&genesis)
        .unwrap()
        .registry()
        .tag_of::<TableInfo>(&[]);
    let info = TableInfo {
        key_type: "u64".to_owned(),
        value_type: "address".to_owned(),
    };
    let info = Bytes::from(bcs::to_bytes(&info).unwrap());
    let address = Bytes::from(bcs::to_bytes(&OWNER).unwrap());
    vec![
        (StateKey::resource(&TYPED, &info_tag), info),
        (
            StateKey::resource(&OWNER, &tag("0x9::no::Thing")),
            Bytes::from_static(b"\x01\x02"),
        ),
        (
            StateKey::resource_group(&OWNER, &tag("0x9::no::Group")),
            Bytes::from_static(b"\0"),
        ),
        (StateKey::table_item(&TYPED, b"\x05"), address.clone()),
        (StateKey::table_item(&UNTYPED, b"\x05"), address),
    ]
}

async fn start() -> TestApi {
    TestApi::start(Settings {
        more_state: state(),
        ..Settings::default()
    })
    .await
}

async fn read_value(api: &TestApi, body: &Value, accept: &str) -> RawResponse {
    api.client.post_json(PATH, body, accept).await
}

#[actix_web::test]
async fn shows_a_value_by_the_kind_of_its_key() {
    let api = start().await;
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let info_tag = build_chain(&genesis)
        .unwrap()
        .registry()
        .tag_of::<TableInfo>(&[]);
    let item = Bytes::from_static(b"\x05");
    let rows = [
        (
            Key::AccessPath(TYPED, path(1, &info_tag)),
            json!({ "key_type": "u64", "value_type": "address" }),
            bcs::to_bytes(&("u64", "address")).unwrap(),
        ),
        (
            Key::AccessPath(OWNER, path(1, &tag("0x9::no::Thing"))),
            json!("0x0102"),
            vec![1, 2],
        ),
        (
            Key::AccessPath(OWNER, path(2, &tag("0x9::no::Group"))),
            json!("0x00"),
            vec![0],
        ),
        (
            Key::TableItem(TYPED, item.clone()),
            json!(OWNER.to_string()),
            OWNER.as_bytes().to_vec(),
        ),
        (
            Key::TableItem(UNTYPED, item),
            json!(OWNER.to_long_hex()),
            OWNER.as_bytes().to_vec(),
        ),
    ];
    for (key, expected, bytes) in rows {
        let body = body(&key);
        assert_eq!(
            ok_json(&read_value(&api, &body, JSON).await),
            expected,
            "{body}"
        );
        assert_eq!(
            ok_bcs(&read_value(&api, &body, BCS).await),
            stored(&bytes),
            "{body}"
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn names_a_missing_key_and_the_version() {
    let api = start().await;
    let missing = body(&Key::TableItem(TYPED, Bytes::from_static(b"\x06")));
    let response = read_value(&api, &missing, BCS).await;
    assert_error(&response, (404, "state_value_not_found"), "another item");
    let key = missing["key"].as_str().unwrap();
    let message = format!("State Value not found by State key({key}) and Ledger version(0)");
    assert_eq!(response.json()["message"], message);
    assert_eq!(response.headers["x-node-ledger-version"], "0");
    let response = api
        .client
        .post_json(&format!("{PATH}?ledger_version=9"), &missing, JSON)
        .await;
    assert_error(&response, (404, "version_not_found"), "a future version");
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn reads_a_value_at_a_version_and_prefers_410_to_404() {
    let api = TestApi::start(Settings::with_window(4)).await;
    let account = tag("0x1::account::Account");
    let key = body(&Key::AccessPath(
        Transfer::new(0, 0).sender(),
        path(1, &account),
    ));
    let mut newest = 0;
    for number in 0..8 {
        let committed = api.commit(&Transfer::new(0, number)).await;
        let version: u64 = committed["version"].as_str().unwrap().parse().unwrap();
        let at = |version: u64| format!("{PATH}?ledger_version={version}");
        for (version, expected) in [(version, number + 1), (version - 1, number)] {
            let response = api.client.post_json(&at(version), &key, JSON).await;
            assert_eq!(ok_json(&response)["sequence_number"], expected.to_string());
        }
        newest = version;
    }
    // Version 1 is pruned at some point during these requests.
    let missing = body(&Key::TableItem(TYPED, Bytes::new()));
    loop {
        let path = format!("{PATH}?ledger_version=1");
        let response = api.client.post_json(&path, &missing, JSON).await;
        if response.status == 410 {
            assert_error(&response, (410, "version_pruned"), "before the window");
            assert_eq!(
                response.json()["message"],
                "Ledger version(1) has been pruned"
            );
            break;
        }
        assert_error(&response, (404, "state_value_not_found"), "not pruned yet");
    }
    ok_json(
        &api.client
            .post_json(&format!("{PATH}?ledger_version={newest}"), &key, JSON)
            .await,
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_invalid_keys() {
    let api = start().await;
    let syntax = (400, "web_framework_error");
    let input = (400, "invalid_input");
    let hex_of = |bytes: &[u8]| json!({ "key": format!("0x{}", hex::encode(bytes)) });
    let whole = bcs::to_bytes(&Key::AccessPath(OWNER, path(1, &tag("0x9::no::Thing")))).unwrap();
    let longer = [&whole[..], &[0]].concat();
    // A vector of a vector of a vector ...
    let deep = [&[1][..], OWNER.as_bytes(), b"\x01m\x01S\x01", &[6; 20_000]].concat();
    let deep = Key::AccessPath(OWNER, deep.into());
    let rows = [
        (json!({}), syntax),
        (json!({ "key": 5 }), syntax),
        (json!({ "key": "0x0" }), syntax),
        (json!({ "key": "" }), input),
        (hex_of(&[]), input),
        (hex_of(&[0]), input),
        (hex_of(&[2; 40]), input),
        (hex_of(&whole[..whole.len() - 1]), input),
        (hex_of(&longer), input),
        (body(&Key::AccessPath(OWNER, Bytes::new())), input),
        (body(&Key::AccessPath(OWNER, path(3, &0u8))), input),
        // The storage encoding of an item has no length before the item's key.
        (
            hex_of(StateKey::table_item(&TYPED, b"\x05").as_bytes()),
            input,
        ),
        (body(&deep), input),
    ];
    for (body, expected) in rows {
        let response = read_value(&api, &body, BCS).await;
        let text: String = body.to_string().chars().take(200).collect();
        assert_error(&response, expected, &text);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
