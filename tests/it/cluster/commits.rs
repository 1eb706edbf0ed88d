//! Commits while all validators run and without some of them.

use super::kit::{Cluster, VALIDATORS};
use crate::metrics::Scrape;
use ledger_test_support::node::{DiskOperation, SlowDisk, bench_report, start_bench, until};
use std::sync::Arc;

#[actix_web::test]
async fn validators_commit_what_each_of_them_receives() {
    let cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    for index in 0..VALIDATORS {
        let transfer = cluster.transfer(&chain, index, 0);
        cluster.commit(index, &transfer).await;
        for other in 0..VALIDATORS {
            cluster.await_at(other, &transfer).await;
        }
    }
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn continues_without_one_validator_which_catches_up() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    cluster.commit(0, &cluster.transfer(&chain, 0, 0)).await;
    cluster.kill(3);
    let mut newest = None;
    for number in 1..4 {
        let transfer = cluster.transfer(&chain, 0, number);
        cluster.commit(1, &transfer).await;
        newest = Some(transfer);
    }
    cluster.start_node(3);
    cluster.await_at(3, &newest.unwrap()).await;
    let transfer = cluster.transfer(&chain, 1, 0);
    cluster.commit(3, &transfer).await;
    cluster.assert_same_blocks().await;
}

#[actix_web::test]
async fn two_of_four_decide_nothing_and_continue_with_the_third() {
    let mut cluster = Cluster::start();
    let chain = cluster.node(0).chain().await;
    let first = cluster.transfer(&chain, 0, 0);
    cluster.commit(0, &first).await;
    for index in 0..VALIDATORS {
        cluster.await_at(index, &first).await;
    }
    cluster.kill(2);
    cluster.kill(3);
    let transfer = cluster.transfer(&chain, 1, 0);
    let hash = cluster.node(0).submit(&transfer).await;
    let path = format!("/v1/transactions/wait_by_hash/{hash}?timeout_ms=3000");
    let waited = cluster.node(0).get(&path).await;
    assert_eq!(waited.json["type"], "pending_transaction");
    cluster.start_node(2);
    cluster.await_at(0, &transfer).await;
    cluster.await_at(2, &transfer).await;
    cluster.assert_same_blocks().await;
}

/// The faucet of one validator funds the accounts, which `bench` uses at another one.
#[actix_web::test]
async fn bench_waits_for_a_validator_that_is_behind_the_faucet() {
    let Some(disk) = SlowDisk::new() else {
        return;
    };
    let disk = Arc::new(disk);
    let cluster = Cluster::start_on(&disk, 3, &[]);
    disk.hang(DiskOperation::Sync, "ledger.log");
    // The counter is served from the first request on.
    cluster.node(3).get("/v1").await;
    let mut target = (**cluster.node(3)).clone();
    target.faucet.clone_from(&cluster.node(0).faucet);
    let bench = start_bench(&target, "--transfers 20 --accounts 4 --connections 4");
    until("a wait for the payment", || async {
        let labels = [("route", "/v1/transactions/wait_by_hash/{txn_hash}")];
        let waits = Scrape::of(cluster.node(3)).await;
        (waits.sum("ledger_http_requests_total", &labels) > 0.0).then_some(())
    })
    .await;
    disk.release(DiskOperation::Sync);
    let report = bench_report(bench).await;
    assert_eq!(report["committed"], 20, "{report}");
}
