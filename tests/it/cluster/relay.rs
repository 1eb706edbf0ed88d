//! Transactions that travel between the nodes, and look-ups at any node.

use super::kit::{Cluster, VALIDATORS};
use crate::metrics::Scrape;
use ledger_test_support::{
    http::HttpResponse,
    node::{TestNode, until},
};
use std::{
    fmt::Display,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

/// A hash of no transaction.
const UNKNOWN: &str = "0x00000000000000000000000000000000000000000000000000000000000000aa";

async fn by_hash(node: &TestNode, hash: impl Display) -> HttpResponse {
    node.get(&format!("/v1/transactions/by_hash/{hash}")).await
}

/// Waits until a look-up of an unknown hash has this status at a node.
async fn until_unknown_is(node: &TestNode, status: u16) -> HttpResponse {
    until(&format!("status {status} of an unknown hash"), || async {
        let response = by_hash(node, UNKNOWN).await;
        (response.status == status).then_some(response)
    })
    .await
}

/// Waits until the mempool of a node holds one transaction.
async fn until_pool_has_one(node: &TestNode) {
    until("a transaction in the mempool", || async {
        let scrape = Scrape::of(node).await;
        (scrape.sum("ledger_pool_transactions", &[]) == 1.0).then_some(())
    })
    .await;
}

#[actix_web::test]
async fn a_transaction_is_known_at_each_node_and_executed_once() {
    let cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let (first, parked) = (
        cluster.transfer(&chain, 0, 0),
        cluster.transfer(&chain, 0, 1),
    );
    // It waits for the first one, so that no block has it yet.
    let hash = cluster.node(0).submit(&parked).await;
    for index in 0..VALIDATORS {
        // 503 until the connections of a start are established.
        until("a pending transaction", || async {
            let found = by_hash(cluster.node(index), hash).await;
            assert_ne!(found.status, 404, "{}", found.text);
            (found.json["type"] == "pending_transaction").then_some(())
        })
        .await;
    }
    for index in 0..VALIDATORS {
        cluster.node(index).submit(&first).await;
    }
    let mut versions = Vec::new();
    for index in 0..VALIDATORS {
        let path = format!("/v1/transactions/wait_by_hash/{hash}?timeout_ms=60000");
        let committed = cluster.node(index).get(&path).await;
        assert_eq!(committed.json["success"], true, "{}", committed.json);
        versions.push(committed.json["version"].clone());
    }
    assert_eq!(versions, vec![versions[0].clone(); VALIDATORS]);
    let path = format!("/v1/accounts/{}", first.raw.sender);
    let account = cluster.node(1).get(&path).await;
    assert_eq!(account.json["sequence_number"], "2");
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn the_snapshot_of_a_validator_has_the_engine_and_the_peers() {
    let cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let node = cluster.node(1);
    let sequence_number = AtomicU64::new(0);
    let snapshot = until("messages of the engine and of peers", || async {
        let next = sequence_number.fetch_add(1, SeqCst);
        cluster.commit(0, &cluster.transfer(&chain, 0, next)).await;
        let response = node.http.get(&format!("{}/snapshot", node.admin)).await;
        let snapshot = response.json;
        let flows = |from: &str, to: &str| {
            let mut edges = snapshot["edges"].as_array().unwrap().iter();
            let edge = edges.find(|edge| edge["from"] == from && edge["to"] == to);
            edge.unwrap()["per_s"]
                .as_f64()
                .is_some_and(|per_s| per_s > 0.0)
        };
        let is_busy = flows("consensus", "sequencer")
            && flows("sequencer", "consensus-log")
            && flows("peers", "relay");
        is_busy.then_some(snapshot)
    })
    .await;
    for name in ["consensus", "consensus-io", "consensus-log", "relay"] {
        let mut stages = snapshot["stages"].as_array().unwrap().iter();
        let stage = stages.find(|stage| stage["name"] == name).unwrap();
        assert!(stage["busy_permille"].is_u64(), "{stage:#}");
    }
}

#[actix_web::test]
async fn an_unknown_hash_is_404_unless_a_node_that_may_know_it_is_down() {
    let mut cluster = Cluster::start();
    until_unknown_is(cluster.node(0), 404).await;
    cluster.kill(1);
    let unresolved = until_unknown_is(cluster.node(0), 503).await;
    assert_eq!(unresolved.headers["retry-after"], "1");
    assert_eq!(unresolved.json["error_code"], "internal_error");
    cluster.start_node(1);
    until_unknown_is(cluster.node(0), 404).await;
}

#[actix_web::test]
async fn a_transaction_reaches_a_node_that_was_down() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.kill(1);
    let parked = cluster.transfer(&chain, 0, 1);
    cluster.node(0).submit(&parked).await;
    until_pool_has_one(cluster.node(2)).await;
    cluster.start_node(1);
    until_pool_has_one(cluster.node(1)).await;
}
