//! docs/reference/rest-contract.md#s5: callers are not authenticated, signers are.

use crate::{
    interface::{chain::History, examples, rows::row},
    kit::{Settings, TestApi, Transfer, assert_error},
};
use serde_json::json;

/// Ignores a key, token or header that is sent.
#[actix_web::test]
async fn callers_are_not_authenticated() {
    let history = History::start().await;
    for example in examples::reads(&history) {
        let (Some(body), headers) = (
            example.body.as_ref().map(ToString::to_string),
            [
                ("authorization", "Bearer none"),
                ("content-type", "application/json"),
            ],
        ) else {
            let headers = [("authorization", "Bearer none")];
            row(example.route, 200, "-")
                .send(&history.api, &example.path, &headers, None)
                .await;
            continue;
        };
        row(example.route, 200, "-")
            .send(&history.api, &example.path, &headers, Some(body.as_bytes()))
            .await;
    }
    history.api.stop().await;
}

/// Rejects a transaction with a signature by another key than the sender's.
#[actix_web::test]
async fn transactions_are_signed_by_their_sender() {
    let api = TestApi::start(Settings::default()).await;
    let mut body = Transfer::new(0, 0).json(&api.chain);
    body["sender"] = json!(Transfer::new(1, 0).sender().to_string());
    assert_error(
        &api.client.submit_json(&body).await,
        (400, "vm_error"),
        "another sender",
    );
    api.stop().await;
}
