//! Ends of the node while it prunes, and other windows after a restart.

use super::{
    load::{pay, start_watch},
    reads::Reader,
    under_load::check_window,
    watch::Watch,
};
use fastrand::Rng;
use ledger_test_support::{
    http::NodeClient,
    node::{TestNode, bench_report, start_bench, until},
};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Options of a load with more transfers than any test waits for.
const LOAD: &str = "--transfers 1000000 --accounts 32 --connections 16";
/// Number of times that a node is ended and restarted.
const ENDS: u64 = 3;

/// Starts readers and a payer. They end with the watch or the node.
fn clients(node: &NodeClient, watch: &Arc<Watch>, seed: u64) -> Vec<JoinHandle<()>> {
    let reader = |number: u64| Reader {
        node: node.clone(),
        watch: Arc::clone(watch),
        random: Rng::with_seed(seed + number),
    };
    let mut clients = vec![tokio::spawn(pay(node.clone(), Arc::clone(watch)))];
    clients.extend((0..3).map(|number| tokio::spawn(reader(number).run())));
    clients
}

/// Waits until the oldest version is above `version`.
async fn until_oldest_is_above(node: &NodeClient, watch: &Watch, version: u64) {
    until("pruning", || async {
        let response = watch.get(node, "ledger", "/v1".to_owned()).await?;
        (response.bounds.oldest_version > version).then_some(())
    })
    .await;
}

/// Ends a node several times while it prunes under load. After each start the window must be
/// complete and no pruned version may be back: every response is checked against the highest known
/// bounds.
async fn end_while_it_prunes(settings: &[&str], end: fn(&mut TestNode)) {
    let mut node = TestNode::start(settings);
    let watch = start_watch(&node, 300).await;
    for round in 0..ENDS {
        let mut load = start_bench(&node, LOAD);
        let clients = clients(&node, &watch, round * 100);
        let start = watch.bounds().oldest_version;
        until_oldest_is_above(&node, &watch, start + 700).await;
        end(&mut node);
        load.kill().unwrap();
        load.wait().unwrap();
        for client in clients {
            client.await.unwrap();
        }
        node = node.restart();
        check_window(&node, &watch).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn has_a_complete_window_after_a_kill_while_it_prunes() {
    let settings = ["pruner.window_versions=300", "pruner.batch_versions=50"];
    end_while_it_prunes(&settings, TestNode::kill).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn has_a_complete_window_after_a_stop_while_it_prunes() {
    let settings = ["pruner.window_versions=300", "pruner.batch_versions=50"];
    end_while_it_prunes(&settings, |node| assert!(node.stop("TERM").success())).await;
}

/// The window has one version and the blocks have many. The newest block stays complete, and the
/// oldest version is always the first of a block.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeps_the_newest_block_with_a_window_smaller_than_a_block() {
    let settings = ["pruner.window_versions=1", "pruner.batch_versions=1"];
    end_while_it_prunes(&settings, TestNode::kill).await;
}

/// A node that had not pruned is restarted with pruning. It prunes in steps and commits meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prunes_a_backlog_in_steps_while_it_commits() {
    const STEP: u64 = 20;
    let node = TestNode::start(&["pruner.enabled=false"]);
    let watch = start_watch(&node, 100).await;
    let load = start_bench(&node, "--transfers 4000 --accounts 64 --connections 32");
    bench_report(load).await;
    let newest = watch
        .get(&node, "ledger", "/v1".to_owned())
        .await
        .unwrap()
        .bounds;
    assert_eq!(newest.oldest_version, 0);
    let mut node = node;
    assert!(node.stop("TERM").success());
    let step = format!("pruner.batch_versions={STEP}");
    let node = node.restart_with(&["pruner.window_versions=100", &step]);
    let clients = clients(&node, &watch, 1);
    // The backlog is pruned although only the payer commits.
    until_oldest_is_above(&node, &watch, newest.version - 200).await;
    watch.finish();
    for client in clients {
        client.await.unwrap();
    }
    assert!(
        watch.known().transfers().len() > 1,
        "no commit while the backlog was pruned"
    );
    check_window(&node, &watch).await;
}

/// Pruned versions stay pruned in a larger window, and no version is pruned until it is full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeps_pruned_versions_pruned_with_a_larger_window() {
    let node = TestNode::start(&["pruner.window_versions=100", "pruner.batch_versions=50"]);
    let watch = start_watch(&node, 100).await;
    let clients = clients(&node, &watch, 1);
    until_oldest_is_above(&node, &watch, 100).await;
    let mut node = node;
    assert!(node.stop("TERM").success());
    for client in clients {
        client.await.unwrap();
    }
    let node = node.restart_with(&["pruner.window_versions=1000000", "pruner.batch_versions=50"]);
    let oldest = check_window(&node, &watch).await;
    let clients = self::clients(&node, &watch, 2);
    let start = watch.bounds().version;
    until("more versions", || async {
        let response = watch.get(&node, "ledger", "/v1".to_owned()).await?;
        (response.bounds.version > start + 300).then_some(())
    })
    .await;
    watch.finish();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(check_window(&node, &watch).await, oldest);
}
