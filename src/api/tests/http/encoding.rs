//! `encode_submission`: a signature over the encoded message makes a valid submission, with one
//! signer, with several, with a sponsor, and without a sequence number.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, ledger_headers, now_secs, ok_json,
};
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::AccountAddress;
use serde_json::{Value, json};

const PATH: &str = "/v1/transactions/encode_submission";

async fn encode(api: &TestApi, body: &Value, accept: &str) -> RawResponse {
    api.client.post_json(PATH, body, accept).await
}

/// Returns the message that the node encodes.
async fn message(api: &TestApi, body: &Value) -> Vec<u8> {
    let response = encode(api, body, "application/json").await;
    let message = ok_json(&response);
    let digits = message.as_str().unwrap().strip_prefix("0x").unwrap();
    hex::decode(digits).unwrap()
}

/// Returns a submission without its signature.
fn unsigned(api: &TestApi, transfer: &Transfer) -> Value {
    let mut body = transfer.json(&api.chain);
    body.as_object_mut().unwrap().remove("signature");
    body
}

fn signature(key: &Ed25519PrivateKey, message: &[u8]) -> Value {
    json!({
        "type": "ed25519_signature",
        "public_key": format!("0x{}", hex::encode(key.public_key().0)),
        "signature": format!("0x{}", hex::encode(key.sign(message).0)),
    })
}

/// Submits the signed transaction and returns its committed form.
async fn commit(api: &TestApi, mut body: Value, signature: Value) -> Value {
    body["signature"] = signature;
    let accepted = api.client.submit_json(&body).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let hash = accepted.json()["hash"].as_str().unwrap().parse().unwrap();
    let committed = api.client.wait(&hash).await;
    assert_eq!(committed["success"], true, "{committed}");
    committed
}

#[actix_web::test]
async fn encodes_the_message_of_one_signer() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let body = unsigned(&api, &transfer);
    let message = message(&api, &body).await;
    let signed = transfer.sign(&api.chain);
    assert_eq!(message, signed.raw.signing_message(api.chain.vendor()));
    commit(&api, body, signature(&transfer.account().key, &message)).await;
    api.stop().await;
}

#[actix_web::test]
async fn encodes_the_message_of_several_signers() {
    let api = TestApi::start(Settings::default()).await;
    let (transfer, second) = (Transfer::new(0, 0), Transfer::new(1, 0));
    let mut body = unsigned(&api, &transfer);
    body["payload"] = json!({
        "type": "entry_function_payload",
        "function": "0x1::exchange::exchange_coins",
        "type_arguments": ["0x1::node_coin::NodeCoin", "0x1::node_coin::NodeCoin"],
        "arguments": ["1", "2"],
    });
    let addresses = json!([second.sender().to_string()]);
    body["secondary_signers"] = addresses.clone();
    let message = message(&api, &body).await;
    let by_both = json!({
        "type": "multi_agent_signature",
        "sender": signature(&transfer.account().key, &message),
        "secondary_signer_addresses": addresses,
        "secondary_signers": [signature(&second.account().key, &message)],
    });
    let committed = commit(&api, body, by_both.clone()).await;
    assert_eq!(committed["signature"], by_both);
    api.stop().await;
}

#[actix_web::test]
async fn encodes_a_sponsored_message_before_the_sponsor_is_known() {
    let api = TestApi::start(Settings::default()).await;
    let (transfer, payer) = (Transfer::new(0, 0), Transfer::new(1, 0));
    let mut body = unsigned(&api, &transfer);
    body["fee_payer_address"] = json!("0x0");
    let of_sender = message(&api, &body).await;
    body["fee_payer_address"] = json!(payer.sender().to_string());
    let of_payer = message(&api, &body).await;
    assert_ne!(of_sender, of_payer);
    let by_both = json!({
        "type": "fee_payer_signature",
        "sender": signature(&transfer.account().key, &of_sender),
        "secondary_signer_addresses": [],
        "secondary_signers": [],
        "fee_payer_address": payer.sender().to_string(),
        "fee_payer_signer": signature(&payer.account().key, &of_payer),
    });
    commit(&api, body, by_both).await;
    api.stop().await;
}

#[actix_web::test]
async fn encodes_an_orderless_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer {
        expiration_timestamp_secs: now_secs() + 60,
        ..Transfer::new(0, 0)
    };
    let mut body = unsigned(&api, &transfer);
    body["replay_protection_nonce"] = json!("7");
    let message = message(&api, &body).await;
    let committed = commit(&api, body, signature(&transfer.account().key, &message)).await;
    assert_eq!(committed["replay_protection_nonce"], "7");
    api.stop().await;
}

#[actix_web::test]
async fn encodes_an_empty_list_of_signers_as_a_multi_agent_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let body = unsigned(&api, &transfer);
    let alone = message(&api, &body).await;
    let mut listed = body;
    listed["secondary_signers"] = json!([]);
    let listed = message(&api, &listed).await;
    let seeds = api.chain.vendor().seeds();
    // The variant's number follows the seed, and the list's length follows the transaction.
    let mut expected = seeds.raw_transaction_with_data.as_bytes().to_vec();
    expected.push(0);
    expected.extend(&alone[seeds.raw_transaction.as_bytes().len()..]);
    expected.push(0);
    assert_eq!(listed, expected);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_submissions_that_cannot_be_encoded() {
    let api = TestApi::start(Settings::default()).await;
    let good = unsigned(&api, &Transfer::new(0, 0));
    let changed = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    let syntax = (400, "web_framework_error");
    let many = vec![AccountAddress::ONE.to_string(); 33];
    let rows = [
        (json!({}), syntax),
        (changed("sender", json!(1)), syntax),
        (changed("secondary_signers", json!("0x1")), syntax),
        (changed("secondary_signers", json!(["0xg"])), syntax),
        (changed("fee_payer_address", json!("")), syntax),
        (
            changed("secondary_signers", json!(many)),
            (400, "invalid_input"),
        ),
        (
            changed("payload", json!({ "type": "module_bundle_payload" })),
            (400, "vm_error"),
        ),
    ];
    for (body, expected) in rows {
        assert_error(
            &encode(&api, &body, "application/json").await,
            expected,
            &body.to_string(),
        );
    }
    let response = encode(&api, &good, "application/x-bcs").await;
    assert_error(&response, (400, "bcs_not_supported"), "BCS");
    // The response has the headers of the newest version.
    let response = encode(&api, &good, "application/json").await;
    assert_eq!(ledger_headers(&response, "node")[1], 0);
    api.stop().await;
}
