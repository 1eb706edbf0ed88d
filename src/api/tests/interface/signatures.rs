//! docs/reference/rest-contract.md#s2-3: the variants of a signature, which differ in `type`.

use crate::kit::{SYNTAX, changed, members, without};
use crate::{
    interface::rows::row,
    kit::{Settings, TestApi, Transfer, assert_error},
};
use serde_json::json;

/// Shows an Ed25519 signature with its three members, as they were sent.
#[actix_web::test]
async fn an_ed25519_signature_has_three_members() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let body = transfer.json(&api.chain);
    let accepted = api.client.submit_json(&body).await;
    row("POST /transactions", 202, "-").assert_matches(&accepted, "a transfer");
    let hash = transfer.sign(&api.chain).hash(api.chain.vendor());
    let committed = api.client.wait(&hash).await;
    for signature in [&accepted.json()["signature"], &committed["signature"]] {
        assert_eq!(members(signature), ["public_key", "signature", "type"]);
        assert_eq!(signature, &body["signature"]);
    }
    api.stop().await;
}

/// Rejects a signature without one of its members, or with a key or signature that is not hex.
#[actix_web::test]
async fn each_member_of_a_signature_is_required() {
    let api = TestApi::start(Settings::default()).await;
    let good = Transfer::new(0, 0).json(&api.chain);
    for name in ["type", "public_key", "signature"] {
        let body = without(&good, "/signature", name);
        assert_error(&api.client.submit_json(&body).await, SYNTAX, name);
        let body = changed(&good, &format!("/signature/{name}"), json!(7));
        assert_error(&api.client.submit_json(&body).await, SYNTAX, name);
    }
    let unknown = changed(&good, "/signature/type", json!("other_signature"));
    assert_error(
        &api.client.submit_json(&unknown).await,
        SYNTAX,
        "another type",
    );
    for name in ["public_key", "signature"] {
        for (wrong, expected) in [
            ("0x", (400, "invalid_input")),
            ("0x12", (400, "invalid_input")),
            ("0x1", SYNTAX),
            ("zz", SYNTAX),
        ] {
            let body = changed(&good, &format!("/signature/{name}"), json!(wrong));
            assert_error(
                &api.client.submit_json(&body).await,
                expected,
                &format!("{name} {wrong}"),
            );
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_the_signature_of_another_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let (mut body, other) = (
        Transfer::new(0, 0).json(&api.chain),
        Transfer::new(0, 1).json(&api.chain),
    );
    body["signature"] = other["signature"].clone();
    let response = api.client.submit_json(&body).await;
    row("POST /transactions", 400, "vm_error")
        .assert_matches(&response, "another transaction's signature");
    assert_eq!(response.json()["vm_error_code"], 1);
    api.stop().await;
}
