//! Calls of view functions.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
};
use ledger_execution::genesis::DEVELOPMENT_BALANCE;
use ledger_types::{AccountAddress, EntryFunction};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";
const COIN: &str = "0x1::node_coin::NodeCoin";
const BCS_CALL: &str = "application/x.node.view_function+bcs";

fn balance(of: &str) -> Value {
    json!({ "function": "0x1::coin::balance", "type_arguments": [COIN], "arguments": [of] })
}

fn call(function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
    let (module, name) = function.rsplit_once("::").unwrap();
    EntryFunction {
        module: module.parse().unwrap(),
        function: name.parse().unwrap(),
        type_args: type_args.iter().map(|text| text.parse().unwrap()).collect(),
        args: args.into_iter().map(Into::into).collect(),
    }
}

async fn post_bcs(api: &TestApi, call: &EntryFunction, accept: &str) -> RawResponse {
    let headers = [("content-type", BCS_CALL), ("accept", accept)];
    let body = bcs::to_bytes(call).unwrap();
    api.client
        .send("POST", "/v1/view", &headers, Some(&body))
        .await
}

fn gas_used(response: &RawResponse) -> u64 {
    response.headers["x-node-gas-used"].parse().unwrap()
}

#[actix_web::test]
async fn returns_the_same_result_in_every_format() {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let in_json = api
        .client
        .post_json("/v1/view", &balance("0xb0b"), JSON)
        .await;
    assert_eq!(ok_json(&in_json), json!(["7"]));
    assert!(gas_used(&in_json) > 0);

    let raw = bcs::to_bytes(&(1u8, 7u64)).unwrap();
    let bytes = api
        .client
        .post_json("/v1/view", &balance("0xb0b"), BCS)
        .await;
    assert_eq!(ok_bcs(&bytes), raw);
    let address = AccountAddress::from_low_u64(0xb0b).as_bytes().to_vec();
    let called = call("0x1::coin::balance", &[COIN], vec![address]);
    let bytes = post_bcs(&api, &called, BCS).await;
    assert_eq!(ok_bcs(&bytes), raw);
    assert_eq!(gas_used(&bytes), gas_used(&in_json));
    assert_eq!(ok_json(&post_bcs(&api, &called, JSON).await), json!(["7"]));
    api.stop().await;
}

#[actix_web::test]
async fn reads_the_requested_version() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    api.commit(&transfer).await;
    let path = "/v1/view?ledger_version=0";
    let of_sender = balance(&transfer.sender().to_string());
    let before = ok_json(&api.client.post_json(path, &of_sender, JSON).await);
    assert_eq!(before, json!([DEVELOPMENT_BALANCE.to_string()]));
    let height = json!({
        "function": "0x1::block::get_current_block_height", "type_arguments": [], "arguments": [],
    });
    assert_eq!(
        ok_json(&api.client.post_json(path, &height, JSON).await),
        json!(["0"])
    );
    let now = api.client.post_json("/v1/view", &height, JSON).await;
    assert_eq!(ok_json(&now), json!(["1"]));
    let later = api
        .client
        .post_json("/v1/view?ledger_version=99", &height, JSON)
        .await;
    assert_error(&later, (404, "version_not_found"), "a later version");
    api.stop().await;
}

#[actix_web::test]
async fn rejects_calls_that_do_not_fit_their_function() {
    let api = TestApi::start(Settings::default()).await;
    let changed = |name: &str, value: Value| {
        let mut body = balance("0xb0b");
        body[name] = value;
        body
    };
    let input = (400, "invalid_input");
    let syntax = (400, "web_framework_error");
    let rows = [
        (changed("function", json!("0x1::coin::nothing")), input),
        (changed("function", json!("0x2::coin::balance")), input),
        (changed("function", json!("0x1::coin::transfer")), input),
        (changed("function", json!("balance")), syntax),
        (changed("type_arguments", json!([])), input),
        (changed("type_arguments", json!(["u65"])), input),
        (changed("arguments", json!([])), input),
        (changed("arguments", json!(["0xg"])), input),
        (changed("arguments", json!("0xb0b")), syntax),
        (changed("function", json!(1)), syntax),
        (json!({ "function": "0x1::coin::balance" }), syntax),
    ];
    for (body, expected) in rows {
        let response = api.client.post_json("/v1/view", &body, JSON).await;
        assert_error(&response, expected, &body.to_string());
    }
    let entry = call("0x1::coin::transfer", &[COIN], vec![]);
    assert_error(
        &post_bcs(&api, &entry, JSON).await,
        input,
        "an entry function",
    );
    let without_arguments =
        post_bcs(&api, &call("0x1::coin::balance", &[COIN], vec![]), JSON).await;
    assert_error(&without_arguments, input, "too few arguments");
    assert_eq!(without_arguments.json()["vm_error_code"], 1011);
    for (media_type, body, expected) in [
        (BCS_CALL, &b"\xff"[..], input),
        (BCS_CALL, b"", input),
        (JSON, b"", syntax),
        ("application/x-bcs", b"", (415, "web_framework_error")),
    ] {
        let headers = [("content-type", media_type)];
        let response = api
            .client
            .send("POST", "/v1/view", &headers, Some(body))
            .await;
        assert_error(&response, expected, media_type);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn reports_the_reason_of_an_abort() {
    let api = TestApi::start(Settings::default()).await;
    let body = json!({
        "function": "0x1::coin::is_account_registered",
        "type_arguments": ["0x5::no::Coin"],
        "arguments": ["0xb0b"],
    });
    let response = api.client.post_json("/v1/view", &body, BCS).await;
    assert_error(&response, (400, "invalid_input"), "an abort");
    assert_eq!(response.json()["vm_error_code"], 4016);
    let message = response.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("Move abort in 0x1::coin: ECOIN_INFO_NOT_PUBLISHED(0x10003"),
        "{message}"
    );
    assert!(response.headers.contains_key("x-node-ledger-version"));
    api.stop().await;
}

#[actix_web::test]
async fn reports_the_status_of_a_failed_execution() {
    let api = TestApi::start(Settings::default()).await;
    let missing = json!({
        "function": "0x1::multisig_account::owners", "type_arguments": [], "arguments": ["0xb0b"],
    });
    let response = api.client.post_json("/v1/view", &missing, JSON).await;
    assert_error(&response, (400, "invalid_input"), "no such resource");
    let message = "Execution failed in 0x1::multisig_account::owners at code offset 0";
    assert_eq!(response.json()["message"], message);
    assert_eq!(response.json()["vm_error_code"], 4008);
    api.stop().await;
}

#[actix_web::test]
async fn names_the_function_that_a_call_does_not_fit() {
    let api = TestApi::start(Settings::default()).await;
    let mut untyped = balance("0xb0b");
    untyped["type_arguments"] = json!([]);
    let mut unknown = balance("0xb0b");
    unknown["function"] = json!("0x1::coin::nothing");
    let rows = [
        (
            untyped,
            "expected 1 type arguments, but got 0, in a call of 0x1::coin::balance",
        ),
        (
            unknown,
            "could not find view function by 0x1::coin::nothing",
        ),
    ];
    for (body, message) in rows {
        let response = api.client.post_json("/v1/view", &body, JSON).await;
        assert_error(&response, (400, "invalid_input"), message);
        assert_eq!(response.json()["message"], message);
    }
    let mut submitted = Transfer::new(0, 0).json(&api.chain);
    submitted["payload"]["arguments"] = json!(["0xb0b"]);
    let response = api.client.submit_json(&submitted).await;
    let message = response.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with("in a call of 0x1::node_account::transfer"),
        "{message}"
    );
    api.stop().await;
}
