//! Many cycles of ending the real binary, mostly with `kill -9`, and restarting it. After each
//! start it must have everything that it acknowledged.
//!
//! The default run takes less than a minute. A run of a night uses a release build:
//!
//! ```sh
//! cargo build --release
//! LEDGER_NODE_BIN=target/release/ledger-node CRASH_CYCLES=1000 \
//!     cargo test --test it crash::cycles -- --nocapture
//! ```
//!
//! `CRASH_SEED` replays the plan that a run has printed. The instruction at which a node is killed
//! remains random.

// The output of a long run (seed, plan and figures) is meant to be read.
#![allow(clippy::print_stdout)]

use super::{
    acknowledged::Acknowledged,
    check::{History, parker},
    load::{self, CLIENTS, payer},
    plan::{Cycle, Phase, plan},
};
use ledger_crypto::HashValue;
use ledger_test_support::node::{TestNode, until};
use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// Funds of each client, enough for the fees of a night.
const FUNDS: u64 = 10_000_000_000_000;
/// Maximum time from a move of the window's lower bound to the kill, in milliseconds.
const PRUNING_MS: u64 = 60;
/// Maximum time from the signal to the kill, in milliseconds. Most stops take less.
const STOP_MS: u64 = 300;
/// A window that the load of one cycle fills, pruned in many steps.
const SHORT_WINDOW: [&str; 2] = ["pruner.window_versions=120", "pruner.batch_versions=20"];

/// A ledger that the cycles run on.
struct Ledger {
    node: Option<TestNode>,
    acknowledged: Arc<Acknowledged>,
    history: History,
}

/// The transactions that a graceful stop has saved for the next start.
#[derive(Debug, Default)]
struct Saved {
    /// Transactions that wait for one that was not submitted.
    parked: Vec<HashValue>,
    /// Transactions of the load, many of which are committed.
    accepted: Vec<HashValue>,
}

/// The figures of a run.
#[derive(Debug, Default)]
struct Figures {
    cycles: BTreeMap<Phase, u64>,
    starts: u64,
    slowest_start: Duration,
    /// Number of stops that ended before the kill.
    completed_stops: u64,
    /// Number of transactions that were pending after a graceful stop and a restart.
    restored: u64,
}

impl Figures {
    /// Starts a node and records the duration of the start.
    fn start(&mut self, start: impl FnOnce() -> TestNode) -> TestNode {
        let started = Instant::now();
        let node = start();
        self.starts += 1;
        self.slowest_start = self.slowest_start.max(started.elapsed());
        node
    }
}

impl Ledger {
    /// Starts a node on a new ledger and funds the clients.
    async fn start(settings: &[&str], figures: &mut Figures) -> Self {
        let node = figures.start(|| TestNode::start(settings));
        for number in 0..CLIENTS {
            node.fund(&payer(number), FUNDS).await;
        }
        node.fund(&parker(), FUNDS).await;
        Self {
            node: Some(node),
            acknowledged: Arc::default(),
            history: History::default(),
        }
    }

    fn node(&mut self) -> &mut TestNode {
        self.node.as_mut().unwrap()
    }

    /// Ends the node as the cycle demands. Returns what the node must know after its next start.
    async fn end(&mut self, cycle: Cycle, usual_start: Duration, figures: &mut Figures) -> Saved {
        let mut saved = Saved::default();
        if cycle.phase == Phase::GracefulStop {
            saved.parked = self.park().await;
        }
        let clients = load::start(&self.node().client.clone(), &self.acknowledged).await;
        tokio::time::sleep(cycle.load).await;
        let acknowledged = Arc::clone(&self.acknowledged);
        let mut is_stopped = false;
        match cycle.phase {
            Phase::Pruning => {
                let before = acknowledged.oldest_version();
                until("pruning", || async {
                    (acknowledged.oldest_version() > before).then_some(())
                })
                .await;
                sleep_until(cycle, Duration::from_millis(PRUNING_MS)).await;
                self.node().kill();
            }
            Phase::Stop => {
                self.node().signal("TERM");
                sleep_until(cycle, Duration::from_millis(STOP_MS)).await;
                if let Some(status) = self.node().try_ended() {
                    assert!(status.success(), "{}", self.node().log());
                    figures.completed_stops += 1;
                    is_stopped = true;
                }
                self.node().kill();
            }
            Phase::GracefulStop => {
                let status = self.node().stop("TERM");
                assert!(status.success(), "{}", self.node().log());
                is_stopped = true;
            }
            Phase::Load | Phase::Start | Phase::NewDirectory => self.node().kill(),
        }
        for client in clients {
            client.await.unwrap();
        }
        if is_stopped {
            saved.accepted = acknowledged.accepted();
        }
        if cycle.phase == Phase::Start {
            let node = self.node();
            kill_a_start(
                node.directory(),
                node.settings(),
                cycle,
                usual_start * 5 / 4,
            )
            .await;
        }
        saved
    }

    /// Submits transactions that wait for one that is not submitted. Returns their hashes.
    async fn park(&mut self) -> Vec<HashValue> {
        let node = self.node();
        let (chain, account) = (node.chain().await, parker());
        let next = node.sequence_number(&account.address).await;
        let mut hashes = Vec::new();
        for later in 1..=2 {
            let transaction = account.transfer(&chain, next + later, account.address, 1);
            hashes.push(node.submit(&transaction).await);
        }
        hashes
    }

    /// Restarts the node and checks it.
    async fn restart(&mut self, cycle: Cycle, saved: &Saved, figures: &mut Figures) {
        let ended = self.node.take().unwrap();
        self.node = Some(figures.start(|| ended.restart()));
        let client = self.node().client.clone();
        for hash in &saved.parked {
            let response = client
                .get(&format!("/v1/transactions/by_hash/{hash}"))
                .await;
            assert_eq!(
                response.json["type"], "pending_transaction",
                "{}",
                response.text
            );
            figures.restored += 1;
        }
        for hash in &saved.accepted {
            let response = client
                .get(&format!("/v1/transactions/by_hash/{hash}"))
                .await;
            // A committed transaction may be pruned. The short window holds no trace of it.
            let may_be_pruned = cycle.prunes && matches!(response.status, 404 | 410);
            assert!(
                response.status == 200 || may_be_pruned,
                "a graceful stop lost {hash}: {}",
                response.text
            );
            figures.restored += u64::from(response.json["type"] == "pending_transaction");
        }
        if !saved.parked.is_empty() {
            self.submit_predecessor(&saved.parked).await;
        }
        let acknowledged = self.acknowledged.take_new();
        self.history
            .check(&client, acknowledged, cycle.sample_seed)
            .await;
    }

    /// Submits the transaction that the parked ones wait for, and checks that all are committed.
    async fn submit_predecessor(&mut self, parked: &[HashValue]) {
        let node = self.node();
        let (chain, account) = (node.chain().await, parker());
        let next = node.sequence_number(&account.address).await;
        node.submit_and_wait(&account.transfer(&chain, next, account.address, 1))
            .await;
        for hash in parked {
            let committed = node.try_wait(hash).await.unwrap();
            assert_eq!(committed["success"], true, "{committed}");
        }
    }
}

/// Sleeps until the cycle's time within a phase.
async fn sleep_until(cycle: Cycle, phase: Duration) {
    tokio::time::sleep(phase * u32::try_from(cycle.permille).unwrap() / 1000).await;
}

/// Starts a node and kills it at the cycle's time.
async fn kill_a_start(directory: &Path, settings: &[String], cycle: Cycle, limit: Duration) {
    let log = directory.join("killed.err");
    let mut child = TestNode::command(directory, settings)
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    sleep_until(cycle, limit).await;
    if let Some(status) = child.try_wait().unwrap() {
        let log = std::fs::read_to_string(log).unwrap();
        panic!("a start ended by itself with {status}: {log}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills a node that creates a ledger. The next node creates or completes it.
async fn kill_in_a_new_directory(cycle: Cycle, usual_start: Duration, figures: &mut Figures) {
    let directory = Arc::new(TempDir::new().unwrap());
    kill_a_start(directory.path(), &[], cycle, usual_start * 5 / 4).await;
    let node = figures.start(|| TestNode::start_in(directory, Vec::new()));
    let ledger = node.get("/v1").await;
    assert_eq!(ledger.json["block_height"], "0", "{}", ledger.text);
    node.fund(&payer(0), FUNDS).await;
    assert_eq!(node.balance(&payer(0).address).await, FUNDS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn has_everything_acknowledged_after_kill_9_at_any_time() {
    let started = Instant::now();
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(
            text.parse::<u64>()
                .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        )
    };
    let cycles = number("CRASH_CYCLES").unwrap_or(80);
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let seed = number("CRASH_SEED").unwrap_or(nanos as u64);
    println!("CRASH_CYCLES={cycles} CRASH_SEED={seed}");
    let mut figures = Figures::default();
    let mut unpruned = Ledger::start(&["pruner.enabled=false"], &mut figures).await;
    let usual_start = figures.slowest_start;
    let mut pruned = Ledger::start(&SHORT_WINDOW, &mut figures).await;
    for (at, cycle) in plan(seed, cycles as usize).into_iter().enumerate() {
        println!("{at}: {cycle:?}");
        *figures.cycles.entry(cycle.phase).or_default() += 1;
        if cycle.phase == Phase::NewDirectory {
            kill_in_a_new_directory(cycle, usual_start, &mut figures).await;
            continue;
        }
        let ledger = if cycle.prunes {
            &mut pruned
        } else {
            &mut unpruned
        };
        let saved = ledger.end(cycle, usual_start, &mut figures).await;
        ledger.restart(cycle, &saved, &mut figures).await;
    }
    println!("{figures:?} in {:?}", started.elapsed());
    for (name, history) in [
        ("unpruned", &unpruned.history),
        ("short window", &pruned.history),
    ] {
        let (acknowledged, found, below) = (history.acknowledged(), history.found, history.pruned);
        println!(
            "{name}: {acknowledged} commitments acknowledged; lookups: {found} found, \
             {below} below the window, 0 lost"
        );
    }
    assert!(
        unpruned.history.acknowledged() > 0 && pruned.history.acknowledged() > 0,
        "the load committed nothing"
    );
}
