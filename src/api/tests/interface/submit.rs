//! docs/reference/rest-contract.md#s4-1: `POST /transactions`.
//!
//! `tests/http/validation.rs` causes each rejection by validation, with its `vm_error_code`.

use crate::kit::changed;
use crate::{
    interface::{
        chain::{orderless, parked},
        rows::row,
    },
    kit::{
        Settings, TestApi, Transfer, assert_error, assert_still_commits, ledger_headers, ok_json,
    },
};
use ledger_actors::MempoolConfig;
use ledger_types::AccountAddress;
use serde_json::{Value, json};

const ROUTE: &str = "POST /transactions";

#[actix_web::test]
async fn responds_to_a_json_submission_with_the_pending_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let response = row("POST /transactions", 202, "-")
        .post(&api, "/v1/transactions", &transfer.json(&api.chain))
        .await;
    let hash = transfer.sign(&api.chain).hash(api.chain.vendor());
    assert_eq!(response.json()["hash"], hash.to_string());
    assert_eq!(response.json().get("type"), None);
    api.stop().await;
}

/// Responds with an empty body if the client accepts BCS, because the client can compute the hash.
#[actix_web::test]
async fn a_bcs_submission_has_its_own_media_type() {
    let api = TestApi::start(Settings::default()).await;
    // Stays pending between its two submissions.
    let signed = parked(&api);
    let body = bcs::to_bytes(&signed).unwrap();
    let media_type = "application/x.node.signed_transaction+bcs";
    let headers = [("content-type", media_type)];
    let response = row(ROUTE, 202, "-")
        .send(&api, "/v1/transactions", &headers, Some(&body))
        .await;
    assert_eq!(
        response.json()["hash"],
        signed.hash(api.chain.vendor()).to_string()
    );
    // The same transaction is accepted again.
    let headers = [
        ("content-type", media_type),
        ("accept", "application/x-bcs"),
    ];
    let response = api
        .client
        .send("POST", "/v1/transactions", &headers, Some(&body))
        .await;
    assert_eq!((response.status, response.body.len()), (202, 0));
    ledger_headers(&response, "node");
    api.stop().await;
}

#[actix_web::test]
async fn accepts_a_signature_over_the_encoded_message() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let mut body = transfer.json(&api.chain);
    let signature = body.as_object_mut().unwrap().remove("signature").unwrap();
    let path = "/v1/transactions/encode_submission";
    let message = ok_json(&api.client.post_json(path, &body, "application/json").await);
    let message = hex::decode(&message.as_str().unwrap()[2..]).unwrap();
    let raw = transfer.raw(&api.chain, transfer.sender(), transfer.payload(&api.chain));
    assert_eq!(message, raw.signing_message(api.chain.vendor()));
    let signed = transfer.account().key.sign(&message);
    body["signature"] = changed(
        &signature,
        "/signature",
        json!(format!("0x{}", hex::encode(signed.0))),
    );
    row(ROUTE, 202, "-")
        .post(&api, "/v1/transactions", &body)
        .await;
    api.stop().await;
}

/// Rejects malformed bodies and bodies with invalid values, without a `vm_error_code`.
#[actix_web::test]
async fn rejects_bodies_that_are_not_transactions() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let path = "/v1/transactions";
    for body in [
        json!([]),
        json!({}),
        json!(null),
        changed(&good, "/sender", json!("0xg")),
    ] {
        let response = row("POST /transactions", 400, "web_framework_error")
            .post(&api, path, &body)
            .await;
        assert_eq!(response.json().get("vm_error_code"), None);
    }
    let unknown = changed(&good, "/payload/function", json!("0x1::coin::nothing"));
    let response = row("POST /transactions", 400, "invalid_input")
        .post(&api, path, &unknown)
        .await;
    assert_eq!(response.json().get("vm_error_code"), None);
    let headers = [("content-type", "application/x.node.signed_transaction+bcs")];
    for body in [&b""[..], &[0xff; 100]] {
        row(ROUTE, 400, "invalid_input")
            .send(&api, path, &headers, Some(body))
            .await;
    }
    api.stop().await;
}

/// Responds with `vm_error` and the reason in `vm_error_code`.
#[actix_web::test]
async fn a_rejection_by_validation_has_a_vm_error_code() {
    let api = TestApi::start(Settings::default()).await;
    let underpriced = Transfer {
        gas_unit_price: 99,
        ..Transfer::new(0, 0)
    };
    let expired = Transfer {
        expiration_timestamp_secs: 1,
        ..Transfer::new(0, 0)
    };
    for (transfer, code) in [(underpriced, 15), (expired, 6)] {
        let response = row("POST /transactions", 400, "vm_error")
            .post(&api, "/v1/transactions", &transfer.json(&api.chain))
            .await;
        assert_eq!(response.json()["vm_error_code"], code);
    }
    api.stop().await;
}

/// Replaces a pending transaction neither by another one with its sequence number and no higher
/// price, nor by itself with another signature. The message names the pending hash.
#[actix_web::test]
async fn rejects_an_invalid_update() {
    let api = TestApi::start(Settings::default()).await;
    let first = Transfer::new(2, 5);
    assert_eq!(
        api.client.submit_bcs(&first.sign(&api.chain)).await.status,
        202
    );
    let other = Transfer {
        to: AccountAddress::from_low_u64(0xcafe),
        ..first.clone()
    };
    row("POST /transactions", 400, "invalid_transaction_update")
        .post(&api, "/v1/transactions", &other.json(&api.chain))
        .await;
    let signed = first.sign(&api.chain);
    let again = first.signer().sign_alone(&api.chain, signed.raw.clone());
    let again: Value = ledger_api::submission_json(&api.chain, &again)
        .parse()
        .unwrap();
    let response = row("POST /transactions", 400, "invalid_transaction_update")
        .post(&api, "/v1/transactions", &again)
        .await;
    let pending = signed.hash(api.chain.vendor()).to_string();
    assert!(response.text().contains(&pending), "{}", response.text());
    api.stop().await;
}

/// Names the limit in the message. A transaction that can run replaces one that waits for its
/// predecessor.
#[actix_web::test]
async fn responds_507_if_the_mempool_is_full() {
    let mut settings = Settings::default();
    settings.node.mempool = MempoolConfig {
        capacity_transactions: 1,
        ..MempoolConfig::default()
    };
    let api = TestApi::start(settings).await;
    let parked = |from| Transfer::new(from, 5).json(&api.chain);
    assert_eq!(api.client.submit_json(&parked(0)).await.status, 202);
    let response = row("POST /transactions", 507, "mempool_is_full")
        .post(&api, "/v1/transactions", &parked(1))
        .await;
    let message = response.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("Mempool is full. Mempool size: 1, Capacity: 1"),
        "{message}"
    );
    assert_eq!(response.json().get("vm_error_code"), None);
    let batch = json!([parked(1)]);
    row("POST /transactions/batch", 507, "mempool_is_full")
        .post(&api, "/v1/transactions/batch", &batch)
        .await;
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Sends the ledger headers with rejections that depend on the ledger too.
#[actix_web::test]
async fn responses_to_submissions_have_the_ledger_headers() {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    let accepted = api.client.submit_bcs(&orderless(&api, 0, 1)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    assert!(ledger_headers(&accepted, "node")[1] >= 3);
    let other = Transfer {
        amount: 8,
        ..Transfer::new(0, 0)
    };
    let response = api.client.submit_json(&other.json(&api.chain)).await;
    assert_error(&response, (400, "vm_error"), "a used sequence number");
    assert!(ledger_headers(&response, "node")[1] >= 3);
    api.stop().await;
}
