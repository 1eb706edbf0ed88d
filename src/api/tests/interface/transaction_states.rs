//! docs/reference/rest-contract.md#s3: the states of a transaction and its transitions.

use crate::{
    interface::{
        chain::{parked, start_with_short_waits},
        rows::row,
    },
    kit::{Transfer, assert_error, ok_json},
};

#[actix_web::test]
async fn an_unsubmitted_transaction_is_not_found() {
    let api = start_with_short_waits().await;
    let hash = parked(&api).hash(api.chain.vendor());
    row(
        "GET /transactions/by_hash/{txn_hash}",
        404,
        "transaction_not_found",
    )
    .get(&api, &format!("/v1/transactions/by_hash/{hash}"))
    .await;
    api.stop().await;
}

/// Responds with 202 to a valid submission, and shows the transaction as pending.
#[actix_web::test]
async fn an_accepted_submission_is_pending() {
    let api = start_with_short_waits().await;
    let signed = parked(&api);
    let accepted = api.client.submit_bcs(&signed).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "a transfer");
    let path = format!(
        "/v1/transactions/by_hash/{}",
        signed.hash(api.chain.vendor())
    );
    let found = ok_json(&api.client.get(&path).await);
    assert_eq!(found["type"], "pending_transaction");
    assert_eq!(found["hash"], accepted.json()["hash"]);
    api.stop().await;
}

#[actix_web::test]
async fn a_rejected_submission_has_no_state() {
    let api = start_with_short_waits().await;
    let wrong = Transfer {
        chain_id: 9,
        ..Transfer::new(0, 0)
    };
    let signed = wrong.sign(&api.chain);
    assert_error(
        &api.client.submit_bcs(&signed).await,
        (400, "vm_error"),
        "another chain",
    );
    let path = format!(
        "/v1/transactions/by_hash/{}",
        signed.hash(api.chain.vendor())
    );
    assert_error(
        &api.client.get(&path).await,
        (404, "transaction_not_found"),
        "by hash",
    );
    api.stop().await;
}

/// Returns the committed transaction to a wait that begins after the commit too.
#[actix_web::test]
async fn a_wait_returns_the_committed_transaction() {
    let api = start_with_short_waits().await;
    let first = Transfer::new(2, 0).sign(&api.chain);
    let later = Transfer::new(2, 1).sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&later).await.status, 202);
    let path = format!(
        "/v1/transactions/wait_by_hash/{}",
        later.hash(api.chain.vendor())
    );
    let waited = ok_json(&api.client.get(&path).await);
    assert_eq!(
        waited["type"], "pending_transaction",
        "its predecessor is missing"
    );
    api.commit_signed(&first).await;
    let committed = api.client.wait(&later.hash(api.chain.vendor())).await;
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(ok_json(&api.client.get(&path).await), committed);
    api.stop().await;
}

/// Commits a transaction that fails, with `success` false.
#[actix_web::test]
async fn a_failed_transaction_is_committed() {
    let api = start_with_short_waits().await;
    let too_much = Transfer {
        amount: u64::MAX,
        ..Transfer::new(0, 0)
    };
    let committed = api.commit(&too_much).await;
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(committed["success"], false, "{committed}");
    assert_ne!(committed["vm_status"], "Executed successfully");
    api.stop().await;
}
