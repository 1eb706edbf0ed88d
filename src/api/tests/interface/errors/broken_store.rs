//! A node with an unreadable disk: requests that need the store are 500 `internal_error`, and no
//! response contains the cause.

use crate::{
    interface::{
        chain::History,
        examples::{self, Example, WAIT_MANY},
        rows::{Row, row},
    },
    kit::{RawResponse, Settings, TestApi, Transfer},
};
use ledger_store::{Store, StoreOptions};
use ledger_test_support::HookedDisk;
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// Message of the failed read, which no response may contain.
const CAUSE: &str = "the disk is gone";

/// The reads that a broken disk does not fail, each with the reason.
pub const NEEDS_NO_DISK: [(&str, &str); 9] = [
    (
        "GET /",
        "the node holds the newest ledger information in memory",
    ),
    (
        "GET /-/healthy",
        "the node holds the newest ledger information in memory",
    ),
    ("GET /info", "the response is about the node"),
    ("GET /spec", "the document is rendered from the route table"),
    (
        "GET /spec.json",
        "the document is rendered from the route table",
    ),
    (
        "GET /spec.yaml",
        "the document is rendered from the route table",
    ),
    (
        "GET /spec/{part}",
        "the files of the page are in the binary",
    ),
    ("GET /estimate_gas_price", "the mempool has the prices"),
    (
        "POST /graphql",
        "the node holds the newest ledger information in memory",
    ),
];

/// Returns a history on a broken disk, and the hash of its genesis transaction.
///
/// Before the disk breaks, commits enough that the memory of the node has nothing of the history.
async fn broken() -> (History, String) {
    let is_broken = Arc::new(AtomicBool::new(false));
    let disk = |is_broken: Arc<AtomicBool>| {
        HookedDisk::new(move || match is_broken.load(SeqCst) {
            true => Err(io::Error::other(CAUSE)),
            false => Ok(()),
        })
    };
    let (backend, log) = (disk(Arc::clone(&is_broken)), disk(Arc::default()));
    // The page cache has no capacity, so that every read reaches the disk.
    let store = Store::open_backend(backend, log, &StoreOptions { cache_bytes: 0 }).unwrap();
    let mut settings = Settings {
        store: Some(store),
        ..Settings::default()
    };
    settings.api.response_cache_bytes_max = 0;
    // A node begins to verify its files when it starts. A failed read of the scrubber would reject
    // the first submission before its own read fails.
    settings.node.storage.scrub_hours = 0;
    let history = History::start_with(settings).await;
    let api = &history.api;
    // Large enough that no table fits into the one page that is read when it is opened.
    let arguments = [json!("name"), json!(format!("0x{}", "ab".repeat(8_000)))];
    let set =
        |number| Transfer::new(1, number).sign_call(&api.chain, "0x1::registry::set", &arguments);
    let transfer = |number| Transfer::new(0, number).sign(&api.chain);
    for signed in [set(2), set(3)] {
        api.commit_signed(&signed).await;
    }
    // Each is a block, so that the table of blocks does not fit into one page either.
    for number in 3..30 {
        api.commit_signed(&transfer(number)).await;
    }
    // A read makes the writer apply the newest blocks before the writer is idle.
    history.get("/v1/accounts/0x1/resources?limit=1").await;
    let genesis = history.get("/v1/transactions/by_version/0").await;
    is_broken.store(true, SeqCst);
    (history, genesis["hash"].as_str().unwrap().to_owned())
}

/// Returns the path of an example, or another path of its route if the memory of the node has the
/// response. `genesis` is the hash of the genesis transaction.
fn path_on_disk(example: &Example, genesis: &str) -> String {
    match example.route {
        // The transactions of recent blocks are in memory, with the exception of genesis.
        "GET /transactions/by_hash/{txn_hash}" => format!("/v1/transactions/by_hash/{genesis}"),
        "GET /transactions/wait_by_hash/{txn_hash}" => {
            format!("/v1/transactions/wait_by_hash/{genesis}")
        }
        _ => example.path.clone(),
    }
}

/// Asserts that each response is the one of its row and does not contain the cause. Lists all
/// responses with another status.
fn assert_all_match(responses: Vec<(Row, String, RawResponse)>) {
    let mut other = Vec::new();
    for (row, path, response) in responses {
        if response.status == row.status {
            row.assert_matches(&response, &path);
            assert!(!response.text().contains(CAUSE), "{}", response.text());
        } else {
            other.push((path, response.status, response.text().to_owned()));
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

/// Reads on every route that needs the disk.
#[actix_web::test]
async fn reads_of_a_broken_disk_are_500() {
    let (history, genesis) = broken().await;
    let mut responses = Vec::new();
    for mut example in examples::reads(&history) {
        if NEEDS_NO_DISK
            .iter()
            .any(|(route, _)| *route == example.route)
        {
            continue;
        }
        example.path = path_on_disk(&example, &genesis);
        if example.route == WAIT_MANY {
            example.body = Some(json!({ "hashes": [genesis] }));
        }
        let response = example.send(&history, "*/*").await;
        let row = row(example.route, 500, "internal_error");
        responses.push((row, example.path, response));
    }
    assert_all_match(responses);
}

/// Starts a node per route, because a node rejects submissions after the first failed read.
#[actix_web::test]
async fn submissions_on_a_broken_disk_are_500_and_later_ones_503() {
    let mut responses = Vec::new();
    for (row, path) in [
        (
            row("POST /transactions", 500, "internal_error"),
            "transactions",
        ),
        (
            row("POST /transactions/batch", 500, "internal_error"),
            "transactions/batch",
        ),
    ] {
        let (history, _) = broken().await;
        let TestApi { client, chain, .. } = &history.api;
        // The head does not have the account of this sender, so it is read from the store.
        let transaction = Transfer::new(2, 0).json(chain);
        let body = match path {
            "transactions" => transaction,
            _ => json!([transaction]),
        };
        let url = format!("/v1/{path}");
        let response = client.post_json(&url, &body, "*/*").await;
        responses.push((row, path.to_owned(), response));
        let later = client.post_json(&url, &body, "*/*").await;
        assert_eq!(later.status, 503, "{path}: {}", later.text());
    }
    assert_all_match(responses);
}

/// Sends requests that read the ledger through the state. Its reads do not return errors of the
/// store.
#[actix_web::test]
async fn failed_reads_of_the_state_reject_later_submissions() {
    let sender = Transfer::new(0, 0).sender();
    let balance = format!("/v1/accounts/{sender}/balance/0xa");
    for path in [balance.as_str(), "/v1/view", "/v1/transactions/simulate"] {
        let (history, _) = broken().await;
        let TestApi { client, chain, .. } = &history.api;
        let response = match path {
            "/v1/view" => client.post_json(path, &balance_call(), "*/*").await,
            "/v1/transactions/simulate" => client.post_json(path, &simulated(chain), "*/*").await,
            _ => client.get(path).await,
        };
        assert_eq!(response.status, 500, "{path}: {}", response.text());
        let transaction = Transfer::new(2, 0).json(chain);
        let later = client
            .post_json("/v1/transactions", &transaction, "*/*")
            .await;
        assert_eq!(later.status, 503, "{path}: {}", later.text());
    }
}

/// Returns a transaction to simulate.
fn simulated(chain: &Chain) -> Value {
    let mut transaction = Transfer::new(1, 0).json(chain);
    transaction["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
    transaction
}

/// Returns the call of a view function that reads a balance.
fn balance_call() -> Value {
    json!({
        "function": "0x1::coin::balance",
        "type_arguments": ["0x1::node_coin::NodeCoin"],
        "arguments": [Transfer::new(0, 0).sender().to_string()],
    })
}

/// Reads the accounts of the simulated transaction.
#[actix_web::test]
async fn simulations_on_a_broken_disk_are_500() {
    let (history, _) = broken().await;
    let TestApi { client, chain, .. } = &history.api;
    let path = "/v1/transactions/simulate";
    let response = client.post_json(path, &simulated(chain), "*/*").await;
    let row = row("POST /transactions/simulate", 500, "internal_error");
    assert_all_match(vec![(row, path.to_owned(), response)]);
}

/// Supports the reasons of [`NEEDS_NO_DISK`], with which nothing causes a 500.
#[actix_web::test]
async fn responds_200_if_no_disk_is_needed() {
    let (history, _) = broken().await;
    for example in examples::reads(&history) {
        if NEEDS_NO_DISK
            .iter()
            .any(|(route, _)| *route == example.route)
        {
            let response = example.send(&history, "*/*").await;
            row(example.route, 200, "-").assert_matches(&response, example.route);
        }
    }
    row("POST /transactions/encode_submission", 200, "-")
        .post(
            &history.api,
            "/v1/transactions/encode_submission",
            &Transfer::new(2, 0).json(&history.api.chain),
        )
        .await;
}
