//! Malformed submissions, and the replacement of a pending transaction. `validation.rs` and
//! `validation_pool.rs` have the rejections by validation and by the mempool.

use crate::kit::{
    SYNTAX, Settings, TestApi, Transfer, assert_error, assert_still_commits, changed,
};
use ledger_types::{
    AccountAddress, EntryFunction,
    transaction::{
        ExtraConfig, InnerPayload, Multisig, MultisigPayload, TransactionExecutable,
        TransactionPayload,
    },
};
use serde_json::{Value, json};

#[actix_web::test]
async fn rejects_malformed_json_submissions() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let mut without_sender = good.clone();
    without_sender.as_object_mut().unwrap().remove("sender");
    let invalid = (400, "invalid_input");
    let vm_error = (400, "vm_error");
    let multisig =
        |address: Value| json!({ "type": "multisig_payload", "multisig_address": address });
    let rows = [
        (json!([]), SYNTAX),
        (json!({}), SYNTAX),
        (without_sender, SYNTAX),
        (changed(&good, "/sender", json!("0xz")), SYNTAX),
        (changed(&good, "/sequence_number", json!(0)), SYNTAX),
        (changed(&good, "/sequence_number", json!("+0")), SYNTAX),
        (changed(&good, "/max_gas_amount", json!("+100000")), SYNTAX),
        (changed(&good, "/gas_unit_price", json!("+100")), SYNTAX),
        (
            changed(&good, "/expiration_timestamp_secs", json!("+9999999999")),
            SYNTAX,
        ),
        (changed(&good, "/payload/type", json!("nothing")), SYNTAX),
        // The indices of these variants in the enums of the code.
        (changed(&good, "/payload/type", json!(0)), SYNTAX),
        (changed(&good, "/signature/type", json!(0)), SYNTAX),
        (
            changed(&good, "/payload", json!(["entry_function_payload", {}])),
            SYNTAX,
        ),
        (changed(&good, "/payload/arguments", json!("0xb0b")), SYNTAX),
        (changed(&good, "/signature/signature", json!("0x1")), SYNTAX),
        (
            changed(&good, "/signature/signature", json!("0x12")),
            invalid,
        ),
        (changed(&good, "/signature/type", json!("nothing")), SYNTAX),
        (
            changed(&good, "/payload/function", json!("0x1::coin::nothing")),
            invalid,
        ),
        (
            changed(&good, "/payload/function", json!("transfer")),
            SYNTAX,
        ),
        (
            changed(
                &good,
                "/payload/function",
                json!("0x1::node_account::transfer "),
            ),
            SYNTAX,
        ),
        (
            changed(&good, "/payload/arguments", json!(["0xb0b"])),
            invalid,
        ),
        (changed(&good, "/payload/arguments/1", json!(7)), invalid),
        (
            changed(&good, "/payload/type_arguments", json!(["u8"])),
            invalid,
        ),
        (
            changed(&good, "/payload/type", json!("script_payload")),
            vm_error,
        ),
        (
            changed(&good, "/payload/type", json!("multisig_payload")),
            SYNTAX,
        ),
        (changed(&good, "/payload", multisig(json!("0xg"))), SYNTAX),
        (
            changed(&good, "/payload", multisig(json!("0xdead"))),
            vm_error,
        ),
        (
            changed(
                &good,
                "/payload",
                json!({
                    "type": "multisig_payload",
                    "multisig_address": "0x1",
                    "transaction_payload": multisig(json!("0x1")),
                }),
            ),
            SYNTAX,
        ),
        // The signature is over another transaction.
        (changed(&good, "/max_gas_amount", json!("100001")), vm_error),
    ];
    for (body, expected) in rows {
        let response = api.client.submit_json(&body).await;
        assert_error(&response, expected, &body.to_string());
        let has_code = response.json().get("vm_error_code").is_some();
        assert_eq!(has_code, expected == vm_error, "{}", response.text());
    }
    // Deeper than the JSON parser recurses, in a member that takes any JSON value.
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let nested = good.to_string().replace("\"0xb0b\"", &deep);
    assert!(nested.contains(&deep));
    for text in ["", "{", "\u{feff}{}", "nul", &nested] {
        let headers = [("content-type", "application/json")];
        let response = api
            .client
            .send("POST", "/v1/transactions", &headers, Some(text.as_bytes()))
            .await;
        let label: String = text.chars().take(20).collect();
        assert_error(&response, SYNTAX, &label);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_bcs_submissions() {
    let api = TestApi::start(Settings::default()).await;
    let good = bcs::to_bytes(&Transfer::new(0, 0).sign(&api.chain)).unwrap();
    let mut longer = good.clone();
    longer.push(0);
    let shorter = &good[..good.len() - 1];
    let media_type = api.client.signed_transaction_type();
    for body in [b"", shorter, &longer, &[0xff; 200]] {
        let headers = [("content-type", &media_type[..])];
        let response = api
            .client
            .send("POST", "/v1/transactions", &headers, Some(body))
            .await;
        assert_error(
            &response,
            (400, "invalid_input"),
            &format!("{} bytes", body.len()),
        );
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Maximum numbers of arguments of a call.
const ARGUMENTS_MAX: usize = 128;
const TYPE_ARGUMENTS_MAX: usize = 32;

/// Returns a call with this many arguments, each empty, and this many type arguments.
fn call_with(arguments: usize, type_arguments: usize) -> EntryFunction {
    EntryFunction {
        module: "0x1::coin".parse().unwrap(),
        function: "transfer".parse().unwrap(),
        type_args: vec!["u8".parse().unwrap(); type_arguments],
        args: vec![Vec::new().into(); arguments],
    }
}

/// Returns the payloads that hold the call. The first two call it as the sender.
fn payloads_with(call: &EntryFunction) -> [(&'static str, TransactionPayload); 4] {
    let inner = |multisig_address| {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: TransactionExecutable::EntryFunction(call.clone()),
            extra_config: ExtraConfig::V1 {
                multisig_address,
                replay_protection_nonce: None,
            },
        })
    };
    let multisig = TransactionPayload::Multisig(Multisig {
        multisig_address: AccountAddress::ONE,
        payload: Some(MultisigPayload::EntryFunction(call.clone())),
    });
    [
        (
            "an entry function",
            TransactionPayload::EntryFunction(call.clone()),
        ),
        ("the newer form", inner(None)),
        ("a multisig payload", multisig),
        (
            "the newer form of a multisig payload",
            inner(Some(AccountAddress::ONE)),
        ),
    ]
}

#[actix_web::test]
async fn rejects_bcs_calls_with_more_arguments_than_any_function_has() {
    let api = TestApi::start(Settings::default()).await;
    let sign = |number, payload| Transfer::new(0, number).sign_payload(&api.chain, payload);
    let bound = "a function has at most";
    let mut sequence_number = 0;
    for call in [
        call_with(ARGUMENTS_MAX, 0),
        call_with(0, TYPE_ARGUMENTS_MAX),
    ] {
        let [entry_function, newer_form, multisig @ ..] = payloads_with(&call);
        for (case, payload) in [entry_function, newer_form] {
            // No function fits, so the call fails, but it is executed.
            let committed = api.commit_signed(&sign(sequence_number, payload)).await;
            assert_eq!(committed["success"], false, "{case}: {committed}");
            sequence_number += 1;
        }
        for (case, payload) in multisig {
            let response = api.client.submit_bcs(&sign(sequence_number, payload)).await;
            assert_error(&response, (400, "vm_error"), case);
        }
    }
    for (call, words) in [
        (
            call_with(ARGUMENTS_MAX + 1, 0),
            "the call has 129 arguments",
        ),
        (call_with(10_000, 0), "the call has 10000 arguments"),
        (
            call_with(0, TYPE_ARGUMENTS_MAX + 1),
            "the call has 33 type arguments",
        ),
    ] {
        for (case, payload) in payloads_with(&call) {
            let signed = sign(sequence_number, payload);
            let response = api.client.submit_bcs(&signed).await;
            assert_error(&response, (400, "invalid_input"), case);
            let message = response.text();
            assert!(
                message.contains(words) && message.contains(bound),
                "{case}: {message}"
            );
            let media_type = api.client.signed_transaction_type();
            let headers = [("content-type", &media_type[..])];
            let body = bcs::to_bytes(&[signed.clone()].as_slice()).unwrap();
            let response = api
                .client
                .send("POST", "/v1/transactions/batch", &headers, Some(&body))
                .await;
            assert_error(&response, (400, "invalid_input"), case);
            let hash = signed.hash(api.chain.vendor());
            let lookup = api
                .client
                .get(&format!("/v1/transactions/by_hash/{hash}"))
                .await;
            assert_error(&lookup, (404, "transaction_not_found"), case);
        }
        let headers = [("content-type", "application/x.node.view_function+bcs")];
        let body = bcs::to_bytes(&call).unwrap();
        let response = api
            .client
            .send("POST", "/v1/view", &headers, Some(&body))
            .await;
        assert_error(&response, (400, "invalid_input"), "a view");
        assert!(
            response.text().contains(words),
            "a view: {}",
            response.text()
        );
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_json_calls_with_more_arguments_than_any_function_has() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0).json(&api.chain);
    let mut arguments = transfer["payload"]["arguments"].as_array().unwrap().clone();
    arguments.resize(ARGUMENTS_MAX + 1, json!("1"));
    for body in [
        changed(&transfer, "/payload/arguments", json!(arguments)),
        changed(
            &transfer,
            "/payload/type_arguments",
            json!(vec!["u8"; TYPE_ARGUMENTS_MAX + 1]),
        ),
    ] {
        let response = api.client.submit_json(&body).await;
        assert_error(&response, (400, "invalid_input"), "a submission");
    }
    // This call fits its function.
    let coin = "0x1::node_coin::NodeCoin";
    let view = json!({
        "function": "0x1::coin::balance",
        "type_arguments": [coin],
        "arguments": ["0xb0b"],
    });
    let post = async |call: &Value| {
        api.client
            .post_json("/v1/view", call, "application/json")
            .await
    };
    assert_eq!(post(&view).await.status, 200);
    for call in [
        changed(&view, "/arguments", json!(vec!["0xb0b"; ARGUMENTS_MAX + 1])),
        changed(
            &view,
            "/type_arguments",
            json!(vec![coin; TYPE_ARGUMENTS_MAX + 1]),
        ),
    ] {
        assert_error(&post(&call).await, (400, "invalid_input"), "a view");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn names_the_replacement_of_a_pending_transaction() {
    let api = TestApi::start(Settings::default()).await;
    // Stays pending, because its predecessor is missing.
    let parked = Transfer::new(0, 5);
    let first = parked.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    let better = Transfer {
        gas_unit_price: 200,
        ..parked
    };
    let second = better.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&second).await.status, 202);
    let vendor = api.chain.vendor();
    for route in ["by_hash", "wait_by_hash"] {
        let path = format!("/v1/transactions/{route}/{}", first.hash(vendor));
        let response = api.client.get(&path).await;
        assert_error(&response, (404, "transaction_not_found"), route);
        let expected = format!(
            "Transaction not found by Transaction hash({}): replaced by {}",
            first.hash(vendor),
            second.hash(vendor)
        );
        assert_eq!(response.json()["message"], expected);
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
