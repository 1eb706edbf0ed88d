//! Rejections by the mempool: invalid updates and exhausted capacity.
//!
//! `tests/interface/errors/taken_by_a_block.rs` has the rejection of a sequence number that a
//! block has taken, `tests/interface/submit.rs` the one by a mempool without capacity.

use crate::kit::{RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits};
use ledger_actors::{MempoolConfig, NodeConfig};
use ledger_types::{AccountAddress, SignedTransaction};

/// Starts a node with these limits of the mempool.
async fn start_with(mempool: MempoolConfig) -> TestApi {
    let node = NodeConfig {
        mempool,
        ..NodeConfig::default()
    };
    let settings = Settings {
        node,
        ..Settings::default()
    };
    TestApi::start(settings).await
}

fn assert_message_contains(response: &RawResponse, words: &str) {
    let body = response.json();
    let message = body["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    assert_eq!(body.get("vm_error_code"), None, "{body}");
}

#[actix_web::test]
async fn rejects_each_invalid_update() {
    let api = TestApi::start(Settings::default()).await;
    // Stays pending, because its predecessor is missing.
    let parked = Transfer {
        gas_unit_price: 200,
        ..Transfer::new(0, 5)
    };
    let first = parked.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&first).await.status, 202);
    let other_payload = Transfer {
        to: AccountAddress::from_low_u64(0xcafe),
        ..parked.clone()
    };
    let other_expiration = Transfer {
        expiration_timestamp_secs: parked.expiration_timestamp_secs + 1,
        ..parked.clone()
    };
    let mut other_gas = first.raw.clone();
    other_gas.max_gas_amount += 1;
    let cheaper = Transfer {
        gas_unit_price: 199,
        ..parked.clone()
    };
    let signer = parked.signer();
    let rows = [
        (other_payload.sign(&api.chain), "with a different payload"),
        (
            other_expiration.sign(&api.chain),
            "with a different expiration timestamp",
        ),
        (
            signer.sign_alone(&api.chain, other_gas),
            "with a different max gas amount",
        ),
        (cheaper.sign(&api.chain), "with a higher gas price"),
    ];
    for (signed, words) in rows {
        let response = api.client.submit_bcs(&signed).await;
        assert_error(&response, (400, "invalid_transaction_update"), words);
        assert_message_contains(
            &response,
            &format!("Transaction already in mempool {words}"),
        );
    }
    // The pending transaction is accepted again, in the other format too.
    let body = ledger_api::submission_json(&api.chain, &first);
    let response = api.client.submit_json(&body.parse().unwrap()).await;
    assert_eq!(response.status, 202, "{}", response.text());
    assert_eq!(
        response.json()["hash"],
        first.hash(api.chain.vendor()).to_string()
    );
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn responds_507_if_an_account_reaches_its_capacity() {
    let api = start_with(MempoolConfig {
        capacity_per_account: 2,
        ..MempoolConfig::default()
    })
    .await;
    for sequence_number in [5, 6] {
        let signed = Transfer::new(0, sequence_number).sign(&api.chain);
        assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    }
    let response = api
        .client
        .submit_bcs(&Transfer::new(0, 7).sign(&api.chain))
        .await;
    assert_error(&response, (507, "mempool_is_full"), "a third");
    assert_message_contains(&response, "Mempool over capacity for account");
    assert_message_contains(&response, "transactions from account: 2, Capacity: 2");
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn responds_507_if_the_mempool_is_full_by_bytes() {
    let signed_bytes = |signed: &SignedTransaction| bcs::to_bytes(signed).unwrap().len();
    let probe = TestApi::start(Settings::default()).await;
    let transaction_bytes = signed_bytes(&Transfer::new(0, 5).sign(&probe.chain));
    probe.stop().await;
    let api = start_with(MempoolConfig {
        capacity_bytes: 2 * transaction_bytes,
        ..MempoolConfig::default()
    })
    .await;
    for (from, status) in [(0, 202), (1, 202), (2, 507)] {
        let response = api
            .client
            .submit_bcs(&Transfer::new(from, 5).sign(&api.chain))
            .await;
        assert_eq!(response.status, status, "{}", response.text());
        if status == 507 {
            assert_message_contains(
                &response,
                &format!(
                    "size: {} bytes, Capacity: {} bytes",
                    2 * transaction_bytes,
                    2 * transaction_bytes
                ),
            );
        }
    }
    api.stop().await;
}
