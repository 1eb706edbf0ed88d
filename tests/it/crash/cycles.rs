//! Many cycles of ending the real binary, mostly with `kill -9`, and starting it again. After each start all
//! that clients were told holds.
//!
//! The default run takes less than a minute. A night, of a release build:
//!
//! ```sh
//! cargo build --release
//! LEDGER_NODE_BIN=target/release/ledger-node CRASH_CYCLES=1000 \
//!     cargo test --test it crash::cycles -- --nocapture
//! ```
//!
//! `CRASH_SEED` replays the plan that a run has printed; at which instruction a node is hit stays chance.

// Seed, plan and figures: a long run is read, not only passed.
#![allow(clippy::print_stdout)]

use super::{
    check::{History, parker},
    load::{self, CLIENTS, payer},
    plan::{Cycle, Phase, plan},
    told::Told,
};
use crate::kit::{TestNode, until};
use ledger_crypto::HashValue;
use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// What each client starts with: enough for the fees of a night.
const FUNDS: u64 = 10_000_000_000_000;
/// How long after the window's lower end has moved a pruning node is ended at most.
const PRUNING_MS: u64 = 60;
/// How long after the signal a stopping node is ended at most: longer than most stops take.
const STOP_MS: u64 = 300;
/// A window that the load of one cycle fills, and steps that are many.
const SHORT_WINDOW: [&str; 2] = ["pruner.window_versions=120", "pruner.batch_versions=20"];

/// A ledger that goes through the cycles.
struct Ledger {
    node: Option<TestNode>,
    told: Arc<Told>,
    history: History,
}

/// What a graceful stop that was let keeps for the next start.
#[derive(Debug, Default)]
struct Kept {
    /// Wait for a transaction that is not there.
    parked: Vec<HashValue>,
    /// Of the load; many are committed.
    accepted: Vec<HashValue>,
}

/// Figures of a run.
#[derive(Debug, Default)]
struct Figures {
    cycles: BTreeMap<Phase, u64>,
    starts: u64,
    slowest_start: Duration,
    /// Stops that had ended before they were to be killed.
    stops_ended: u64,
    /// Transactions that a graceful stop kept for the next start.
    restored: u64,
}

impl Figures {
    /// Starts a node, and measures how long that takes.
    fn start(&mut self, start: impl FnOnce() -> TestNode) -> TestNode {
        let begun = Instant::now();
        let node = start();
        self.starts += 1;
        self.slowest_start = self.slowest_start.max(begun.elapsed());
        node
    }
}

impl Ledger {
    async fn begin(settings: &[&str], figures: &mut Figures) -> Self {
        let node = figures.start(|| TestNode::start(settings));
        for number in 0..CLIENTS {
            node.fund(&payer(number), FUNDS).await;
        }
        node.fund(&parker(), FUNDS).await;
        Self {
            node: Some(node),
            told: Arc::default(),
            history: History::default(),
        }
    }

    fn node(&mut self) -> &mut TestNode {
        self.node.as_mut().unwrap()
    }

    /// Ends the node as the cycle says. Gives what it must know of after its next start.
    async fn end(&mut self, cycle: Cycle, usual_start: Duration, figures: &mut Figures) -> Kept {
        let mut kept = Kept::default();
        if cycle.phase == Phase::StopAllowed {
            kept.parked = self.park().await;
        }
        let clients = load::begin(&self.node().client.clone(), &self.told).await;
        tokio::time::sleep(cycle.load).await;
        let told = Arc::clone(&self.told);
        let mut is_stopped = false;
        match cycle.phase {
            Phase::Pruning => {
                let before = told.oldest_version();
                until("pruning", || async {
                    (told.oldest_version() > before).then_some(())
                })
                .await;
                wait_until(cycle, Duration::from_millis(PRUNING_MS)).await;
                self.node().kill();
            }
            Phase::Stop => {
                self.node().signal("TERM");
                wait_until(cycle, Duration::from_millis(STOP_MS)).await;
                if let Some(status) = self.node().try_ended() {
                    assert!(status.success(), "{}", self.node().log());
                    figures.stops_ended += 1;
                    is_stopped = true;
                }
                self.node().kill();
            }
            Phase::StopAllowed => {
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
            kept.accepted = told.accepted();
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
        kept
    }

    /// Submits what waits for a transaction that is not there; gives the hashes.
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

    /// Starts the node again, and checks it.
    async fn restart(&mut self, cycle: Cycle, kept: &Kept, figures: &mut Figures) {
        let ended = self.node.take().unwrap();
        self.node = Some(figures.start(|| ended.restart()));
        let client = self.node().client.clone();
        for hash in &kept.parked {
            let answer = client
                .get(&format!("/v1/transactions/by_hash/{hash}"))
                .await;
            assert_eq!(
                answer.json["type"], "pending_transaction",
                "{}",
                answer.text
            );
            figures.restored += 1;
        }
        for hash in &kept.accepted {
            let answer = client
                .get(&format!("/v1/transactions/by_hash/{hash}"))
                .await;
            // Committed and pruned: in the short window nobody knows it any more.
            let may_be_pruned = cycle.prunes && matches!(answer.status, 404 | 410);
            assert!(
                answer.status == 200 || may_be_pruned,
                "a graceful stop lost {hash}: {}",
                answer.text
            );
            figures.restored += u64::from(answer.json["type"] == "pending_transaction");
        }
        if !kept.parked.is_empty() {
            self.fill_the_gap(&kept.parked).await;
        }
        let news = self.told.take_news();
        self.history.check(&client, news, cycle.sample_seed).await;
    }

    /// Submits what the parked transactions wait for; all are committed then.
    async fn fill_the_gap(&mut self, parked: &[HashValue]) {
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

/// Waits for the cycle's moment within a phase.
async fn wait_until(cycle: Cycle, phase: Duration) {
    tokio::time::sleep(phase * u32::try_from(cycle.moment).unwrap() / 1000).await;
}

/// Starts a node, and kills it at the cycle's moment.
async fn kill_a_start(directory: &Path, settings: &[String], cycle: Cycle, limit: Duration) {
    let log = directory.join("killed.err");
    let mut child = TestNode::command(directory, settings)
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait_until(cycle, limit).await;
    if let Some(status) = child.try_wait().unwrap() {
        let log = std::fs::read_to_string(log).unwrap();
        panic!("a start ended by itself with {status}: {log}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills a node that begins a ledger; the next one begins or continues it.
async fn new_directory(cycle: Cycle, usual_start: Duration, figures: &mut Figures) {
    let directory = Arc::new(TempDir::new().unwrap());
    kill_a_start(directory.path(), &[], cycle, usual_start * 5 / 4).await;
    let node = figures.start(|| TestNode::start_in(directory, Vec::new()));
    let ledger = node.get("/v1").await;
    assert_eq!(ledger.json["block_height"], "0", "{}", ledger.text);
    node.fund(&payer(0), FUNDS).await;
    assert_eq!(node.balance(&payer(0).address).await, FUNDS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_told_survives_kill_9_at_any_moment() {
    let begun = Instant::now();
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(
            text.parse::<u64>()
                .unwrap_or_else(|_| panic!("{name}={text} is no number")),
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
    let mut whole = Ledger::begin(&["pruner.enabled=false"], &mut figures).await;
    let usual_start = figures.slowest_start;
    let mut pruned = Ledger::begin(&SHORT_WINDOW, &mut figures).await;
    for (at, cycle) in plan(seed, cycles as usize).into_iter().enumerate() {
        println!("{at}: {cycle:?}");
        *figures.cycles.entry(cycle.phase).or_default() += 1;
        if cycle.phase == Phase::NewDirectory {
            new_directory(cycle, usual_start, &mut figures).await;
            continue;
        }
        let ledger = if cycle.prunes {
            &mut pruned
        } else {
            &mut whole
        };
        let kept = ledger.end(cycle, usual_start, &mut figures).await;
        ledger.restart(cycle, &kept, &mut figures).await;
    }
    println!("{figures:?} in {:?}", begun.elapsed());
    for (name, history) in [("whole", &whole.history), ("short window", &pruned.history)] {
        let (told, found, below) = (history.told(), history.found, history.pruned);
        println!(
            "{name}: {told} commitments told, looked at {found} that were there and {below} below the window; 0 lost"
        );
    }
    assert!(
        whole.history.told() > 0 && pruned.history.told() > 0,
        "there was no load"
    );
}
