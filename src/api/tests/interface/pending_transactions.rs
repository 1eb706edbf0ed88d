//! docs/reference/rest-contract.md#s2-5: a pending transaction.

use crate::kit::{changed, members};
use crate::{
    interface::{
        chain::{orderless, parked, start_with_short_waits},
        rows::row,
    },
    kit::{Transfer, ok_json},
};
use serde_json::{Value, json};

/// The members that every pending transaction has, in alphabetical order.
const MEMBERS: [&str; 8] = [
    "expiration_timestamp_secs",
    "gas_unit_price",
    "hash",
    "max_gas_amount",
    "payload",
    "sender",
    "sequence_number",
    "signature",
];

/// Returns the members of the body and the hash, and no `type`.
#[actix_web::test]
async fn the_response_to_a_submission_has_no_type() {
    let api = start_with_short_waits().await;
    let body = Transfer::new(0, 0).json(&api.chain);
    let response = api.client.submit_json(&body).await;
    row("POST /transactions", 202, "-").assert_matches(&response, "a transfer");
    let pending = response.json();
    assert_eq!(members(&pending), MEMBERS);
    let signed = Transfer::new(0, 0).sign(&api.chain);
    assert_eq!(pending["hash"], signed.hash(api.chain.vendor()).to_string());
    let sender = Transfer::new(0, 0).sender().to_string();
    let mut expected = changed(&body, "/sender", json!(sender));
    expected["hash"] = pending["hash"].clone();
    assert_eq!(pending, expected);
    api.stop().await;
}

/// Shows the same members and `type` in a look-up by hash and in a wait.
#[actix_web::test]
async fn a_pending_transaction_has_a_type_by_hash() {
    let api = start_with_short_waits().await;
    let signed = parked(&api);
    let accepted = api.client.submit_bcs(&signed).await.json();
    let hash = signed.hash(api.chain.vendor());
    let mut expected = accepted;
    expected["type"] = json!("pending_transaction");
    for route in ["by_hash", "wait_by_hash"] {
        let path = format!("/v1/transactions/{route}/{hash}");
        assert_eq!(ok_json(&api.client.get(&path).await), expected, "{route}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn only_an_orderless_transaction_has_a_nonce() {
    let api = start_with_short_waits().await;
    let response = api.client.submit_bcs(&orderless(&api, 0, 9)).await;
    let pending: Value = response.json();
    let mut expected = MEMBERS.to_vec();
    expected.insert(5, "replay_protection_nonce");
    assert_eq!(members(&pending), expected);
    assert_eq!(pending["replay_protection_nonce"], "9");
    api.stop().await;
}

#[actix_web::test]
async fn a_block_has_only_committed_transactions_with_their_type() {
    let api = start_with_short_waits().await;
    api.client.submit_bcs(&parked(&api)).await;
    api.commit(&Transfer::new(0, 0)).await;
    let block = ok_json(
        &api.client
            .get("/v1/blocks/by_height/1?with_transactions=true")
            .await,
    );
    let types: Vec<_> = block["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|transaction| transaction["type"].as_str().unwrap())
        .collect();
    let expected = [
        "block_metadata_transaction",
        "user_transaction",
        "block_epilogue_transaction",
    ];
    assert_eq!(types, expected);
    api.stop().await;
}
