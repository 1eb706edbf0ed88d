//! Nodes without a validator's key, which follow the validators and serve clients.

use super::kit::{Cluster, VALIDATORS};
use crate::metrics::Scrape;
use ledger_test_support::{
    http::number,
    node::{TestNode, until, until_parked},
};
use std::{fs, path::Path, process::Output};

const HEALTH: &str = "/v1/-/healthy";

/// Index of the first full node.
const FULL_NODE: usize = VALIDATORS;

/// Waits until a node has a quorum in contact and the newest block.
async fn await_healthy(node: &TestNode) {
    until("a healthy node", || async {
        (node.get(HEALTH).await.status == 200).then_some(())
    })
    .await;
}

/// Starts a node that must end before it is ready. Returns its output.
fn rejected(cluster: &Cluster, index: usize) -> Output {
    let directory = tempfile::tempdir().unwrap();
    TestNode::command(directory.path(), &cluster.settings(index))
        .output()
        .unwrap()
}

#[actix_web::test]
async fn a_full_node_serves_what_the_validators_commit() {
    let mut cluster = Cluster::start_full(1, &[]);
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    cluster.await_at(FULL_NODE, &first).await;
    let version = number(&cluster.node(0).get("/v1").await.json["ledger_version"]);

    // A client at the full node waits for a version that no node has yet.
    let path = format!("/v1?min_ledger_version={}&timeout_ms=60000", version + 1);
    let second = cluster.transfer(&chain, 0, 1);
    let full_node = cluster.node(FULL_NODE);
    let (served, ()) = tokio::join!(full_node.get(&path), async {
        until_parked(full_node, 1).await;
        cluster.commit(1, &second).await;
    });
    assert_eq!(served.status, 200, "{}", served.text);
    assert!(number(&served.json["ledger_version"]) > version);

    await_healthy(full_node).await;
    let url = format!("{}/consensus", full_node.admin);
    let status = full_node.http.get(&url).await.json;
    assert_eq!(status["role"], "follows", "{status}");
    assert_eq!(status["is_validator"], false, "{status}");
    for (index, role) in [(0, "validator"), (FULL_NODE, "full_node")] {
        let node = cluster.node(index);
        assert_eq!(node.get("/v1").await.json["node_role"], role);
        assert_eq!(node.get("/v1/info").await.json["node_type"], role);
    }
    let health = full_node.get(HEALTH).await.json;
    assert_eq!(health["consensus"]["is_voting"], false, "{health}");
    assert_eq!(health["consensus"]["following"], serde_json::Value::Null);

    // It continues after a kill, with what was committed meanwhile.
    cluster.kill(FULL_NODE);
    let third = cluster.transfer(&chain, 0, 2);
    cluster.commit(2, &third).await;
    cluster.start_node(FULL_NODE);
    cluster.await_at(FULL_NODE, &third).await;
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn a_full_node_is_unhealthy_while_it_is_cut_off_and_joins_with_an_empty_ledger() {
    let mut cluster = Cluster::start_full(1, &[]);
    let chain = cluster.node(0).chain().await;
    await_healthy(cluster.node(FULL_NODE)).await;
    for index in 0..2 {
        cluster.kill(index);
    }
    until("a node without a quorum", || async {
        let health = cluster.node(FULL_NODE).get(HEALTH).await;
        health
            .text
            .contains("2 of 4 validators are in contact")
            .then_some(())
    })
    .await;
    let probe = async |path: &str| {
        let node = cluster.node(FULL_NODE);
        let response = node.http.get(&format!("{}{path}", node.admin)).await;
        (response.status, response.text)
    };
    assert_eq!(probe("/readyz").await, (503, "validators".to_owned()));
    assert_eq!(probe("/livez").await.0, 200);
    for index in 0..2 {
        cluster.start_node(index);
    }
    await_healthy(cluster.node(FULL_NODE)).await;

    cluster.stop(FULL_NODE);
    cluster.empty_ledger(FULL_NODE);
    let transfer = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &transfer).await;
    cluster.start_node(FULL_NODE);
    cluster.await_at(FULL_NODE, &transfer).await;
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn a_full_node_joins_by_a_copy_if_the_first_blocks_are_pruned() {
    let mut cluster = Cluster::start_full(
        2,
        &[
            "pruner.window_versions=5",
            "pruner.batch_versions=1",
            "process.stall_secs=1",
        ],
    );
    let (copied, joining) = (FULL_NODE, FULL_NODE + 1);
    let chain = cluster.node(0).chain().await;
    let mut sequence_number = 0;
    for index in 0..=copied {
        until("a pruned block", || {
            let transfer = cluster.transfer(&chain, 0, sequence_number);
            sequence_number += 1;
            let cluster = &cluster;
            async move {
                cluster.commit(0, &transfer).await;
                let oldest = &cluster.node(index).get("/v1").await.json["oldest_block_height"];
                (number(oldest) > 1).then_some(())
            }
        })
        .await;
    }
    cluster.stop(joining);
    cluster.empty_ledger(joining);
    cluster.start_node(joining);
    until("a stall, because nothing is decided", || async {
        let stalled = Scrape::of(cluster.node(joining)).await;
        let stalled = stalled.sum("ledger_stalled", &[("thread", "consensus")]);
        (stalled == 1.0).then_some(())
    })
    .await;
    until("a node without the first block", || async {
        let health = cluster.node(joining).get(HEALTH).await;
        let words = "no peer has block 1 any more; copy the ledger of another node";
        (health.status == 503 && health.text.contains(words)).then_some(())
    })
    .await;

    cluster.stop(joining);
    cluster.stop(copied);
    copy_ledger(cluster.ledger(copied), cluster.ledger(joining));
    for index in [copied, joining] {
        cluster.start_node(index);
        await_healthy(cluster.node(index)).await;
    }
    let transfer = cluster.transfer(&chain, 0, sequence_number);
    cluster.commit(0, &transfer).await;
    cluster.await_at(joining, &transfer).await;
}

/// Replaces the ledger of a stopped node by that of another.
fn copy_ledger(from: &Path, to: &Path) {
    let (from, to) = (from.join("data"), to.join("data"));
    fs::remove_dir_all(&to).unwrap();
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A validator's directory that lost its key must not become that of a full node, and a key of
/// another chain must not make a node that never votes.
#[actix_web::test]
async fn a_validator_without_its_key_does_not_start() {
    let mut cluster = Cluster::start();
    cluster.stop(3);
    let key = cluster.keys(3).join("validator.key");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let output = rejected(&cluster, 3);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("validator.key is missing, but this is the directory of a validator"),
        "{message}"
    );
    fs::copy(cluster.keys(3).join("network.key"), &key).unwrap();
    let output = rejected(&cluster, 3);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("is no validator of the genesis"),
        "{message}"
    );
    fs::write(&key, kept).unwrap();
    cluster.start_node(3);
}
