//! `sequence_number_too_old`, which only the mempool can detect.

use crate::{
    interface::rows::row,
    kit::{HoldingClock, TestApi, Transfer, assert_error},
};
use std::sync::Arc;

/// Submits while a block has the sequence number and the ledger does not include the block yet.
#[actix_web::test]
async fn a_sequence_number_in_a_block_is_too_old() {
    let clock = Arc::new(HoldingClock::default());
    let api = TestApi::start(clock.settings()).await;
    let submit =
        async |transfer: &Transfer| api.client.submit_bcs(&transfer.sign(&api.chain)).await;
    let block = clock.hold_next_block(&api).await;
    let first = Transfer::new(0, 0);
    assert_eq!(submit(&first).await.status, 202);
    block.wait_until_taken();
    let other = Transfer {
        amount: 8,
        ..first.clone()
    };
    let response = submit(&other).await;
    row("POST /transactions", 400, "sequence_number_too_old")
        .assert_matches(&response, "taken by a block");
    let taken = first.sign(&api.chain).hash(api.chain.vendor());
    assert_eq!(
        response.json()["message"],
        format!(
            "transaction sequence number is 0, current sequence number is 1; used by transaction \
             {taken}"
        )
    );
    // The transaction of the block is still pending. Its bytes are accepted, another form is not.
    assert_eq!(submit(&first).await.status, 202);
    let signed = first.sign(&api.chain);
    let again = first.signer().sign_alone(&api.chain, signed.raw.clone());
    let response = api.client.submit_bcs(&again).await;
    row("POST /transactions", 400, "invalid_transaction_update")
        .assert_matches(&response, "signed again");
    let pending = signed.hash(api.chain.vendor()).to_string();
    assert!(response.text().contains(&pending), "{}", response.text());
    drop(block);
    let committed = api
        .client
        .wait(&first.sign(&api.chain).hash(api.chain.vendor()))
        .await;
    assert_eq!(committed["success"], true, "{committed}");
    // After the commit, the ledger itself rejects it.
    assert_error(&submit(&other).await, (400, "vm_error"), "executed");
    api.stop().await;
}
