//! docs/reference/rest-contract.md#s2-8: a transaction summary.

use crate::interface::chain::History;
use crate::kit::{elements, members};
use serde_json::{Value, json};

async fn summaries(history: &History) -> Vec<Value> {
    let path = format!("/v1/accounts/{}/transaction_summaries", history.sender());
    elements(&history.get(&path).await).clone()
}

/// Shows a summary with four members, which equal those of the transaction.
#[actix_web::test]
async fn a_summary_has_four_members() {
    let history = History::start().await;
    for summary in summaries(&history).await {
        assert_eq!(
            members(&summary),
            ["replay_protector", "sender", "transaction_hash", "version"]
        );
        let path = format!(
            "/v1/transactions/by_version/{}",
            summary["version"].as_str().unwrap()
        );
        let transaction = history.get(&path).await;
        assert_eq!(summary["sender"], transaction["sender"]);
        assert_eq!(summary["transaction_hash"], transaction["hash"]);
    }
    history.api.stop().await;
}

/// Has a sequence number, or the nonce of an orderless transaction.
#[actix_web::test]
async fn the_replay_protector_is_an_object_with_a_type() {
    let history = History::start().await;
    let summaries = summaries(&history).await;
    let protectors: Vec<_> = summaries
        .iter()
        .map(|summary| summary["replay_protector"].clone())
        .collect();
    assert_eq!(
        protectors,
        [
            json!({ "type": "sequence_number", "sequence_number": "0" }),
            json!({ "type": "sequence_number", "sequence_number": "1" }),
            json!({ "type": "sequence_number", "sequence_number": "2" }),
            json!({ "type": "nonce", "nonce": "5" }),
        ]
    );
    history.api.stop().await;
}
