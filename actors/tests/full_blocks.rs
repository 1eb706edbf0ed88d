//! A whole node whose blocks hold less than is ordered for them: nothing that was accepted is lost.

#[path = "../testing/wallet.rs"]
#[allow(dead_code)]
mod wallet;

use ledger::{BlockInfo, DiscardedTransaction, HashValue, Parameters};
use ledger_actors::{Lookup, Node, NodeConfig, NodeHandle};
use ledger_store::{Snapshot, StoreError};
use std::path::Path;
use wallet::{development_with, funded};

/// Blocks that hold fewer transactions than are ordered for them, by their work.
fn narrow() -> Parameters {
    Parameters {
        block_gas_max: 1_000,
        ..Parameters::default()
    }
}

async fn start_narrow(directory: &Path) -> Node {
    let (chain, store) = development_with(directory, narrow());
    let mut config = NodeConfig::default();
    // The waits end by commitment or not at all, as far as a test can see.
    config.wait.timeout_ms = 60_000;
    let node = Node::start(chain, store, Some(directory), config);
    node.await.expect("the node starts")
}

/// Submits the same number of transfers of every funded account, and gives their hashes by account.
async fn submit_many(handle: &NodeHandle, each: usize) -> Vec<Vec<HashValue>> {
    let mut all = Vec::new();
    for mut wallet in funded() {
        let to = wallet.address;
        let mut hashes = Vec::new();
        for _ in 0..each {
            let transfer = wallet.transfer(handle.chain(), to, 1);
            hashes.push(transfer.hash());
            handle.submit(transfer).await.expect("it is accepted");
        }
        all.push(hashes);
    }
    all
}

/// Waits for all of these at once; each is answered with its version, ascending for an account.
async fn wait_for_all(handle: &NodeHandle, by_account: &[Vec<HashValue>]) {
    let waits = by_account.iter().map(|hashes| {
        let wait = |&hash: &HashValue| {
            let handle = handle.clone();
            actix::spawn(async move { handle.wait_for_commit(hash).await })
        };
        hashes.iter().map(wait).collect::<Vec<_>>()
    });
    for account in waits.collect::<Vec<_>>() {
        let mut newest = 0;
        for wait in account {
            let (_, lookup) = wait.await.expect("no panic").expect("the node runs");
            let Lookup::Committed(committed) = lookup else {
                panic!("{lookup:?}");
            };
            assert!(committed.transaction().info.v0().status.is_success());
            assert!(committed.version > newest, "in the order of the account");
            newest = committed.version;
        }
    }
}

#[actix::test]
async fn more_work_than_a_block_holds_is_committed_over_several_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let node = start_narrow(directory.path()).await;
    let handle = node.handle();
    let submitted = submit_many(&handle, 90).await;
    wait_for_all(&handle, &submitted).await;
    let info = *handle.head().ledger_info();
    let count = (submitted.len() * 90) as u64;
    // At some 50 units each, a block holds about twenty.
    assert!(info.block_height >= count / 25, "{info:?}");
    let blocks = move |snapshot: &Snapshot| {
        let heights = 1..=info.block_height;
        let blocks = heights.map(|height| snapshot.block(height));
        blocks.collect::<Result<Vec<_>, StoreError>>()
    };
    let blocks: Vec<BlockInfo> = handle
        .read(blocks)
        .await
        .unwrap()
        .1
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(blocks.len() as u64, info.block_height);
    assert!(
        blocks
            .iter()
            .all(|block| block.last_version - block.first_version < 27)
    );
    let left_out = |block: &BlockInfo| block.discarded.iter().any(DiscardedTransaction::is_left_out);
    assert!(blocks.iter().any(left_out));
    node.stop().await.unwrap();
}

#[actix::test]
async fn what_full_blocks_left_out_outlives_a_stop() {
    let directory = tempfile::tempdir().unwrap();
    let node = start_narrow(directory.path()).await;
    let submitted = submit_many(&node.handle(), 90).await;
    node.stop().await.unwrap();
    let node = start_narrow(directory.path()).await;
    wait_for_all(&node.handle(), &submitted).await;
    node.stop().await.unwrap();
}
