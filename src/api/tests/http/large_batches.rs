//! Batches of up to `api.batch_transactions_max` transactions (docs/use/interface.md#batches).

use crate::{
    http::signature_lanes::{Holder, wait_until},
    kit::{
        Connection, RawResponse, Settings, TestApi, Transfer, assert_error, handled,
        unrelated_clients,
    },
};
use futures::future::{Either, select};
use ledger_actors::{Lane, NodeConfig, SignaturesConfig};
use ledger_test_support::TestAccount;
use ledger_types::{AccountAddress, SignedTransaction};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    pin::pin,
};

const PATH: &str = "/v1/transactions/batch";
const JSON: &str = "application/json";

/// Address of the client of the tests.
const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Default of `api.batch_transactions_max`.
const COUNT_MAX: usize = 1_000;

/// Number of accounts that send the transfers of a batch.
const SENDERS: usize = 4;

/// Returns settings with which the pool accepts batches of one account.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.api.max_body_bytes = 8 << 20;
    settings.node.mempool.capacity_per_account = 5_000;
    settings
}

/// Returns `count` transfers, by each of [`SENDERS`] accounts in turn with ascending sequence
/// numbers. `skipped` transfers precede them.
fn transfers(chain: &Chain, skipped: usize, count: usize) -> Vec<SignedTransaction> {
    let accounts = TestAccount::development();
    let to = AccountAddress::from_low_u64(0xb0b);
    let numbers = skipped..skipped + count;
    numbers
        .map(|index| {
            let sequence_number = (index / SENDERS) as u64;
            accounts[index % SENDERS].transfer(chain, sequence_number, to, 1)
        })
        .collect()
}

/// Replaces the signed content, so that the signature is invalid.
fn forge(signed: &mut SignedTransaction) {
    signed.raw.gas_unit_price += 1;
}

/// Posts a batch in JSON or BCS, and accepts a response in JSON.
async fn post(api: &TestApi, batch: &[SignedTransaction], is_bcs: bool) -> RawResponse {
    let bcs_type = api.client.signed_transaction_type();
    let (content_type, body) = match is_bcs {
        true => (&bcs_type[..], bcs::to_bytes(batch).unwrap()),
        false => {
            let values = batch.iter().map(|signed| -> Value {
                let text = ledger_api::submission_json(&api.chain, signed);
                text.parse().unwrap()
            });
            (JSON, json!(values.collect::<Vec<_>>()).to_string().into())
        }
    };
    let headers = [("content-type", content_type), ("accept", JSON)];
    api.client.send("POST", PATH, &headers, Some(&body)).await
}

/// Waits until each transaction is committed with success.
async fn wait_for_all(api: &TestApi, transactions: &[SignedTransaction]) {
    for signed in transactions {
        let hash = signed.hash(api.chain.vendor());
        let committed = api.client.wait(&hash).await;
        assert_eq!(committed["success"], true, "{committed}");
    }
}

#[actix_web::test]
async fn accepts_1000_transactions_as_one_message_and_commits_them_in_order() {
    let api = TestApi::start(settings()).await;
    for (number, is_bcs) in [false, true].into_iter().enumerate() {
        let batch = transfers(&api.chain, number * COUNT_MAX, COUNT_MAX);
        let response = post(&api, &batch, is_bcs).await;
        assert_eq!(response.status, 202, "{}", response.text());
        assert_eq!(response.json(), json!({"transaction_failures": []}));
        // The numbers of an account are ascending, so it has no gap when the last is committed.
        wait_for_all(&api, &batch[COUNT_MAX - SENDERS..]).await;
        let messages = number as u64 + 1;
        assert_eq!(handled(&api, "mempool", "submit"), messages);
        assert_eq!(api.checked(), messages * COUNT_MAX as u64);
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_a_batch_of_more_transactions_than_the_setting() {
    for count_max in [COUNT_MAX, 10, 1] {
        let mut settings = settings();
        settings.api.batch_transactions_max = count_max;
        let api = TestApi::start(settings).await;
        let batch = transfers(&api.chain, 0, count_max + 1);
        for is_bcs in [false, true] {
            let response = post(&api, &batch, is_bcs).await;
            assert_error(&response, (400, "invalid_input"), "one too many");
            let words = format!(
                "too many transactions: {}, a batch has at most {count_max} \
                 (api.batch_transactions_max)",
                count_max + 1
            );
            assert!(response.text().contains(&words), "{}", response.text());
        }
        assert_eq!(api.checked(), 0, "none of them is submitted");
        let response = post(&api, &batch[..count_max], true).await;
        assert_eq!(response.status, 202, "{}", response.text());
        api.stop().await;
    }
}

#[actix_web::test]
async fn larger_batches_are_several_messages() {
    let mut settings = settings();
    settings.api.batch_transactions_max = 2_100;
    let api = TestApi::start(settings).await;
    let batch = transfers(&api.chain, 0, 2_100);
    let response = post(&api, &batch, true).await;
    assert_eq!(response.status, 202, "{}", response.text());
    wait_for_all(&api, &batch[2_100 - SENDERS..]).await;
    assert_eq!(handled(&api, "mempool", "submit"), 3);
    api.stop().await;
}

#[actix_web::test]
async fn lists_the_failures_of_a_large_batch_in_order() {
    const STEP: usize = 10;
    let api = TestApi::start(settings()).await;
    // The last account sends nothing that is valid, so no valid transaction has a gap before it.
    let mut batch = transfers(&api.chain, 0, COUNT_MAX);
    let bad: Vec<_> = (SENDERS - 1..COUNT_MAX).step_by(SENDERS).collect();
    bad.iter().for_each(|index| forge(&mut batch[*index]));
    for is_bcs in [true, false] {
        let response = post(&api, &batch, is_bcs).await;
        assert_eq!(response.status, 206, "{}", response.text());
        let failures = response.json()["transaction_failures"].clone();
        let failures = failures.as_array().unwrap();
        let indices: Vec<_> = failures
            .iter()
            .map(|failure| failure["transaction_index"].as_u64().unwrap() as usize)
            .collect();
        assert_eq!(indices, bad);
        for failure in failures.iter().step_by(STEP) {
            assert_eq!(failure["error"]["vm_error_code"], 1, "{failure}");
        }
    }
    let valid = &batch[COUNT_MAX - SENDERS..COUNT_MAX - 1];
    wait_for_all(&api, valid).await;
    api.stop().await;
}

#[actix_web::test]
async fn accepts_a_batch_again_that_is_partly_committed() {
    for is_bcs in [true, false] {
        let api = TestApi::start(settings()).await;
        let batch = transfers(&api.chain, 0, COUNT_MAX);
        let (first, second) = batch.split_at(COUNT_MAX / 2);
        assert_eq!(post(&api, first, is_bcs).await.status, 202);
        wait_for_all(&api, first).await;
        assert_eq!(api.checked(), first.len() as u64);
        let response = post(&api, &batch, is_bcs).await;
        assert_eq!(response.status, 202, "{}", response.text());
        let all = batch.len() as u64;
        assert_eq!(
            api.checked(),
            all,
            "committed signatures are not checked again"
        );
        wait_for_all(&api, second).await;
        let before = handled(&api, "mempool", "submit");
        let response = post(&api, &batch, is_bcs).await;
        assert_eq!(response.status, 202, "{}", response.text());
        assert_eq!(
            (api.checked(), handled(&api, "mempool", "submit")),
            (all, before)
        );
        api.stop().await;
    }
}

#[actix_web::test]
async fn reads_the_nonces_of_a_batch_together() {
    const COUNT: usize = 100;
    let api = TestApi::start(settings()).await;
    let orderless = |nonce| {
        let transfer = Transfer::orderless(0);
        transfer.sign_payload(&api.chain, transfer.payload_with_nonce(&api.chain, nonce))
    };
    let batch: Vec<_> = (0..COUNT as u64).map(orderless).collect();
    let before = handled(&api, "storage", "read");
    let response = post(&api, &batch, true).await;
    assert_eq!(response.status, 202, "{}", response.text());
    // One read for each slice of 32, beside a look-up of hashes for each.
    let reads = handled(&api, "storage", "read") - before;
    assert!((1..=8).contains(&reads), "{reads}");
    wait_for_all(&api, &batch).await;
    api.stop().await;
}

#[actix_web::test]
async fn full_pool_is_asked_once_for_a_batch() {
    let mut settings = settings();
    settings.node.mempool.capacity_transactions = 10;
    settings.node.mempool.capacity_per_account = 3;
    let api = TestApi::start(settings).await;
    let accounts = TestAccount::development();
    let to = AccountAddress::from_low_u64(0xb0b);
    // None of them is the next one of its account, so the pool stays full.
    let parked = (0..11).map(|index| {
        let number = index / SENDERS as u64 + 1;
        accounts[index as usize % SENDERS].transfer(&api.chain, number, to, 1)
    });
    let response = post(&api, &parked.collect::<Vec<_>>(), true).await;
    assert_eq!(response.status, 206, "{}", response.text());
    let failures = response.json()["transaction_failures"].clone();
    let (failures, error) = (failures.as_array().unwrap(), &failures[0]["error"]);
    assert_eq!(
        (failures.len(), &error["error_code"]),
        (1, &json!("mempool_is_full"))
    );
    let before = (api.checked(), handled(&api, "mempool", "check_capacity"));
    assert_eq!(before, (11, 0));
    // The account has as many pending transactions as it may have.
    let others = (10..60).map(|number| accounts[0].transfer(&api.chain, number, to, 1));
    let others: Vec<_> = others.collect();
    let response = post(&api, &others, true).await;
    assert_error(&response, (507, "mempool_is_full"), "none is accepted");
    // The mempool answers after it has handled and counted the messages before.
    assert_eq!(api.client.get("/v1/estimate_gas_price").await.status, 200);
    assert_eq!(
        (api.checked(), handled(&api, "mempool", "check_capacity")),
        (11, 1)
    );
    api.stop().await;
}

/// Holds the memory while the batch waits for its signatures, and not longer.
#[actix_web::test]
async fn holds_the_memory_of_a_batch_until_its_outcomes_are_known() {
    let mut settings = settings();
    settings.node = NodeConfig {
        signatures: SignaturesConfig {
            threads: 1,
            nice: 0,
            ..SignaturesConfig::default()
        },
        ..settings.node
    };
    // Three quarters of it are more than one of the bodies, and less than two. Smaller bodies have
    // a reserved part.
    settings.api.bodies_bytes_max = 250 * 1024;
    let api = TestApi::start(settings).await;
    let batch = transfers(&api.chain, 0, 500);
    let size_bytes = bcs::serialized_size(&batch).unwrap();
    assert!((100_000..180_000).contains(&size_bytes), "{size_bytes}");
    let holder = Holder::request(&api, Lane::Untrusted);
    wait_until(|| holder.is_blocking()).await;
    let mut first = Connection::open(&api.client).await;
    first.send(PATH, &batch).await;
    let waiting = || api.handle().signature_lanes().map(|lane| lane.waiting);
    wait_until(|| waiting()[1] == batch.len()).await;
    let rejected = {
        let second = pin!(post(&api, &batch, true));
        let admitted = pin!(wait_until(|| waiting()[1] > batch.len()));
        match select(second, admitted).await {
            Either::Left((rejected, _)) => rejected,
            Either::Right(_) => panic!("the second batch waits for its signatures"),
        }
    };
    assert_error(&rejected, (503, "internal_error"), "memory is held");
    assert!(
        rejected.text().contains("api.bodies_bytes_max"),
        "{}",
        rejected.text()
    );
    drop(holder);
    assert_eq!(first.response().await.status, 202);
    for _ in 0..3 {
        let again = post(&api, &batch, true).await;
        assert_eq!(again.status, 202, "{}", again.text());
    }
    wait_for_all(&api, &batch[batch.len() - SENDERS..]).await;
    api.stop().await;
}

/// Without jobs of a few signatures, the submission would wait for all signatures of the batch.
#[actix_web::test]
async fn single_submission_does_not_wait_for_the_batch_of_another_client() {
    let mut settings = settings();
    settings.node.signatures.threads = 1;
    settings.node.signatures.nice = 0;
    settings.api.trusted_proxies = "127.0.0.1".parse().unwrap();
    let api = TestApi::start(settings).await;
    let key_of = |address| api.state.client_keys.key_of(address);
    let addresses = unrelated_clients(&api.state, 3).into_iter();
    let of_others = addresses.map(|address| address.ip());
    // The client that blocks the thread is a third one.
    let of_others = of_others.filter(|address| key_of(*address) != key_of(LOCALHOST));
    let of_others: Vec<_> = of_others.collect();
    let send = |client: usize, path: &'static str, body: Vec<u8>| {
        let (http, address) = (api.client.clone(), of_others[client].to_string());
        let media_type = http.signed_transaction_type();
        actix_web::rt::spawn(async move {
            let headers = [
                ("content-type", &media_type[..]),
                ("x-forwarded-for", &address),
            ];
            http.send("POST", path, &headers, Some(&body)).await
        })
    };
    let holder = Holder::request(&api, Lane::Untrusted);
    wait_until(|| holder.is_blocking()).await;
    let waiting = || api.handle().signature_lanes().map(|lane| lane.waiting)[1];
    let batch = transfers(&api.chain, 0, COUNT_MAX);
    let greedy = send(0, PATH, bcs::to_bytes(&batch).unwrap());
    wait_until(|| waiting() == COUNT_MAX).await;
    let single = transfers(&api.chain, COUNT_MAX, 1).remove(0);
    let polite = send(1, "/v1/transactions", bcs::to_bytes(&single).unwrap());
    wait_until(|| waiting() == COUNT_MAX + 1).await;
    // Blocks the thread again behind the single transaction.
    let after = Holder::request(&api, Lane::Untrusted);
    drop(holder);
    wait_until(|| after.is_blocking()).await;
    assert!(waiting() > COUNT_MAX / 2, "{} wait", waiting());
    assert_eq!(polite.await.unwrap().status, 202);
    drop(after);
    assert_eq!(greedy.await.unwrap().status, 202);
    api.stop().await;
}
