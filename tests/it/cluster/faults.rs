//! Kills, pauses and wrong clocks of validators under load. Afterwards all chains and everything
//! that the clients saw must agree.
//!
//! The default run takes about a minute. A long run uses a release build:
//!
//! ```sh
//! cargo build --release --features bft
//! LEDGER_NODE_BIN=target/release/ledger-node CLUSTER_FAULTS=120 \
//!     cargo test --features bft --test it cluster::faults -- --nocapture
//! ```
//!
//! `CLUSTER_SEED` replays the plan that a run has printed. The instructions at which validators are
//! killed remain random.

// The output of a long run (seed, plan and figures) is meant to be read.
#![allow(clippy::print_stdout)]

use super::{
    checker::{self, Blocks},
    history::History,
    kit::{Cluster, VALIDATORS},
    load::Load,
    plan::{DiskCall, Fault, OPERATIONS, Step, plan},
};
use crate::crash::{
    acknowledged::Bounds,
    check::check_supply,
    load::{CLIENTS, payer},
};
use ledger_crypto::HashValue;
use ledger_test_support::{
    http::number,
    node::{SlowDisk, until},
};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Number of steps of the default run: a round of the plan.
const STEPS: u64 = 19;

/// Funds of each client, enough for the fees of a night.
const FUNDS: u64 = 10_000_000_000_000;

/// The validators under load.
struct Run {
    cluster: Cluster,
    /// The disks and clocks of the validators.
    disks: Vec<Arc<SlowDisk>>,
    history: Arc<History>,
    load: Load,
    /// Number of faults of each kind, by the number of validators that had it.
    faults: BTreeMap<(String, usize), u64>,
    /// Longest time from the end of a fault until each validator had committed a new transfer.
    slowest_recovery: Duration,
}

impl Run {
    /// Starts validators on a new chain, and funds the clients. Returns `None` without a C
    /// compiler.
    async fn start() -> Option<Self> {
        let mut disks = Vec::new();
        for _ in 0..VALIDATORS {
            disks.push(Arc::new(SlowDisk::new()?));
        }
        let of_commands = disks.clone();
        let cluster = Cluster::start_wrapped(Box::new(move |index, command| {
            of_commands[index].wrap(command)
        }));
        let node = cluster.node(0);
        let accounts: Vec<_> = (0..=CLIENTS).map(payer).collect();
        let funded = accounts.iter().map(|account| node.fund(account, FUNDS));
        futures::future::join_all(funded).await;
        let history = Arc::new(History::default());
        let mut load = Load::new(node.chain().await, Arc::clone(&history));
        let version = number(&node.get("/v1").await.json["ledger_version"]);
        for index in 0..VALIDATORS {
            let node = cluster.node(index);
            until("the funds", || async {
                let ledger = node.get("/v1").await.json;
                (number(&ledger["ledger_version"]) >= version).then_some(())
            })
            .await;
            load.start(index, node);
        }
        Some(Self {
            cluster,
            disks,
            history,
            load,
            faults: BTreeMap::new(),
            slowest_recovery: Duration::ZERO,
        })
    }

    /// Injects the fault of a step, and waits until every validator commits again.
    async fn step(&mut self, step: &Step) {
        tokio::time::sleep(step.load).await;
        *self
            .faults
            .entry((step.fault.name(), step.nodes.len()))
            .or_default() += 1;
        match step.fault {
            Fault::Kill => self.kill_and_restart(step).await,
            Fault::KillAt(call) => {
                self.await_call(call, &step.nodes).await;
                self.kill_and_restart(step).await;
            }
            Fault::Stop => self.stop_and_restart(step).await,
            Fault::Pause => self.pause(step).await,
            Fault::Clock {
                ahead_secs,
                is_restarted,
            } => self.move_clocks(step, ahead_secs, is_restarted).await,
        }
        let ended = Instant::now();
        until("a commit at every validator", || async {
            self.history
                .has_commits_since(ended, VALIDATORS)
                .then_some(())
        })
        .await;
        let recovery = ended.elapsed();
        println!("    recovered after {recovery:?}");
        self.slowest_recovery = self.slowest_recovery.max(recovery);
    }

    /// Waits until one of the validators is about to make a call. The calls of the others hang from
    /// then on as well.
    async fn await_call(&self, call: DiskCall, nodes: &[usize]) {
        let disks: Vec<_> = nodes.iter().map(|&index| &self.disks[index]).collect();
        let begun = |disk: &SlowDisk| disk.calls(call.operation).begun;
        let before: Vec<_> = disks.iter().map(|disk| begun(disk)).collect();
        for disk in &disks {
            disk.hang_after(call.earlier, call.operation, call.file);
        }
        until("a call", || async {
            let is_begun = |(disk, before): (&&Arc<SlowDisk>, &u64)| begun(disk) > *before;
            disks.iter().zip(&before).any(is_begun).then_some(())
        })
        .await;
    }

    /// Kills the validators of a step, and starts them after it.
    async fn kill_and_restart(&mut self, step: &Step) {
        for &index in &step.nodes {
            self.cluster.node(index).signal("KILL");
        }
        for &index in &step.nodes {
            self.cluster.kill(index);
            for operation in OPERATIONS {
                self.disks[index].release(operation);
            }
        }
        self.restart(step).await;
    }

    /// Starts the validators of a step one after the other, after the duration of the fault.
    async fn restart(&mut self, step: &Step) {
        for &index in &step.nodes {
            self.load.ended(index).await;
        }
        tokio::time::sleep(step.duration).await;
        for &index in &step.nodes {
            self.cluster.start_node(index);
            self.load.start(index, self.cluster.node(index));
            tokio::time::sleep(step.duration / VALIDATORS as u32).await;
        }
    }

    /// Stops the validators of a step gracefully. They still know what they accepted.
    async fn stop_and_restart(&mut self, step: &Step) {
        for &index in &step.nodes {
            self.cluster.stop(index);
        }
        let mut accepted: Vec<(usize, HashValue)> = Vec::new();
        for &index in &step.nodes {
            self.load.ended(index).await;
            let pending = self.history.accepted(index);
            accepted.extend(pending.into_iter().map(|hash| (index, hash)));
        }
        self.restart(step).await;
        for (index, hash) in accepted {
            let path = format!("/v1/transactions/by_hash/{hash}");
            let response = self.cluster.node(index).get(&path).await;
            assert_eq!(response.status, 200, "{hash}: {}", response.text);
        }
    }

    /// Suspends the validators of a step.
    async fn pause(&self, step: &Step) {
        for (signal, duration) in [("STOP", step.duration), ("CONT", Duration::ZERO)] {
            for &index in &step.nodes {
                self.cluster.node(index).signal(signal);
            }
            tokio::time::sleep(duration).await;
        }
    }

    /// Gives the validators of a step wrong clocks, with which they start if `is_restarted`.
    async fn move_clocks(&mut self, step: &Step, ahead_secs: i64, is_restarted: bool) {
        for &index in &step.nodes {
            self.disks[index].move_clock(ahead_secs);
        }
        if is_restarted {
            self.kill_and_restart(step).await;
        }
        tokio::time::sleep(step.duration).await;
        for &index in &step.nodes {
            self.disks[index].move_clock(0);
        }
    }

    /// Ends the load, and compares all chains when the validators are at one height.
    async fn check(&mut self) -> checker::Compared {
        self.load.finish().await;
        let height = until("one height", || async {
            let mut heights = Vec::new();
            for index in 0..VALIDATORS {
                let ledger = self.cluster.node(index).get("/v1").await.json;
                heights.push(Bounds::from_body(&ledger).height);
            }
            heights
                .iter()
                .all(|height| *height == heights[0])
                .then_some(heights[0])
        })
        .await;
        let nodes = (0..VALIDATORS).map(|index| self.blocks(index, height));
        let chains = futures::future::join_all(nodes).await;
        for index in 0..VALIDATORS {
            let node = self.cluster.node(index);
            let ledger = node.get("/v1").await.json;
            check_supply(node, number(&ledger["ledger_version"])).await;
        }
        let requests = self.history.lock().clone();
        checker::check(&chains, &requests, |client| payer(client).address)
            .unwrap_or_else(|contradiction| panic!("{contradiction}"))
    }

    /// Reads the chain of a validator.
    async fn blocks(&self, index: usize, height: u64) -> Blocks {
        let mut blocks = Vec::new();
        for height in 0..=height {
            let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
            let block = self.cluster.node(index).get(&path).await;
            assert_eq!(block.status, 200, "{}", block.text);
            blocks.push(block.json);
        }
        blocks
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn validators_neither_fork_nor_lose_a_transaction_under_faults() {
    let started = Instant::now();
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(
            text.parse::<u64>()
                .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        )
    };
    let steps = number("CLUSTER_FAULTS").unwrap_or(STEPS);
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let seed = number("CLUSTER_SEED").unwrap_or(nanos as u64);
    println!("CLUSTER_FAULTS={steps} CLUSTER_SEED={seed}");
    let Some(mut run) = Run::start().await else {
        return;
    };
    for (at, step) in plan(seed, steps as usize).into_iter().enumerate() {
        println!("{at} after {:?}: {step:?}", started.elapsed());
        run.step(&step).await;
    }
    let faults = std::mem::take(&mut run.faults);
    let recovery = run.slowest_recovery;
    let compared = run.check().await;
    println!("{faults:?}");
    println!(
        "{compared:?}, slowest recovery {recovery:?}, in {:?}",
        started.elapsed()
    );
    assert!(
        compared.blocks as u64 > steps && compared.reads as u64 > steps,
        "the load did nothing"
    );
}
