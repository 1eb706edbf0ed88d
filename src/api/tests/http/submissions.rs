//! Submissions that are no transactions, and what becomes of one that is replaced; nothing is lost or stuck
//! afterwards. What validation and the pool refuse is in `validation.rs` and `validation_pool.rs`.

use crate::kit::{Settings, TestApi, Transfer, refused, still_works};
use serde_json::{Value, json};

/// What reads as no value of its declared type.
const SYNTAX: (u16, &str) = (400, "web_framework_error");

fn changed(good: &Value, pointer: &str, value: Value) -> Value {
    let mut body = good.clone();
    *body.pointer_mut(pointer).unwrap() = value;
    body
}

#[actix_web::test]
async fn json_submissions() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    let mut without_sender = good.clone();
    without_sender.as_object_mut().unwrap().remove("sender");
    let invalid = (400, "invalid_input");
    let vm_error = (400, "vm_error");
    let multisig = |address: Value| json!({ "type": "multisig_payload", "multisig_address": address });
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
        // The places of these variants in the code.
        (changed(&good, "/payload/type", json!(0)), SYNTAX),
        (changed(&good, "/signature/type", json!(0)), SYNTAX),
        (
            changed(&good, "/payload", json!(["entry_function_payload", {}])),
            SYNTAX,
        ),
        (changed(&good, "/payload/arguments", json!("0xb0b")), SYNTAX),
        (changed(&good, "/signature/signature", json!("0x12")), SYNTAX),
        (changed(&good, "/signature/type", json!("nothing")), SYNTAX),
        (
            changed(&good, "/payload/function", json!("0x1::coin::nothing")),
            invalid,
        ),
        (changed(&good, "/payload/function", json!("transfer")), invalid),
        (changed(&good, "/payload/arguments", json!(["0xb0b"])), invalid),
        (changed(&good, "/payload/arguments/1", json!(7)), invalid),
        (changed(&good, "/payload/type_arguments", json!(["u8"])), invalid),
        (changed(&good, "/payload/type", json!("script_payload")), vm_error),
        (changed(&good, "/payload/type", json!("multisig_payload")), SYNTAX),
        (changed(&good, "/payload", multisig(json!("0xg"))), SYNTAX),
        (changed(&good, "/payload", multisig(json!("0xdead"))), vm_error),
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
        // The signature no longer holds.
        (changed(&good, "/max_gas_amount", json!("100001")), vm_error),
    ];
    for (body, expected) in rows {
        let answer = api.client.submit_json(&body).await;
        refused(&answer, expected, &body.to_string());
        let has_code = answer.json().get("vm_error_code").is_some();
        assert_eq!(has_code, expected == vm_error, "{}", answer.text());
    }
    // Deeper than the JSON reader recurses, where any JSON value may stand.
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let nested = good.to_string().replace("\"0xb0b\"", &deep);
    assert!(nested.contains(&deep));
    for text in ["", "{", "\u{feff}{}", "nul", &nested] {
        let headers = [("content-type", "application/json")];
        let answer = api
            .client
            .send("POST", "/v1/transactions", &headers, Some(text.as_bytes()))
            .await;
        let shown: String = text.chars().take(20).collect();
        refused(&answer, SYNTAX, &shown);
    }
    still_works(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn bcs_submissions_that_do_not_decode() {
    let api = TestApi::start(Settings::default()).await;
    let good = bcs::to_bytes(&Transfer::new(0, 0).sign(&api.chain)).unwrap();
    let mut longer = good.clone();
    longer.push(0);
    let shorter = &good[..good.len() - 1];
    let media_type = api.client.signed_transaction_type();
    for body in [b"", shorter, &longer, &[0xff; 200]] {
        let headers = [("content-type", &media_type[..])];
        let answer = api
            .client
            .send("POST", "/v1/transactions", &headers, Some(body))
            .await;
        refused(&answer, (400, "invalid_input"), &format!("{} bytes", body.len()));
    }
    still_works(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn replacing_a_pending_transaction() {
    let api = TestApi::start(Settings::default()).await;
    // A gap before it keeps it pending.
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
        let answer = api.client.get(&path).await;
        refused(&answer, (404, "transaction_not_found"), route);
        let expected = format!(
            "Transaction not found by Transaction hash({}): replaced by {}",
            first.hash(vendor),
            second.hash(vendor)
        );
        assert_eq!(answer.json()["message"], expected);
    }
    still_works(&api).await;
    api.stop().await;
}
