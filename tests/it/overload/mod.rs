//! Ten times what a node takes. The node makes blocks of one transaction, so that the disk decides what it
//! takes and a few tasks can offer ten times as much; its pool is small, so that it is full at once.
//!
//! Three phases of one run: as much as it takes, which gives the peak; ten times the peak in an open loop,
//! without a pause after refusals; nothing, until the first submission is committed.
//!
//! `OVERLOAD_SECS` is how long the second phase lasts (5). With it the run also holds the node to its figures,
//! which need a machine that does nothing else and a release build: `benches/overload` is the command.

mod load;
mod observers;

use crate::kit::{Account, TestNode, until};
use futures::future::join_all;
use load::{Load, Outcome};
use observers::{Observers, Seen};
use std::{
    env,
    time::{Duration, Instant},
};

/// How many accounts send, each over a connection of its own.
const SENDERS: u64 = 100;
/// As many as find the peak: fewer than fill the pool with what one account may have there.
const SENDERS_AT_PEAK: usize = 8;
/// How many times the peak is offered.
const FACTOR: f64 = 10.0;
/// How many transactions the pool holds.
const POOL: f64 = 400.0;
/// How long without `OVERLOAD_SECS`.
const SECS_DEFAULT: u64 = 5;

const SETTINGS: &[&str] = &[
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
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_what_it_takes_is_refused_and_nothing_accepted_is_lost() {
    let asked = env::var("OVERLOAD_SECS").ok();
    let secs = asked.as_ref().map_or(SECS_DEFAULT, |secs| secs.parse().unwrap());
    let length = Duration::from_secs(secs);
    let node = TestNode::start(SETTINGS);
    let chain = node.chain().await;
    let accounts: Vec<_> = (0..=SENDERS).map(Account::from_seed).collect();
    join_all(
        accounts
            .iter()
            .map(|account| node.fund(account, 1_000_000_000_000_000)),
    )
    .await;
    let (senders, late) = (&accounts[..SENDERS as usize], &accounts[SENDERS as usize]);

    let load = Load::new(&node, &chain, senders);
    let peak = load.run(SENDERS_AT_PEAK, None, length / 2).await;
    let peak_rate = peak.committed_per_second();
    // What the few have pending would be worked off by turns with the many.
    assert_eq!(
        peak.unexplained(&node).await,
        [""; 0],
        "accepted and neither committed nor left"
    );
    let observers = Observers::start(&node);
    let over = load.run(senders.len(), Some(FACTOR * peak_rate), length).await;
    let begun = Instant::now();
    node.submit_and_wait(&late.transfer(&chain, 0, late.address, 1))
        .await;
    let recovery = begun.elapsed();
    let seen = observers.stop().await;
    let resident = node.resident_bytes_peak();

    let figures = Figures {
        peak_rate,
        over: &over,
        seen: &seen,
        recovery,
        resident,
        allowed: allowed_bytes(&node),
    };
    figures.print();
    assert!(over.refused > 0 && over.accepted > 0, "it was no overload");
    assert_eq!(
        over.others, [""; 0],
        "answers that are neither 202 nor a refusal with Retry-After"
    );
    assert!(seen.all_answered(), "{seen:?}");
    assert!(
        figures.resident <= figures.allowed,
        "more memory than the limits allow"
    );
    assert_eq!(
        over.unexplained(&node).await,
        [""; 0],
        "accepted and neither committed nor left"
    );
    if asked.is_some() {
        figures.hold();
    }
}

/// What the settings allow, as the node says it.
fn allowed_bytes(node: &TestNode) -> usize {
    let log = node.log();
    let (_, rest) = log.split_once("memory_bytes_max=").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// What a run showed.
struct Figures<'a> {
    peak_rate: f64,
    over: &'a Outcome,
    seen: &'a Seen,
    recovery: Duration,
    resident: usize,
    allowed: usize,
}

impl Figures<'_> {
    #[allow(clippy::print_stdout, reason = "the figures are what a long run is for")]
    fn print(&self) {
        const MIB: usize = 1024 * 1024;
        let over = self.over;
        println!(
            "peak {:.0} committed/s; offered {:.0}/s ({:.1} times the peak) for {:.0} s: committed {:.0}/s ({:.0} % of \
             the peak), accepted {}, refused {} (503: {}, 507: {}), all with Retry-After",
            self.peak_rate,
            over.offered_per_second(),
            over.offered_per_second() / self.peak_rate,
            over.elapsed.as_secs_f64(),
            over.committed_per_second(),
            100.0 * over.committed_per_second() / self.peak_rate,
            over.accepted,
            over.refused,
            over.refused - over.pool_full,
            over.pool_full,
        );
        println!(
            "accepted to committed: p50 {} ms, p99 {} ms, longest {} ms, of {}; refusals p99 {} ms",
            over.commit_quantile_ms(0.5),
            over.commit_quantile_ms(0.99),
            over.commit_quantile_ms(1.0),
            over.commit_latencies_ms.len(),
            over.refusal_quantile_ms(0.99),
        );
        println!("{}", self.seen.line());
        println!(
            "resident {} MiB at most, the limits allow {} MiB; first submission committed {} ms after the load",
            self.resident / MIB,
            self.allowed / MIB,
            self.recovery.as_millis(),
        );
    }

    /// What only a machine without other work shows.
    fn hold(&self) {
        let over = self.over;
        assert!(
            over.offered_per_second() >= 9.0 * self.peak_rate,
            "offered too little"
        );
        assert!(over.committed_per_second() >= 0.8 * self.peak_rate, "throughput");
        // The pool is worked off by turns: what is accepted last is not much later than the whole pool.
        let pool_ms = 1_000.0 * POOL / over.committed_per_second();
        assert!((over.commit_quantile_ms(0.99) as f64) < 3.0 * pool_ms, "latency");
        assert!(self.recovery < Duration::from_secs(1), "recovery");
        assert!(self.seen.slowest() < Duration::from_secs(1), "health and admin");
    }
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
