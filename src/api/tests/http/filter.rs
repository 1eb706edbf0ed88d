//! Submissions that the operator's filter rejects.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_json,
};
use ledger_actors::{FilterRules, NodeConfig};
use ledger_types::{
    AccountAddress, SignedTransaction,
    transaction::{
        ExtraConfig, InnerPayload, Multisig, MultisigPayload, TransactionExecutable,
        TransactionPayload,
    },
};
use serde_json::json;

const REJECTED: (u16, &str) = (403, "rejected_by_filter");

fn filter(rules: &str) -> FilterRules {
    FilterRules::parse_list(rules).unwrap()
}

async fn start_with_rules(rules: &str) -> TestApi {
    let node = NodeConfig {
        filter: filter(rules),
        ..NodeConfig::default()
    };
    TestApi::start(Settings {
        node,
        ..Settings::default()
    })
    .await
}

fn sender(from: usize) -> AccountAddress {
    Transfer::new(from, 0).sender()
}

/// Asserts that the response names this rule as the reason for the rejection.
fn assert_rejected_by(response: &RawResponse, number: usize, rule: &str) {
    assert_error(response, REJECTED, rule);
    let message = format!(
        "Transaction rejected by the submission filter of this node, rule {number}: {rule}"
    );
    let body = json!({ "message": message, "error_code": "rejected_by_filter" });
    assert_eq!(response.json(), body);
    // Every response to a submission has the ledger headers.
    assert_eq!(response.headers["x-node-chain-id"], "4");
}

#[actix_web::test]
async fn names_the_rule_that_rejects_a_transaction() {
    let denied = format!("deny sender {}", sender(1));
    let api = start_with_rules(&format!("allow sender {}, {denied}", sender(0))).await;
    let transfers = [0, 5].map(|number| Transfer::new(1, number));
    for transfer in &transfers {
        let as_bcs = api.client.submit_bcs(&transfer.sign(&api.chain)).await;
        assert_rejected_by(&as_bcs, 2, &denied);
        let as_json = api.client.submit_json(&transfer.json(&api.chain)).await;
        assert_rejected_by(&as_json, 2, &denied);
    }
    let hash = transfers[0].sign(&api.chain).hash(api.chain.vendor());
    let lookup = api
        .client
        .get(&format!("/v1/transactions/by_hash/{hash}"))
        .await;
    assert_error(&lookup, (404, "transaction_not_found"), "never pending");
    for others in [0, 2] {
        assert_eq!(api.commit(&Transfer::new(others, 0)).await["success"], true);
    }
    api.stop().await;
}

#[actix_web::test]
async fn accepts_only_the_allowed_senders_before_deny_all() {
    let api = start_with_rules(&format!(
        "allow sender {}, allow sender {}, deny all",
        sender(2),
        sender(4)
    ))
    .await;
    let response = api
        .client
        .submit_bcs(&Transfer::new(0, 0).sign(&api.chain))
        .await;
    assert_rejected_by(&response, 3, "deny all");
    assert_eq!(api.commit(&Transfer::new(2, 0)).await["success"], true);
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Returns each form of payload that runs this call.
fn forms(payload: &TransactionPayload) -> Vec<TransactionPayload> {
    let TransactionPayload::EntryFunction(call) = payload else {
        panic!("a transfer is a call");
    };
    let inner = |multisig_address, replay_protection_nonce| {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: TransactionExecutable::EntryFunction(call.clone()),
            extra_config: ExtraConfig::V1 {
                multisig_address,
                replay_protection_nonce,
            },
        })
    };
    let multisig_address = AccountAddress::from_low_u64(0xee);
    let multisig = TransactionPayload::Multisig(Multisig {
        multisig_address,
        payload: Some(MultisigPayload::EntryFunction(call.clone())),
    });
    vec![
        payload.clone(),
        multisig,
        inner(None, Some(7)),
        inner(Some(multisig_address), None),
        inner(Some(multisig_address), Some(7)),
    ]
}

#[actix_web::test]
async fn matches_a_function_in_every_form_of_payload() {
    let rules = [
        "deny function 0x1::node_account::transfer",
        "deny module 0x1::node_account",
    ];
    for rule in rules {
        let api = start_with_rules(rule).await;
        let transfer = Transfer::new(0, 0);
        for payload in forms(&transfer.payload(&api.chain)) {
            let signed = transfer.sign_payload(&api.chain, payload);
            assert_rejected_by(&api.client.submit_bcs(&signed).await, 1, rule);
        }
        let other = transfer.sign_call(&api.chain, "0x1::registry::initialize", &[]);
        assert_eq!(api.client.submit_bcs(&other).await.status, 202);
        api.stop().await;
    }
}

/// Returns a transfer with a signature over another transaction.
fn forged(api: &TestApi, from: usize) -> SignedTransaction {
    let mut signed = Transfer::new(from, 0).sign(&api.chain);
    signed.raw.gas_unit_price += 1;
    signed
}

#[actix_web::test]
async fn rejects_before_it_checks_the_signature() {
    let rule = format!("deny sender {}", sender(1));
    let api = start_with_rules(&rule).await;
    let checked = || {
        let lanes = serde_json::to_value(api.handle().signature_lanes()).unwrap();
        let lanes = lanes.as_array().unwrap().clone();
        lanes
            .iter()
            .map(|lane| lane["accepted"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_rejected_by(&api.client.submit_bcs(&forged(&api, 1)).await, 1, &rule);
    assert_eq!(checked(), 0);
    assert_error(
        &api.client.submit_bcs(&forged(&api, 2)).await,
        (400, "vm_error"),
        "an allowed sender",
    );
    assert_eq!(checked(), 1);
    api.stop().await;
}

#[actix_web::test]
async fn applies_a_change_to_new_submissions_and_not_to_pending_ones() {
    let api = TestApi::start(Settings::default()).await;
    // Stays pending, because its predecessor is missing.
    let parked = Transfer::new(0, 1);
    let signed = parked.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&signed).await.status, 202);

    let before = api.handle().set_filter(filter("deny all"));
    assert!(before.rules().is_empty());
    assert_eq!(api.handle().filter().rules().to_string(), "deny all");
    assert_rejected_by(&api.client.submit_bcs(&signed).await, 1, "deny all");
    let repriced = Transfer {
        gas_unit_price: 200,
        ..parked.clone()
    };
    let replacement = repriced.sign(&api.chain);
    assert_rejected_by(&api.client.submit_bcs(&replacement).await, 1, "deny all");
    let hash = signed.hash(api.chain.vendor());
    let pending = ok_json(
        &api.client
            .get(&format!("/v1/transactions/by_hash/{hash}"))
            .await,
    );
    assert_eq!(pending["type"], "pending_transaction");

    api.handle().set_filter(filter(""));
    api.commit(&Transfer::new(0, 0)).await;
    assert_eq!(api.client.wait(&hash).await["success"], true);
    api.stop().await;
}

#[actix_web::test]
async fn does_not_filter_simulations_or_views() {
    let api = start_with_rules("deny all").await;
    let mut unsigned = Transfer::new(0, 0).json(&api.chain);
    unsigned["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
    let accept = "application/json";
    let simulated = api
        .client
        .post_json("/v1/transactions/simulate", &unsigned, accept)
        .await;
    assert_eq!(ok_json(&simulated)[0]["success"], true);
    let call = json!({
        "function": "0x1::account::exists_at",
        "type_arguments": [],
        "arguments": ["0x1"],
    });
    ok_json(&api.client.post_json("/v1/view", &call, accept).await);
    api.stop().await;
}

#[actix_web::test]
async fn reports_a_rejection_as_one_failure_of_a_batch() {
    let rule = format!("deny sender {}", sender(1));
    let api = start_with_rules(&rule).await;
    let message =
        format!("Transaction rejected by the submission filter of this node, rule 1: {rule}");
    let path = "/v1/transactions/batch";
    let batch = |froms: &[usize]| {
        let bodies = froms
            .iter()
            .map(|&from| Transfer::new(from, 0).json(&api.chain));
        json!(bodies.collect::<Vec<_>>())
    };
    let response = api
        .client
        .post_json(path, &batch(&[0, 1, 2]), "application/json")
        .await;
    assert_eq!(response.status, 206, "{}", response.text());
    let error = json!({ "message": message, "error_code": "rejected_by_filter" });
    assert_eq!(
        response.json(),
        json!({ "transaction_failures": [{ "error": error, "transaction_index": 1 }] })
    );
    let response = api
        .client
        .post_json(path, &batch(&[1, 3]), "application/x-bcs")
        .await;
    assert_eq!(response.status, 206);
    // `rejected_by_filter` is number 15 in the list of error codes, counted from 0.
    let expected = (message.clone(), 15u8, None::<u64>, 0u64);
    assert_eq!(response.body, bcs::to_bytes(&vec![expected]).unwrap());
    let response = api
        .client
        .post_json(path, &batch(&[1]), "application/json")
        .await;
    assert_error(&response, (400, "invalid_input"), "no valid transaction");
    assert!(response.text().contains(&message), "{}", response.text());
    api.stop().await;
}
