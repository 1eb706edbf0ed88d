//! docs/reference/rest-contract.md#s2-4: the body of a submission in JSON.

use crate::kit::{SYNTAX, changed, without};
use crate::{
    interface::{chain::orderless, rows::row},
    kit::{Settings, TestApi, Transfer, assert_error},
};
use serde_json::{Value, json};

/// Names the missing member in the error.
#[actix_web::test]
async fn seven_members_are_required() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for name in [
        "sender",
        "sequence_number",
        "max_gas_amount",
        "gas_unit_price",
        "expiration_timestamp_secs",
        "payload",
        "signature",
    ] {
        for body in [
            without(&good, "", name),
            changed(&good, &format!("/{name}"), Value::Null),
        ] {
            let response = api.client.submit_json(&body).await;
            row("POST /transactions", 400, "web_framework_error").assert_matches(&response, name);
        }
        let response = api.client.submit_json(&without(&good, "", name)).await;
        assert!(response.text().contains(name), "{}", response.text());
    }
    api.stop().await;
}

/// Accepts a transaction with a nonce as an orderless one.
#[actix_web::test]
async fn the_nonce_is_optional() {
    let api = TestApi::start(Settings::default()).await;
    let plain = Transfer::new(0, 0).json(&api.chain);
    let accepted = api.client.submit_json(&plain).await;
    assert_eq!(accepted.json().get("replay_protection_nonce"), None);

    let signed = orderless(&api, 1, 7);
    let body: Value = ledger_api::submission_json(&api.chain, &signed)
        .parse()
        .unwrap();
    assert_eq!(body["replay_protection_nonce"], "7");
    let accepted = api.client.submit_json(&body).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "with a nonce");
    assert_eq!(accepted.json()["replay_protection_nonce"], "7");
    for wrong in [json!(7), json!("x"), json!("-1")] {
        let body = changed(&body, "/replay_protection_nonce", wrong);
        assert_error(&api.client.submit_json(&body).await, SYNTAX, "not a U64");
    }
    api.stop().await;
}

/// Accepts a short or a long address.
#[actix_web::test]
async fn the_sender_is_an_address() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for wrong in [json!("0xg"), json!(""), json!(1), json!("1".repeat(65))] {
        let body = changed(&good, "/sender", wrong);
        assert_error(
            &api.client.submit_json(&body).await,
            SYNTAX,
            &body["sender"].to_string(),
        );
    }
    let short = Transfer::new(0, 0).sender().to_string();
    let accepted = api
        .client
        .submit_json(&changed(&good, "/sender", json!(short)))
        .await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    api.stop().await;
}

#[actix_web::test]
async fn other_members_are_ignored() {
    let api = TestApi::start(Settings::default()).await;
    let mut body = Transfer::new(0, 0).json(&api.chain);
    body["comment"] = json!({ "any": ["thing"] });
    let accepted = api.client.submit_json(&body).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    assert_eq!(accepted.json().get("comment"), None);
    api.stop().await;
}
