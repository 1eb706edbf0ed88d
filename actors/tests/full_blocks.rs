//! Tests of a whole node whose batches exceed the capacity of a block. No accepted transaction
//! may be lost.

use crate::CLIENT;
use ledger_actors::{Clock, Node, NodeConfig, NodeHandle, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_limits::{Demand, Work, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_test_support::{Wallet, store::open_store_with};
use ledger_types::{BlockInfo, CheckedTransaction, DiscardedTransaction, Parameters};
use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    thread::{self, ThreadId},
    time::{SystemTime, UNIX_EPOCH},
};

/// Returns parameters of a chain whose blocks have too little gas for the transactions of a
/// batch.
fn small_block_parameters() -> Parameters {
    Parameters {
        block_gas_max: 1_000,
        ..Parameters::default()
    }
}

/// A clock that can block the threads of a node.
///
/// While the gate is shut, a thread blocks if it has not read the clock earlier. The sequencer
/// reads the clock once it has the transactions of a block, so a blocked sequencer lets the pool
/// fill. This requires that mempool, sequencer and storage run on threads of their own.
#[derive(Default)]
struct ClockGate {
    /// The threads that may read the clock while the gate is shut, and whether it is shut.
    readers: Mutex<(HashSet<ThreadId>, bool)>,
    opened: Condvar,
}

impl ClockGate {
    fn clock(self: &Arc<Self>) -> Clock {
        let gate = Arc::clone(self);
        Clock::new(move || {
            let id = thread::current().id();
            let mut readers = gate.readers.lock().unwrap();
            if readers.1 && !readers.0.contains(&id) {
                readers = gate
                    .opened
                    .wait_while(readers, |(_, is_shut)| *is_shut)
                    .unwrap();
            }
            readers.0.insert(id);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            now.as_micros().try_into().unwrap()
        })
    }

    fn shut(&self) {
        self.readers.lock().unwrap().1 = true;
    }

    fn open(&self) {
        self.readers.lock().unwrap().1 = false;
        self.opened.notify_all();
    }
}

async fn start_with_small_blocks(directory: &Path, clock: Clock) -> Node {
    let (chain, store) = open_store_with(directory, small_block_parameters());
    let mut config = NodeConfig::default();
    // Long enough that only a commit ends a wait within the time of a test.
    config.wait.timeout_ms = 60_000;
    config.actors.threads = 3;
    let node = Node::start_with_clock(chain, store, Some(directory), config, clock);
    node.await.expect("the node starts")
}

/// Submits `per_account` transfers of every funded account with the gate shut, and returns their
/// hashes by account. The pool holds all of them before the first block is ordered.
async fn submit_many(
    handle: &NodeHandle,
    gate: &ClockGate,
    per_account: usize,
) -> Vec<Vec<HashValue>> {
    gate.readers.lock().unwrap().0.clear();
    let mut all = Vec::new();
    for mut wallet in Wallet::development() {
        let to = wallet.address;
        let transfers: Vec<_> = (0..per_account)
            .map(|_| wallet.transfer(handle.chain(), to, 1))
            .collect();
        let hashes = transfers.iter().map(CheckedTransaction::hash).collect();
        // The second transfer is submitted first and has to wait for the first one. The threads
        // that process it read the clock, so the gate does not block them.
        let mut order = transfers;
        order.swap(0, 1);
        for transfer in order {
            handle
                .submit(transfer, CLIENT)
                .await
                .expect("it is accepted");
            gate.shut();
        }
        all.push(hashes);
    }
    assert_eq!(handle.head().ledger_info().block_height, 0);
    gate.open();
    all
}

/// Waits for all transactions concurrently. Checks that they succeeded, and that the versions of
/// each account ascend.
async fn wait_for_all(handle: &NodeHandle, by_account: &[Vec<HashValue>]) {
    let waits = by_account.iter().map(|hashes| {
        let wait = |&hash: &HashValue| {
            let handle = handle.clone();
            actix::spawn(async move { handle.wait_for_commit(hash, CLIENT).await })
        };
        hashes.iter().map(wait).collect::<Vec<_>>()
    });
    for account in waits.collect::<Vec<_>>() {
        let mut newest = 0;
        for wait in account {
            let (_, lookup) = wait.await.expect("no panic").expect("the node runs");
            let TransactionStatus::Committed(committed) = lookup else {
                panic!("{lookup:?}");
            };
            assert!(committed.content().unwrap().info.v0().status.is_success());
            assert!(
                committed.version > newest,
                "transactions commit in the order of their account"
            );
            newest = committed.version;
        }
    }
}

#[actix::test]
async fn commits_excess_transactions_in_later_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Arc::new(ClockGate::default());
    let node = start_with_small_blocks(directory.path(), gate.clock()).await;
    let handle = node.handle();
    let submitted = submit_many(&handle, &gate, 90).await;
    wait_for_all(&handle, &submitted).await;
    let info = *handle.head().ledger_info();
    let count = (submitted.len() * 90) as u64;
    // A transfer uses about 50 units of gas, so a block holds about twenty.
    assert!(info.block_height >= count / 25, "{info:?}");
    let blocks = move |snapshot: &Snapshot| {
        let heights = 1..=info.block_height;
        let blocks = heights.map(|height| snapshot.block(height));
        blocks.collect::<Result<Vec<_>, StoreError>>()
    };
    let blocks: Vec<BlockInfo> = handle
        .read(Work::of_node(WorkKind::Page, Demand::rows(0)), blocks)
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
    let has_left_out = |block: &BlockInfo| {
        block
            .discarded
            .iter()
            .any(DiscardedTransaction::is_not_included)
    };
    assert!(blocks.iter().any(has_left_out));
    node.stop().await.unwrap();
}

#[actix::test]
async fn transactions_left_out_of_full_blocks_survive_a_stop() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Arc::new(ClockGate::default());
    let node = start_with_small_blocks(directory.path(), gate.clock()).await;
    let submitted = submit_many(&node.handle(), &gate, 90).await;
    node.stop().await.unwrap();
    let node = start_with_small_blocks(directory.path(), Clock::default()).await;
    wait_for_all(&node.handle(), &submitted).await;
    node.stop().await.unwrap();
}
