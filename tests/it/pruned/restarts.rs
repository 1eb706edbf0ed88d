//! Ends in the middle of pruning, and windows that are others after a restart.

use super::{
    load::{bench, pay, watch},
    reads::Reader,
    under_load::check_window,
    watch::Watch,
};
use crate::kit::{NodeClient, TestNode, until};
use fastrand::Rng;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// How many transfers a load has at least: more than any test waits for.
const TRANSFERS: &str = "1000000";
/// How often a node is ended and started again.
const ENDS: u64 = 3;

/// Starts readers and a payer, which end with the watch or the node.
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

async fn until_oldest_is_above(node: &NodeClient, watch: &Watch, version: u64) {
    until("pruning", || async {
        let told = watch.ask(node, "ledger", "/v1".to_owned()).await?;
        (told.moment.oldest_version > version).then_some(())
    })
    .await;
}

/// Under load a node is ended several times while it prunes. After each start nothing that was gone is back
/// (every answer is held against the newest moment ever told), and the window is whole.
async fn ends_while_it_prunes(settings: &[&str], end: fn(&mut TestNode)) {
    let mut node = TestNode::start(settings);
    let watch = watch(&node, 300).await;
    for round in 0..ENDS {
        let load = [
            "--transfers",
            TRANSFERS,
            "--accounts",
            "32",
            "--connections",
            "16",
        ];
        let mut load = bench(&node, &load);
        let clients = clients(&node, &watch, round * 100);
        let begun = watch.moment().oldest_version;
        until_oldest_is_above(&node, &watch, begun + 700).await;
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
async fn killed_in_the_middle_of_pruning() {
    let settings = ["pruner.window_versions=300", "pruner.batch_versions=50"];
    ends_while_it_prunes(&settings, TestNode::kill).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_in_the_middle_of_pruning() {
    let settings = ["pruner.window_versions=300", "pruner.batch_versions=50"];
    ends_while_it_prunes(&settings, |node| assert!(node.stop("TERM").success())).await;
}

/// A window of one version, and blocks of many: the newest block stays whole, and the oldest version is
/// always a block's first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_smaller_than_a_block_keeps_the_newest_block() {
    let settings = ["pruner.window_versions=1", "pruner.batch_versions=1"];
    ends_while_it_prunes(&settings, TestNode::kill).await;
}

/// A node that kept everything and is told to prune does so in steps, and commits go on meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_goes_in_steps_beside_the_commits() {
    const STEP: u64 = 20;
    let node = TestNode::start(&["pruner.enabled=false"]);
    let watch = watch(&node, 100).await;
    let load = [
        "--transfers",
        "4000",
        "--accounts",
        "64",
        "--connections",
        "32",
    ];
    let load = tokio::task::spawn_blocking({
        let load = bench(&node, &load);
        || load.wait_with_output().unwrap()
    });
    assert!(load.await.unwrap().status.success());
    let newest = watch
        .ask(&node, "ledger", "/v1".to_owned())
        .await
        .unwrap()
        .moment;
    assert_eq!(newest.oldest_version, 0);
    let mut node = node;
    assert!(node.stop("TERM").success());
    let step = format!("pruner.batch_versions={STEP}");
    let node = node.restart_with(&["pruner.window_versions=100", &step]);
    let clients = clients(&node, &watch, 1);
    // The backlog goes although nobody but the payer commits.
    until_oldest_is_above(&node, &watch, newest.version - 200).await;
    watch.finish();
    for client in clients {
        client.await.unwrap();
    }
    assert!(
        watch.known().transfers().len() > 1,
        "no commit while the backlog went"
    );
    check_window(&node, &watch).await;
}

/// What is gone stays gone when the window becomes larger, and nothing goes until it is full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_larger_window_brings_nothing_back() {
    let node = TestNode::start(&["pruner.window_versions=100", "pruner.batch_versions=50"]);
    let watch = watch(&node, 100).await;
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
    let begun = watch.moment().version;
    until("more versions", || async {
        let told = watch.ask(&node, "ledger", "/v1".to_owned()).await?;
        (told.moment.version > begun + 300).then_some(())
    })
    .await;
    watch.finish();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(check_window(&node, &watch).await, oldest);
}
