//! The body of an error.

use crate::kit::{changed, members};
use crate::{
    interface::{
        chain::{History, Pruned},
        rows::row,
    },
    kit::{RawResponse, Settings, TestApi, Transfer},
};
use serde_json::{Value, json};

/// Returns responses with several kinds of errors.
async fn errors(history: &History) -> Vec<RawResponse> {
    let client = &history.api.client;
    let mut responses = Vec::new();
    for path in [
        "/v1/nothing",
        "/v1/blocks/by_height/x",
        "/v1/blocks/by_height/99",
        "/v1/accounts/0x1/resource/0x9::a::B",
        "/v1/transactions?limit=0",
    ] {
        responses.push(client.get(path).await);
        responses.push(client.get_bcs(path).await);
    }
    responses.push(client.send("DELETE", "/v1", &[], None).await);
    responses.push(client.send("POST", "/v1/view", &[], None).await);
    responses
}

/// Responds in JSON, whatever the client accepts.
#[actix_web::test]
async fn an_error_has_a_message_and_a_code() {
    let history = History::start().await;
    for response in errors(&history).await {
        assert_eq!(response.headers["content-type"], "application/json");
        let body = response.json();
        assert_eq!(members(&body), ["error_code", "message"], "{body}");
        assert!(!body["message"].as_str().unwrap().is_empty());
    }
    history.api.stop().await;
}

/// Shows the code for errors of validation and of execution.
#[actix_web::test]
async fn the_vm_error_code_is_a_number() {
    let api = TestApi::start(Settings::default()).await;
    let wrong = changed(
        &Transfer::new(0, 0).json(&api.chain),
        "/max_gas_amount",
        json!("100001"),
    );
    let rejected = api.client.submit_json(&wrong).await;
    row("POST /transactions", 400, "vm_error").assert_matches(&rejected, "a wrong signature");
    let aborts = json!({
        "function": "0x1::coin::is_account_registered",
        "type_arguments": ["0x5::no::Coin"],
        "arguments": ["0xb0b"],
    });
    let failed = api.client.post_json("/v1/view", &aborts, "*/*").await;
    row("POST /view", 400, "invalid_input").assert_matches(&failed, "an abort");
    for (response, code) in [(rejected, 1), (failed, 4016)] {
        let body = response.json();
        assert_eq!(members(&body), ["error_code", "message", "vm_error_code"]);
        assert_eq!(body["vm_error_code"], code);
    }
    api.stop().await;
}

/// Names the missing thing and the version in the messages of 404 and 410.
#[actix_web::test]
async fn messages_name_the_thing_and_the_version() {
    let pruned = Pruned::start().await;
    let newest = pruned.newest;
    for (path, message) in [
        (
            "/v1/accounts/01/resource/0x1::a::B%3Cu8,0x1::c::D%3E",
            format!(
                "Resource not found by Address(0x1), Struct tag(0x1::a::B<u8, 0x1::c::D>) \
                     and Ledger version({newest})"
            ),
        ),
        (
            "/v1/accounts/0x1/module/nothing",
            format!(
                "Module not found by Address(0x1), Module name(nothing) \
                     and Ledger version({newest})"
            ),
        ),
        (
            "/v1/accounts/0x1/events/0x1::chain_id::ChainId/nothing",
            format!(
                "Struct Field not found by Address(0x1), Struct tag(0x1::chain_id::ChainId), \
                     Field name(nothing) and Ledger version({newest})"
            ),
        ),
        (
            "/v1/blocks/by_height/99",
            "Block not found by Block height(99)".to_owned(),
        ),
        (
            "/v1/transactions/by_version/99",
            "Transaction not found by Ledger version(99)".to_owned(),
        ),
        (
            "/v1/accounts/0x1?ledger_version=99",
            "Ledger version not found by Ledger version(99)".to_owned(),
        ),
        (
            "/v1/accounts/0x1?ledger_version=3",
            "Ledger version(3) has been pruned".to_owned(),
        ),
        (
            "/v1/blocks/by_height/3",
            "Block(3) has been pruned".to_owned(),
        ),
    ] {
        let body: Value = pruned.api.client.get(path).await.json();
        assert_eq!(body["message"], message, "{path}");
    }
    let item = "/v1/tables/0xdead/raw_item";
    let missing = pruned
        .api
        .client
        .post_json(item, &json!({ "key": "0x01" }), "*/*")
        .await;
    assert_eq!(
        missing.json()["message"],
        format!(
            "Table Item not found by Table handle(0xdead), Table key(0x01) \
                 and Ledger version({newest})"
        )
    );
    pruned.api.stop().await;
}
