//! Another signature of a pending transaction: its hash is rejected, and the response names the
//! pending one.

use crate::kit::{
    HoldingClock, RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits,
    exchange, submission,
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
fn assert_names_pending(error: &Value, pending: &HashValue) {
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
async fn assert_rejected_for(
    api: &TestApi,
    response: &RawResponse,
    signed: &SignedTransaction,
    pending: &HashValue,
) {
    assert_error(
        response,
        (400, "invalid_transaction_update"),
        "signed again",
    );
    assert_names_pending(&response.json(), pending);
    assert_unknown(api, signed).await;
}

async fn assert_unknown(api: &TestApi, signed: &SignedTransaction) {
    let hash = hash(api, signed);
    let response = api
        .client
        .get(&format!("/v1/transactions/by_hash/{hash}"))
        .await;
    assert_error(&response, (404, "transaction_not_found"), "never accepted");
    let message = format!("Transaction not found by Transaction hash({hash})");
    assert_eq!(
        response.json()["message"],
        message,
        "never removed from the mempool"
    );
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
        assert_rejected_for(&api, &in_bcs, &second, &pending).await;
        let in_json = api.client.submit_json(&submission(&api, &second)).await;
        assert_rejected_for(&api, &in_json, &second, &pending).await;
        let again = api.client.submit_json(&submission(&api, &first)).await;
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
        assert_error(&late, (400, "vm_error"), kind);
        assert_eq!(late.json()["vm_error_code"], 3, "{kind}: {}", late.text());
        assert_unknown(&api, &second).await;
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Rejects them because the hash covers the fee payer and the signatures of all signers.
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
        let response = api.client.submit_bcs(&second).await;
        assert_rejected_for(&api, &response, &second, &hash(&api, &first)).await;
        let alone = sender.sign_alone(&api.chain, first.raw.clone());
        if first.raw == raw {
            let response = api.client.submit_bcs(&alone).await;
            assert_rejected_for(&api, &response, &alone, &hash(&api, &first)).await;
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
        submission(&api, &first),
        submission(&api, &second),
        submission(&api, &first)
    ]);
    for _ in 0..2 {
        let response = api.client.post_json(PATH, &body, "application/json").await;
        assert_eq!(response.status, 206, "{}", response.text());
        let failures = response.json()["transaction_failures"].clone();
        assert_eq!(failures.as_array().unwrap().len(), 1, "{failures}");
        assert_eq!(failures[0]["transaction_index"], 1, "{failures}");
        assert_names_pending(&failures[0]["error"], &pending);
    }
    assert_unknown(&api, &second).await;
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..])];
    let alone = bcs::to_bytes(&vec![&second]).unwrap();
    let response = api.client.send("POST", PATH, &headers, Some(&alone)).await;
    assert_error(
        &response,
        (400, "invalid_input"),
        "nothing of the batch is accepted",
    );
    assert!(
        response.text().contains(&pending.to_string()),
        "{}",
        response.text()
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
        let response = api.client.submit_bcs(again).await;
        assert_rejected_for(&api, &response, again, &pending).await;
    }
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    drop(block);
    assert_eq!(api.client.wait(&pending).await["success"], true);
    for again in [&second, &third] {
        let response = api.client.submit_bcs(again).await;
        assert_error(&response, (400, "vm_error"), "the nonce is used");
        assert_eq!(response.json()["vm_error_code"], 42, "{}", response.text());
        assert_unknown(&api, again).await;
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
