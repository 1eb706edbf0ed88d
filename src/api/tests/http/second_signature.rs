//! Another signature of a pending transaction: its hash is rejected, and the response names the
//! pending one.

use crate::kit::{
    HoldingClock, RawResponse, Settings, TestApi, Transfer, exchange, refused, still_works,
};
use ledger_crypto::HashValue;
use ledger_test_support::{TestSigner, TransactionSigner as _};
use ledger_types::{RawTransaction, SignedTransaction};
use serde_json::{Value, json};
use std::sync::Arc;

/// The sequence number of a transfer that waits for an earlier one.
const PARKED: u64 = 1;

fn hash(api: &TestApi, signed: &SignedTransaction) -> HashValue {
    signed.hash(api.chain.vendor())
}

fn raw_transfer(api: &TestApi, signer: &TestSigner, sequence_number: u64) -> RawTransaction {
    let transfer = Transfer::new(0, sequence_number);
    transfer.raw(&api.chain, signer.address(), transfer.payload(&api.chain))
}

/// Returns an orderless transfer.
fn raw_orderless(api: &TestApi, signer: &TestSigner, nonce: u64) -> RawTransaction {
    let transfer = Transfer::orderless(0);
    transfer.raw(
        &api.chain,
        signer.address(),
        transfer.payload_with_nonce(&api.chain, nonce),
    )
}

/// Asserts that the error of a response or of a transaction in a batch names the pending hash.
fn names_pending(error: &Value, pending: &HashValue) {
    assert_eq!(error["error_code"], "invalid_transaction_update", "{error}");
    let expected = format!(
        "Transaction already in mempool with a different signature: \
         wait for the pending transaction {pending}"
    );
    assert_eq!(error["message"], expected);
    assert_eq!(error.get("vm_error_code"), None, "{error}");
}

/// Asserts that a submission was rejected in favor of the pending hash, and that its own is
/// unknown.
async fn rejected_for(
    api: &TestApi,
    answer: &RawResponse,
    signed: &SignedTransaction,
    pending: &HashValue,
) {
    refused(answer, (400, "invalid_transaction_update"), "signed again");
    names_pending(&answer.json(), pending);
    unknown(api, signed).await;
}

async fn unknown(api: &TestApi, signed: &SignedTransaction) {
    let hash = hash(api, signed);
    let answer = api
        .client
        .get(&format!("/v1/transactions/by_hash/{hash}"))
        .await;
    refused(&answer, (404, "transaction_not_found"), "never accepted");
    let message = format!("Transaction not found by Transaction hash({hash})");
    assert_eq!(answer.json()["message"], message, "it never left the pool");
}

fn json_of(api: &TestApi, signed: &SignedTransaction) -> Value {
    ledger_api::submission_json(&api.chain, signed)
        .parse()
        .unwrap()
}

#[actix_web::test]
async fn rejects_another_signature_of_each_kind() {
    let api = TestApi::start(Settings::default()).await;
    let signers = TestSigner::of_every_scheme();
    api.fund(&signers).await;
    for (kind, signer) in &signers {
        let raw = raw_transfer(&api, signer, PARKED);
        let first = signer.sign_alone(&api.chain, raw.clone());
        let second = signer.sign_alone_again(&api.chain, raw);
        let pending = hash(&api, &first);
        assert_ne!(pending, hash(&api, &second), "{kind}");
        let accepted = api.client.submit_bcs(&first).await;
        assert_eq!(accepted.status, 202, "{kind}: {}", accepted.text());
        let in_bcs = api.client.submit_bcs(&second).await;
        rejected_for(&api, &in_bcs, &second, &pending).await;
        let in_json = api.client.submit_json(&json_of(&api, &second)).await;
        rejected_for(&api, &in_json, &second, &pending).await;
        let again = api.client.submit_json(&json_of(&api, &first)).await;
        assert_eq!(again.status, 202, "{kind}: {}", again.text());
        assert_eq!(again.json()["hash"], pending.to_string(), "{kind}");

        // The second signature is valid: alone it is committed.
        let raw = raw_transfer(&api, signer, 0);
        let alone = api
            .commit_signed(&signer.sign_alone_again(&api.chain, raw))
            .await;
        assert_eq!(alone["success"], true, "{kind}: {alone}");
        assert_eq!(api.client.wait(&pending).await["success"], true, "{kind}");
        // The sequence number is used now.
        let late = api.client.submit_bcs(&second).await;
        refused(&late, (400, "vm_error"), kind);
        assert_eq!(late.json()["vm_error_code"], 3, "{kind}: {}", late.text());
        unknown(&api, &second).await;
    }
    still_works(&api).await;
    api.stop().await;
}

/// The hash covers the fee payer and the signatures of all signers.
#[actix_web::test]
async fn rejects_other_signers_of_the_same_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let [sender, other, payer] = [1, 2, 3].map(|from| Transfer::new(from, 0).signer());
    let raw = raw_transfer(&api, &sender, PARKED);
    let by_two =
        Transfer::new(0, PARKED + 1).raw(&api.chain, sender.address(), exchange(&api.chain));
    let sponsored = |payer| sender.sign_together(&api.chain, raw.clone(), &[], Some(payer));
    let agents = |payer| sender.sign_together(&api.chain, by_two.clone(), &[&other], payer);
    for (first, second) in [
        (sponsored(&payer), sponsored(&other)),
        (agents(None), agents(Some(&payer))),
    ] {
        assert_eq!(api.client.submit_bcs(&first).await.status, 202);
        let answer = api.client.submit_bcs(&second).await;
        rejected_for(&api, &answer, &second, &hash(&api, &first)).await;
        let alone = sender.sign_alone(&api.chain, first.raw.clone());
        if first.raw == raw {
            let answer = api.client.submit_bcs(&alone).await;
            rejected_for(&api, &answer, &alone, &hash(&api, &first)).await;
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_another_signature_within_a_batch_and_across_batches() {
    const PATH: &str = "/v1/transactions/batch";
    let api = TestApi::start(Settings::default()).await;
    let signer = Transfer::new(1, 0).signer();
    let raw = raw_transfer(&api, &signer, PARKED);
    let first = signer.sign_alone(&api.chain, raw.clone());
    let second = signer.sign_alone_again(&api.chain, raw);
    let pending = hash(&api, &first);
    let body = json!([
        json_of(&api, &first),
        json_of(&api, &second),
        json_of(&api, &first)
    ]);
    for _ in 0..2 {
        let answer = api.client.post_json(PATH, &body, "application/json").await;
        assert_eq!(answer.status, 206, "{}", answer.text());
        let failures = answer.json()["transaction_failures"].clone();
        assert_eq!(failures.as_array().unwrap().len(), 1, "{failures}");
        assert_eq!(failures[0]["transaction_index"], 1, "{failures}");
        names_pending(&failures[0]["error"], &pending);
    }
    unknown(&api, &second).await;
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..])];
    let alone = bcs::to_bytes(&vec![&second]).unwrap();
    let answer = api.client.send("POST", PATH, &headers, Some(&alone)).await;
    refused(
        &answer,
        (400, "invalid_input"),
        "nothing of the batch is accepted",
    );
    assert!(
        answer.text().contains(&pending.to_string()),
        "{}",
        answer.text()
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_another_signature_of_an_orderless_transaction_in_a_block() {
    let clock = Arc::new(HoldingClock::default());
    let api = TestApi::start(clock.settings()).await;
    let signer = Transfer::new(2, 0).signer();
    let raw = raw_orderless(&api, &signer, 7);
    let first = signer.sign_alone(&api.chain, raw.clone());
    let second = signer.sign_alone_again(&api.chain, raw);
    // The sequence number of an orderless transaction has no meaning, but belongs to its hash.
    let other_number = RawTransaction {
        sequence_number: 3,
        ..first.raw.clone()
    };
    let third = signer.sign_alone(&api.chain, other_number);
    let pending = hash(&api, &first);
    let block = clock.hold_next_block(&api).await;
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    block.wait_until_taken();
    for again in [&second, &third] {
        let answer = api.client.submit_bcs(again).await;
        rejected_for(&api, &answer, again, &pending).await;
    }
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    drop(block);
    assert_eq!(api.client.wait(&pending).await["success"], true);
    for again in [&second, &third] {
        let answer = api.client.submit_bcs(again).await;
        refused(&answer, (400, "vm_error"), "the nonce is used");
        assert_eq!(answer.json()["vm_error_code"], 42, "{}", answer.text());
        unknown(&api, again).await;
    }
    still_works(&api).await;
    api.stop().await;
}
