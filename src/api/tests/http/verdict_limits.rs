//! The largest and the slowest legal request for a verdict, and the first illegal one of each
//! limit.

use crate::{
    http::{
        calls::jobs,
        verdict_kit::{JSON, PATH, ask},
    },
    kit::{
        BODY_BYTES_MAX, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_json,
    },
};
use ledger_limits::WorkKind;
use ledger_test_support::{TestKey, TestSigner, function_call};
use ledger_types::{SignedTransaction, transaction::TransactionPayload};
use serde_json::{Value, json};

/// Maximum size of a transaction of the chain, in bytes.
const TRANSACTION_BYTES_MAX: usize = 65_536;

/// Maximum number of arguments of a call.
const ARGUMENTS_MAX: usize = 128;

/// Maximum number of signatures of a transaction.
const SIGNATURES_MAX: usize = 32;

fn with_arguments(api: &TestApi, arguments: Vec<Vec<u8>>) -> SignedTransaction {
    let call = function_call("0x1::coin::transfer", &[], arguments);
    Transfer::new(0, 0).sign_payload(&api.chain, TransactionPayload::EntryFunction(call))
}

/// Returns a signed transaction of exactly this size.
fn of_size(api: &TestApi, size_bytes: usize) -> SignedTransaction {
    let guess = with_arguments(api, vec![vec![0; size_bytes - 1_000]]);
    let missing = size_bytes - guess.size_bytes();
    let signed = with_arguments(api, vec![vec![0; size_bytes - 1_000 + missing]]);
    assert_eq!(signed.size_bytes(), size_bytes);
    signed
}

async fn verdict(api: &TestApi, signed: &SignedTransaction) -> Value {
    ok_json(&ask(api, signed, JSON).await)
}

#[actix_web::test]
async fn a_renderer_parses_and_hashes_the_largest_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let largest = of_size(&api, TRANSACTION_BYTES_MAX);
    let before = jobs(&api, WorkKind::Parse);
    assert_eq!(verdict(&api, &largest).await["verdict"], "can_commit");
    assert!(
        jobs(&api, WorkKind::Parse) > before,
        "an HTTP worker hashed it"
    );
    let before = jobs(&api, WorkKind::Parse);
    let small = Transfer::new(0, 0).sign(&api.chain);
    assert_eq!(verdict(&api, &small).await["verdict"], "can_commit");
    assert_eq!(jobs(&api, WorkKind::Parse), before);

    let too_large = ask(&api, &of_size(&api, TRANSACTION_BYTES_MAX + 1), JSON).await;
    assert_error(&too_large, (400, "vm_error"), "one byte more");
    assert_eq!(too_large.json()["vm_error_code"], 10);
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn a_body_above_the_limit_is_413() {
    let api = TestApi::start(Settings::default()).await;
    let mut body = Transfer::new(0, 0)
        .json(&api.chain)
        .to_string()
        .into_bytes();
    body.resize(BODY_BYTES_MAX, b' ');
    for (size_bytes, status) in [(BODY_BYTES_MAX, 200), (BODY_BYTES_MAX + 1, 413)] {
        body.resize(size_bytes, b' ');
        let headers = [("content-type", JSON)];
        let response = api.client.send("POST", PATH, &headers, Some(&body)).await;
        assert_eq!(response.status, status, "{size_bytes}: {}", response.text());
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn a_call_with_too_many_arguments_is_400() {
    let api = TestApi::start(Settings::default()).await;
    let most = with_arguments(&api, vec![vec![0]; ARGUMENTS_MAX]);
    assert_eq!(verdict(&api, &most).await["verdict"], "can_commit");
    let more = with_arguments(&api, vec![vec![0]; ARGUMENTS_MAX + 1]);
    let response = ask(&api, &more, JSON).await;
    assert_error(&response, (400, "invalid_input"), "one argument more");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// The most signatures are of passkeys, which are verified one by one, and each signer is an
/// account to read.
#[actix_web::test]
async fn decides_about_the_most_signatures_and_blocks_more() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let raw = || transfer.raw(&api.chain, transfer.sender(), transfer.payload(&api.chain));
    let passkey = |number| TestSigner::SingleKey(TestKey::passkey(number));
    for (others, verdict_and_cause) in [
        (SIGNATURES_MAX - 1, json!(["can_commit", null])),
        (SIGNATURES_MAX, json!(["blocked", "chain_limit"])),
    ] {
        let signers: Vec<_> = (1..).take(others).map(passkey).collect();
        let all: Vec<_> = signers.iter().collect();
        let sender = transfer.signer();
        let signed = sender.sign_together(&api.chain, raw(), &all, None);
        let found = verdict(&api, &signed).await;
        assert_eq!(
            json!([found["verdict"], found["cause"]]),
            verdict_and_cause,
            "{found}"
        );
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
