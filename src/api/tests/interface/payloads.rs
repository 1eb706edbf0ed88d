//! docs/reference/rest-contract.md#s2-2: the variants of a payload, which differ in `type`.

use crate::kit::{SYNTAX, changed, members, without};
use crate::{
    interface::rows::row,
    kit::{Settings, TestApi, Transfer, assert_error},
};
use serde_json::{Value, json};

/// Shows an entry function payload with its four members, as they were sent.
#[actix_web::test]
async fn an_entry_function_payload_has_four_members() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let body = transfer.json(&api.chain);
    let accepted = api.client.submit_json(&body).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "a transfer");
    let hash = transfer.sign(&api.chain).hash(api.chain.vendor());
    let committed = api.client.wait(&hash).await;
    for payload in [&accepted.json()["payload"], &committed["payload"]] {
        assert_eq!(
            members(payload),
            ["arguments", "function", "type", "type_arguments"]
        );
        assert_eq!(payload, &body["payload"]);
    }
    api.stop().await;
}

/// Rejects a payload without one of its members or with a member of another type.
#[actix_web::test]
async fn each_member_of_an_entry_function_payload_is_required() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for (name, wrong) in [
        ("type", json!("entry_function")),
        ("function", json!(1)),
        ("type_arguments", json!("u8")),
        ("arguments", json!({})),
    ] {
        let missing = without(&good, "/payload", name);
        assert_error(&api.client.submit_json(&missing).await, SYNTAX, name);
        for wrong in [wrong, Value::Null] {
            let body = changed(&good, &format!("/payload/{name}"), wrong);
            assert_error(
                &api.client.submit_json(&body).await,
                SYNTAX,
                &body.to_string(),
            );
        }
    }
    api.stop().await;
}

/// Accepts the names of types as text.
#[actix_web::test]
async fn type_arguments_are_move_types() {
    let api = TestApi::start(Settings::default()).await;
    let call = |type_arguments: Value| {
        let mut body = Transfer::new(0, 0).json(&api.chain);
        body["payload"]["function"] = json!("0x1::coin::transfer");
        body["payload"]["type_arguments"] = type_arguments;
        body
    };
    // The call is valid, but the signature is over another one.
    let well_formed = api
        .client
        .submit_json(&call(json!(["0x1::node_coin::NodeCoin"])))
        .await;
    assert_error(&well_formed, (400, "vm_error"), "one type");
    assert_eq!(well_formed.json()["vm_error_code"], 1);
    for wrong in [json!([]), json!(["u8", "u8"]), json!(["u65"])] {
        let response = api.client.submit_json(&call(wrong.clone())).await;
        assert_error(&response, (400, "invalid_input"), &wrong.to_string());
    }
    assert_error(
        &api.client.submit_json(&call(json!([1]))).await,
        SYNTAX,
        "not text",
    );
    api.stop().await;
}

/// Responds with `invalid_input` to JSON that does not fit the function, unlike to a body that
/// cannot be parsed.
#[actix_web::test]
async fn arguments_are_any_json_and_must_fit_the_function() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for wrong in [
        json!(7),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!("x"),
        json!("18446744073709551616"),
    ] {
        let body = changed(&good, "/payload/arguments/1", wrong);
        let response = api.client.submit_json(&body).await;
        row("POST /transactions", 400, "invalid_input")
            .assert_matches(&response, &body["payload"].to_string());
    }
    for wrong in [json!([]), json!(["0xb0b"]), json!(["0xb0b", "7", "7"])] {
        let body = changed(&good, "/payload/arguments", wrong);
        let response = api.client.submit_json(&body).await;
        row("POST /transactions", 400, "invalid_input")
            .assert_matches(&response, &body["payload"].to_string());
    }
    api.stop().await;
}
