//! A transaction that is rejected alone is rejected with the same error in a batch.

use crate::kit::{Settings, TestApi, Transfer, assert_error};
use ledger_actors::{FilterRules, MempoolConfig, NodeConfig};
use ledger_test_support::{TestSigner, TransactionSigner as _};
use ledger_types::{AccountAddress, SignedTransaction, transaction::TransactionPayload};
use serde_json::{Value, json};

const BATCH: &str = "/v1/transactions/batch";
const JSON: &str = "application/json";

/// Starts a node with a filter that denies account 1 and a mempool of one transaction per account.
async fn start() -> TestApi {
    let denied = format!("deny sender {}", Transfer::new(1, 0).sender());
    let node = NodeConfig {
        filter: FilterRules::parse_list(&denied).unwrap(),
        mempool: MempoolConfig {
            capacity_per_account: 1,
            ..MempoolConfig::default()
        },
        ..NodeConfig::default()
    };
    TestApi::start(Settings {
        node,
        ..Settings::default()
    })
    .await
}

/// Returns invalid transactions, each with the `error_code` and the validation status of its
/// rejection.
fn invalid_transactions(
    api: &TestApi,
    parked: &Transfer,
) -> Vec<(SignedTransaction, &'static str, Option<u64>)> {
    let chain = &api.chain;
    let first = Transfer::new(0, 0);
    let changed = |change: fn(&mut Transfer)| {
        let mut transfer = first.clone();
        change(&mut transfer);
        transfer.sign(chain)
    };
    let mut forged = first.sign(chain);
    forged.raw.gas_unit_price += 1;
    let stranger = Transfer::new(2, 0).signer();
    let with_other_key = stranger.sign_alone(
        chain,
        first.raw(&api.chain, first.sender(), first.payload(chain)),
    );
    let unfunded = TestSigner::Ed25519(ledger_crypto::Ed25519PrivateKey::from_seed(&[9; 32]));
    let poor = unfunded.sign_alone(
        chain,
        first.raw(&api.chain, unfunded.address(), first.payload(chain)),
    );
    let TransactionPayload::EntryFunction(mut call) = first.payload(chain) else {
        panic!("a transfer is a call");
    };
    call.args.push(vec![0; 66_000].into());
    let large = first.sign_payload(chain, TransactionPayload::EntryFunction(call));
    let update = Transfer {
        to: AccountAddress::from_low_u64(0xcafe),
        ..parked.clone()
    };
    let used = Transfer {
        amount: 8,
        ..Transfer::new(4, 0)
    };
    let over_capacity = Transfer {
        sequence_number: parked.sequence_number + 1,
        ..parked.clone()
    };
    vec![
        (Transfer::new(1, 0).sign(chain), "rejected_by_filter", None),
        (forged, "vm_error", Some(1)),
        (with_other_key, "vm_error", Some(2)),
        (used.sign(chain), "vm_error", Some(3)),
        (poor, "vm_error", Some(5)),
        (
            changed(|transfer| transfer.expiration_timestamp_secs = 1),
            "vm_error",
            Some(6),
        ),
        (large, "vm_error", Some(10)),
        (
            changed(|transfer| transfer.gas_unit_price = 1),
            "vm_error",
            Some(15),
        ),
        (
            changed(|transfer| transfer.chain_id = 5),
            "vm_error",
            Some(23),
        ),
        (update.sign(chain), "invalid_transaction_update", None),
        (over_capacity.sign(chain), "mempool_is_full", None),
    ]
}

/// Returns the error of a batch of two transactions that accepts the first one.
fn failure(batch: &Value) -> Value {
    let failures = batch["transaction_failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{batch}");
    assert_eq!(failures[0]["transaction_index"], 1, "{batch}");
    failures[0]["error"].clone()
}

#[actix_web::test]
async fn reports_the_same_error_alone_and_in_a_batch() {
    let api = start().await;
    api.commit(&Transfer::new(4, 0)).await;
    // Waits for its predecessor, and is accepted each time it is submitted again.
    let parked = Transfer::new(3, 5);
    let good = parked.sign(&api.chain);
    assert_eq!(api.client.submit_bcs(&good).await.status, 202);
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", JSON)];
    for (transaction, error_code, status) in invalid_transactions(&api, &parked) {
        let alone = api.client.submit_bcs(&transaction).await;
        assert!(alone.status >= 400, "{error_code} {status:?}");
        let error = alone.json();
        assert_eq!(error["error_code"], error_code, "{error}");
        assert_eq!(
            error.get("vm_error_code"),
            status.map(Value::from).as_ref(),
            "{error}"
        );

        let both = bcs::to_bytes(&vec![good.clone(), transaction.clone()]).unwrap();
        let in_bcs = api.client.send("POST", BATCH, &headers, Some(&both)).await;
        assert_eq!(in_bcs.status, 206, "{}", in_bcs.text());
        assert_eq!(failure(&in_bcs.json()), error);

        let body = |signed| -> Value {
            ledger_api::submission_json(&api.chain, signed)
                .parse()
                .unwrap()
        };
        // JSON does not name the chain, and a call in JSON has as many arguments as its ABI.
        if !matches!(status, Some(10 | 23)) {
            let both = json!([body(&good), body(&transaction)]);
            let in_json = api.client.post_json(BATCH, &both, JSON).await;
            assert_eq!(in_json.status, 206, "{}", in_json.text());
            assert_eq!(failure(&in_json.json()), error);
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn reports_the_same_conversion_error_alone_and_in_a_batch() {
    let api = start().await;
    let good = Transfer::new(3, 5).json(&api.chain);
    let changed = |pointer: &str, value: Value| {
        let mut body = Transfer::new(0, 0).json(&api.chain);
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    for wrong in [
        changed("/payload/function", json!("0x1::coin::nothing")),
        changed("/payload/arguments", json!(["0x1"])),
        changed("/payload/arguments/1", json!("x")),
    ] {
        let alone = api.client.submit_json(&wrong).await;
        assert_error(&alone, (400, "invalid_input"), &wrong.to_string());
        let batch = api
            .client
            .post_json(BATCH, &json!([good, wrong]), JSON)
            .await;
        assert_eq!(batch.status, 206, "{}", batch.text());
        assert_eq!(failure(&batch.json()), alone.json());
    }
    api.stop().await;
}
