//! docs/use/interface.md#verdicts: `POST /transactions/status`.

use crate::{
    interface::{chain::Pruned, rows::row},
    kit::{Settings, TestApi, Transfer, ledger_headers},
};
use ledger_api::submission_json;
use serde_json::{Value, json};

const PATH: &str = "/v1/transactions/status";

#[actix_web::test]
async fn rejects_bodies_that_are_not_transactions_of_the_chain() {
    let api = TestApi::start(Settings::default()).await;
    let mut script = Transfer::new(0, 0).json(&api.chain);
    script["payload"] = json!({
        "type": "script_payload",
        "code": { "bytecode": "0x00" },
        "type_arguments": [],
        "arguments": [],
    });
    row("POST /transactions/status", 400, "vm_error")
        .post(&api, PATH, &script)
        .await;
    let mut unknown = Transfer::new(0, 0).json(&api.chain);
    unknown["payload"]["function"] = json!("0x1::coin::no_function");
    row("POST /transactions/status", 400, "invalid_input")
        .post(&api, PATH, &unknown)
        .await;
    api.stop().await;
}

/// Another transaction with a pruned sequence number is 410 too, because the user is unknown.
#[actix_web::test]
async fn a_transaction_whose_commit_may_be_pruned_is_410() {
    let pruned = Pruned::start().await;
    let api = &pruned.api;
    let json_of = |transfer: &Transfer| -> Value {
        let signed = transfer.sign(&api.chain);
        submission_json(&api.chain, &signed).parse().unwrap()
    };
    let committed = Transfer::new(0, 0);
    let other = Transfer {
        amount: 8,
        ..Transfer::new(0, 0)
    };
    for transfer in [committed, other] {
        let response = row("POST /transactions/status", 410, "version_pruned")
            .post(api, PATH, &json_of(&transfer))
            .await;
        assert_eq!(ledger_headers(&response, "node")[2], pruned.oldest);
    }
    let retained = Transfer {
        amount: 8,
        ..Transfer::new(0, 7)
    };
    let response = row("POST /transactions/status", 200, "-")
        .post(api, PATH, &json_of(&retained))
        .await;
    assert_eq!(response.json()["verdict"], "never");
    pruned.api.stop().await;
}
