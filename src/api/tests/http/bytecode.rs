//! Submissions of bytecode, which the ledger does not execute.

use crate::kit::{Settings, TestApi, Transfer, assert_error, assert_still_commits};
use ledger_test_support::function_call;
use ledger_types::transaction::{Script, TransactionPayload};
use serde_json::json;

#[actix_web::test]
async fn rejects_bytecode_and_names_the_document_about_programs() {
    const PUBLISH: &str = "0x1::code::publish_package_txn";
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let signed = |payload| transfer.sign_payload(&api.chain, payload);
    let call = function_call(PUBLISH, &[], vec![vec![0], vec![0]]);
    let package = signed(TransactionPayload::EntryFunction(call));
    let program = signed(TransactionPayload::Script(Script {
        code: vec![1].into(),
        type_args: vec![],
        args: vec![],
    }));
    let mut body = transfer.json(&api.chain);
    body["payload"]["function"] = PUBLISH.into();
    body["payload"]["arguments"] = json!(["0x00", ["0x00"]]);
    for (case, response) in [
        ("a package", api.client.submit_bcs(&package).await),
        ("a package in JSON", api.client.submit_json(&body).await),
        ("a script", api.client.submit_bcs(&program).await),
    ] {
        assert_error(&response, (400, "vm_error"), case);
        let body = response.json();
        assert_eq!(body["vm_error_code"], 26, "{body}");
        let message = body["message"].as_str().unwrap();
        let words = "this chain runs native modules, see docs/use/programs.md";
        assert!(message.contains(words), "{message}");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
