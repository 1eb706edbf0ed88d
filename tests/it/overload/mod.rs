//! Ten times what a node takes, in two modes. In the one it makes blocks of one transaction, so that the disk
//! decides what it takes; its pool is small, so that it is full at once. In the other it has its built-in
//! settings, and the processor decides: all transactions have 32 passkeys, so that the check of their
//! signatures is nearly all of the work, and their lanes are full. In both a few tasks can offer ten times as
//! much as it takes, on the cores that it has itself.
//!
//! Three phases of one run: as much as it takes, which gives the peak; ten times the peak in an open loop,
//! without a pause after refusals; nothing, until the first submission is committed.
//!
//! `OVERLOAD_SECS` is how long the second phase lasts (5). With it the run also holds the node to its figures,
//! which need a machine that does nothing else and a release build: `benches/overload` is the command.

mod figures;
mod load;
mod observers;
mod passkeys;

use crate::kit::{TestAccount, TestNode, until};
use figures::{Figures, allowed_bytes};
use futures::future::join_all;
use ledger_vm::Chain;
use load::{Load, Wallet};
use observers::Observers;
use passkeys::Passkeys;
use std::{
    env,
    time::{Duration, Instant},
};

/// How many times the peak is offered.
const FACTOR: f64 = 10.0;
/// How long without `OVERLOAD_SECS`.
const SECS_DEFAULT: u64 = 5;

/// What decides how much the node takes.
pub struct Mode {
    name: &'static str,
    settings: &'static [&'static str],
    wallet: fn(u64) -> Wallet,
    /// How many accounts send, each over a connection of its own.
    senders: u64,
    /// As many as find the peak: enough to keep it at work, and too few to be refused.
    senders_at_peak: usize,
    /// How many transactions are before the one that waits longest, where it is accepted.
    waiting_max: f64,
}

/// The disk decides; the pool is full, and is worked off by turns.
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
    wallet: |number| Wallet::Plain(TestAccount::from_seed(number)),
    senders: 100,
    senders_at_peak: 8,
    waiting_max: 400.0,
};

/// The processor decides; a lane of signature checks is full with 62 of these transactions, and a new client's
/// has a quarter of the time.
const PROCESSOR: Mode = Mode {
    name: "32 passkeys each",
    settings: &[],
    wallet: |number| Wallet::Dear(Passkeys::from_seed(number)),
    senders: 300,
    senders_at_peak: 8,
    waiting_max: 4.0 * 62.0,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_what_the_disk_takes_is_refused_and_nothing_accepted_is_lost() {
    overload(&DISK).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_what_the_processor_takes_is_refused_and_nothing_accepted_is_lost() {
    overload(&PROCESSOR).await;
}

async fn overload(mode: &Mode) {
    let asked = env::var("OVERLOAD_SECS").ok();
    let secs = asked
        .as_ref()
        .map_or(SECS_DEFAULT, |secs| secs.parse().unwrap());
    let length = Duration::from_secs(secs);
    let node = TestNode::start(mode.settings);
    let chain = node.chain().await;
    let wallets: Vec<_> = (0..mode.senders).map(mode.wallet).collect();
    let late = TestAccount::from_seed(mode.senders);
    let accounts = wallets.iter().map(Wallet::account).chain([&late]);
    join_all(accounts.map(|account| node.fund(account, 1_000_000_000_000_000))).await;

    let load = Load::new(&node, &chain, wallets);
    let peak = load.run(mode.senders_at_peak, None, length / 2).await;
    // What the few have pending would be worked off by turns with the many.
    assert_eq!(
        peak.unexplained(&node).await,
        [""; 0],
        "accepted and neither committed nor left"
    );
    let peak_rate = peak.committed_per_second();
    let observers = Observers::start(&node);
    let (over, recovery) = tokio::join!(
        load.run(load.senders(), Some(FACTOR * peak_rate), length),
        recovery(&node, &chain, &late, length)
    );
    let seen = observers.stop().await;
    let figures = Figures {
        mode,
        peak_rate,
        over: &over,
        seen: &seen,
        recovery,
        resident: node.resident_bytes_peak(),
        allowed: allowed_bytes(&node),
    };
    figures.print();
    figures.hold(&node).await;
    if asked.is_some() {
        figures.hold_rates();
    }
}

/// How long after the load, which lasts for `length` from now, somebody who was not there before has a
/// transaction committed.
async fn recovery(
    node: &TestNode,
    chain: &Chain,
    late: &TestAccount,
    length: Duration,
) -> Duration {
    tokio::time::sleep(length).await;
    let begun = Instant::now();
    let transfer = late.transfer(chain, 0, late.address, 1);
    let hash = until("a transaction to be taken", || async {
        let answer = node.try_submit(&transfer).await?;
        (answer.status == 202).then(|| transfer.hash(chain.vendor()))
    })
    .await;
    node.try_wait(&hash).await.unwrap();
    begun.elapsed()
}

/// Whether a transaction is committed, or why it is not; `None` where the node says neither.
async fn explained(node: &TestNode, hash: &str) -> Option<()> {
    let path = format!("/v1/transactions/by_hash/{hash}");
    let answer = until("a transaction to be decided", || async {
        let answer = node.get(&path).await;
        (answer.json["type"] != "pending_transaction").then_some(answer)
    })
    .await;
    let left = answer.json["message"].as_str().is_some_and(|message| {
        // A reason stands behind the hash.
        message
            .split_once("Transaction hash(")
            .is_some_and(|(_, rest)| rest.contains("): "))
    });
    (answer.status == 200 || left).then_some(())
}
