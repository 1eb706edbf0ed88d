//! Ten times the load that a node can commit, in two modes.
//!
//! In the first mode the disk is the bottleneck: blocks have one transaction, and the mempool is
//! small, so that it fills immediately. In the second mode it is the processor: the node has its
//! default settings, and all transactions have 32 passkeys, so that checks of signatures are nearly
//! all of the work and their queues are full. In both modes a few tasks can offer ten times as much
//! as the node commits, on the same cores.
//!
//! A run has three phases: as much load as the node commits, which measures the peak; ten times the
//! peak in an open loop, without a pause after rejections; and no load, until the first submission
//! after it is committed.
//!
//! `OVERLOAD_SECS` is the duration of the second phase (5). If it is set, the run also checks the
//! node's figures, which needs a release build on a machine without other work: `benches/overload`
//! is the command.

mod figures;
mod load;
mod observers;
pub mod passkeys;

use figures::{Figures, allowed_bytes};
use futures::future::join_all;
use ledger_test_support::{
    TestAccount,
    node::{TestNode, until},
};
use ledger_vm::Chain;
use load::{Load, Signer};
use observers::observe;
use passkeys::Passkeys;
use std::{
    cell::Cell,
    env,
    time::{Duration, Instant},
};

/// Ratio of the offered load to the peak.
const FACTOR: f64 = 10.0;
/// Funds of each account, enough for every fee.
const FUNDS: u64 = 1_000_000_000_000_000;
/// The default of `OVERLOAD_SECS`.
const SECS_DEFAULT: u64 = 5;

/// A bottleneck of the node, and the load that reaches it.
pub struct Mode {
    name: &'static str,
    settings: &'static [&'static str],
    signer: fn(u64) -> Signer,
    /// Number of accounts that send, each over a connection of its own.
    senders: u64,
    /// Number of senders that measure the peak: enough to keep the node busy, and too few for
    /// rejections.
    senders_at_peak: usize,
    /// Maximum number of transactions that are committed before an accepted one.
    waiting_max: f64,
}

/// The disk is the bottleneck. The mempool is full, and its accounts take turns.
const DISK: Mode = Mode {
    name: "blocks of one",
    settings: &[
        "sequencer.block_transactions_max=1",
        "sequencer.blocks_in_flight_max=1",
        "mempool.capacity_transactions=400",
        "mempool.capacity_bytes=4194304",
        "api.bodies_bytes_max=33554432",
        "api.answers_bytes_max=33554432",
        "api.max_connections=1000",
        "api.max_in_flight=900",
        "wait.capacity=500",
        "storage.cache_bytes=67108864",
    ],
    signer: |number| Box::new(TestAccount::from_seed(number)),
    senders: 100,
    senders_at_peak: 8,
    waiting_max: 400.0,
};

/// The processor is the bottleneck. A queue of signature checks is full with 62 of these
/// transactions, and the queue of new clients gets a quarter of the time.
const PROCESSOR: Mode = Mode {
    name: "32 passkeys each",
    settings: &[],
    signer: |number| Box::new(Passkeys::from_seed(number)),
    senders: 300,
    senders_at_peak: 8,
    waiting_max: 4.0 * 62.0,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejects_ten_times_the_load_of_the_disk_and_loses_nothing_accepted() {
    overload(&DISK).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejects_ten_times_the_load_of_the_processor_and_loses_nothing_accepted() {
    overload(&PROCESSOR).await;
}

/// Runs the three phases of a mode, and checks them.
async fn overload(mode: &Mode) {
    let secs_text = env::var("OVERLOAD_SECS").ok();
    let secs = secs_text
        .as_ref()
        .map_or(SECS_DEFAULT, |secs| secs.parse().unwrap());
    let length = Duration::from_secs(secs);
    let node = TestNode::start(mode.settings);
    let chain = node.chain().await;
    let signers: Vec<_> = (0..mode.senders).map(mode.signer).collect();
    let late_account = TestAccount::from_seed(mode.senders);
    join_all(signers.iter().map(|signer| node.fund(&**signer, FUNDS))).await;
    node.fund(&late_account, FUNDS).await;

    let load = Load::new(&node, &chain, signers);
    let peak = load.run(mode.senders_at_peak, None, length / 2).await;
    // The pending transactions of these few senders would take turns with those of the second
    // phase.
    assert_eq!(
        peak.unexplained(&node).await,
        [""; 0],
        "accepted and neither committed nor removed with a reason"
    );
    let peak_rate = peak.committed_per_second();
    let is_over = Cell::new(false);
    let phases = async {
        let phases = tokio::join!(
            load.run(load.senders(), Some(FACTOR * peak_rate), length),
            recovery(&node, &chain, &late_account, length)
        );
        is_over.set(true);
        phases
    };
    let ((overload, recovery), health, admin) = tokio::join!(
        phases,
        observe("health", format!("{}/v1/-/healthy", node.api), &is_over),
        observe("admin", format!("{}/actors", node.admin), &is_over)
    );
    let figures = Figures {
        mode,
        peak_rate,
        overload: &overload,
        observations: &[health, admin],
        recovery,
        resident: node.resident_bytes_peak(),
        allowed: allowed_bytes(&node),
    };
    figures.print();
    figures.check(&node).await;
    if secs_text.is_some() {
        figures.check_rates();
    }
}

/// Returns the time from the end of the load, which lasts for `length` from now, to the commit of a
/// new client's first transaction.
async fn recovery(
    node: &TestNode,
    chain: &Chain,
    late_account: &TestAccount,
    length: Duration,
) -> Duration {
    tokio::time::sleep(length).await;
    let start = Instant::now();
    let transfer = late_account.transfer(chain, 0, late_account.address, 1);
    let hash = until("an accepted transaction", || async {
        let response = node.try_submit(&transfer).await?;
        (response.status == 202).then(|| transfer.hash(chain.vendor()))
    })
    .await;
    node.try_wait(&hash).await.unwrap();
    start.elapsed()
}
