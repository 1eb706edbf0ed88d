//! Kills, pauses and wrong clocks of nodes under load, and partitions and slow links between them.
//! Afterwards all chains and everything that the clients saw must agree.
//!
//! The default run has validators on one machine and takes about a minute. Full nodes, a network
//! and a balancer need root, Python and HAProxy. Long runs use a release build:
//!
//! ```sh
//! cargo build --release --features bft
//! export LEDGER_NODE_BIN=target/release/ledger-node
//! CLUSTER_FAULTS=120 cargo test --features bft --test it cluster::faults -- --nocapture
//! CLUSTER_FAULTS=200 cargo test --features bft --test it cluster::faults -- --nocapture --ignored
//! ```
//!
//! `CLUSTER_SEED` replays the plan that a run has printed. The instructions at which nodes are
//! killed remain random.

// The output of a long run (seed, plan and figures) is meant to be read.
#![allow(clippy::print_stdout)]

use super::{
    balancer::Balancer,
    checker::{self, Blocks},
    history::History,
    kit::{API_PORT, Cluster, VALIDATORS},
    load::{Load, PAYERS},
    network::{Link, Network},
    plan::{DiskCall, Fault, OPERATIONS, Step, plan},
};
use crate::crash::{acknowledged::Bounds, check::check_supply, load::payer};
use ledger_crypto::HashValue;
use ledger_test_support::{
    http::number,
    node::{SlowDisk, until},
};
use reqwest::Method;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Number of steps of the default run: a round of the plan.
const STEPS: u64 = 19;

/// Number of steps in a network: a round of its plan.
const NETWORK_STEPS: u64 = 28;

/// Funds of each client, enough for the fees of a night.
const FUNDS: u64 = 10_000_000_000_000;

/// Factor between the durations of faults of the network and of nodes. Connections notice a cut
/// after some retransmissions only.
const NETWORK_FAULTS_LONGER: u32 = 8;

/// Number of full nodes in a network.
const FULL_NODES: usize = 2;

/// The links between the nodes, and the balancer of their clients.
struct Surroundings {
    network: Arc<Network>,
    balancer: Balancer,
}

impl Surroundings {
    /// Creates the namespaces of all nodes and of a balancer. Returns `None` without root or
    /// HAProxy.
    fn new() -> Option<Self> {
        let nodes = VALIDATORS + FULL_NODES;
        let network = Network::new(nodes + 1)?;
        let servers: Vec<_> = (0..nodes)
            .map(|index| format!("{}:{API_PORT}", network.host(index)))
            .collect();
        let balancer = Balancer::start(&network, nodes, &servers)?;
        Some(Self { network, balancer })
    }
}

/// The nodes under load.
struct Run {
    surroundings: Option<Surroundings>,
    cluster: Cluster,
    /// The disks and clocks of the nodes.
    disks: Vec<Arc<SlowDisk>>,
    history: Arc<History>,
    load: Load,
    /// Number of faults of each kind, by the number of validators that had it.
    faults: BTreeMap<(String, usize), u64>,
    /// Longest time from the end of a fault until each node had committed a new transfer.
    slowest_recovery: Duration,
}

impl Run {
    /// Starts validators on a new chain, and full nodes in a network, and funds the clients.
    /// Returns `None` without a C compiler.
    async fn start(surroundings: Option<Surroundings>) -> Option<Self> {
        let full_nodes = if surroundings.is_some() {
            FULL_NODES
        } else {
            0
        };
        let mut disks = Vec::new();
        for _ in 0..VALIDATORS + full_nodes {
            disks.push(Arc::new(SlowDisk::new()?));
        }
        let of_commands = disks.clone();
        let cluster = match &surroundings {
            None => Cluster::start_wrapped(Box::new(move |index, command| {
                of_commands[index].wrap(command)
            })),
            Some(Surroundings { network, .. }) => {
                let hosts = (0..disks.len()).map(|index| network.host(index).to_owned());
                let network = Arc::clone(network);
                let wrap = move |index: usize, command| {
                    network.wrap(index, &of_commands[index].wrap(command))
                };
                Cluster::start_at(hosts.collect(), Box::new(wrap), &[])
            }
        };
        let node = cluster.node(0);
        let accounts: Vec<_> = (0..PAYERS).map(payer).collect();
        let funded = accounts.iter().map(|account| node.fund(account, FUNDS));
        futures::future::join_all(funded).await;
        let history = Arc::new(History::default());
        let mut load = Load::new(node.chain().await, Arc::clone(&history), cluster.len());
        let version = number(&node.get("/v1").await.json["ledger_version"]);
        for index in 0..cluster.len() {
            let node = cluster.node(index);
            until("the funds", || async {
                let ledger = node.get("/v1").await.json;
                (number(&ledger["ledger_version"]) >= version).then_some(())
            })
            .await;
            load.start(index, node);
        }
        if let Some(Surroundings { balancer, .. }) = &surroundings {
            let client = balancer.client(0);
            let url = format!("{}/v1", client.api);
            until("a node behind the balancer", || async {
                let request = client.http.request(Method::GET, &url);
                let response = client.http.try_send(request).await?;
                (response.status == 200).then_some(())
            })
            .await;
            load.start_balanced(balancer);
        }
        Some(Self {
            surroundings,
            cluster,
            disks,
            history,
            load,
            faults: BTreeMap::new(),
            slowest_recovery: Duration::ZERO,
        })
    }

    /// Injects the fault of a step, and waits until every node commits again.
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
            Fault::Partition { is_mutual } => self.cut(step, is_mutual).await,
            Fault::Links(link) => {
                self.network().set_all(link);
                self.heal(step).await;
            }
        }
        let ended = Instant::now();
        until("a commit at every node", || async {
            self.history
                .has_commits_since(ended, self.cluster.len())
                .then_some(())
        })
        .await;
        let recovery = ended.elapsed();
        println!("    recovered after {recovery:?}");
        self.slowest_recovery = self.slowest_recovery.max(recovery);
    }

    fn network(&self) -> &Network {
        let surroundings = self.surroundings.as_ref();
        &surroundings
            .expect("faults of links need a network")
            .network
    }

    /// Cuts the nodes of a step off from the others.
    async fn cut(&self, step: &Step, is_mutual: bool) {
        let others = (0..self.cluster.len()).filter(|index| !step.nodes.contains(index));
        for other in others {
            for &index in &step.nodes {
                self.network().set(other, index, Link::CUT);
                if is_mutual {
                    self.network().set(index, other, Link::CUT);
                }
            }
        }
        self.heal(step).await;
    }

    /// Heals all links after the duration of a step.
    async fn heal(&self, step: &Step) {
        tokio::time::sleep(step.duration * NETWORK_FAULTS_LONGER).await;
        self.network().set_all(Link::default());
    }

    /// Waits until one of the nodes is about to make a call. The calls of the others hang from
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

    /// Kills the nodes of a step, and starts them after it.
    async fn kill_and_restart(&mut self, step: &Step) {
        let began = Instant::now();
        for &index in &step.nodes {
            self.cluster.node(index).signal("KILL");
        }
        for &index in &step.nodes {
            self.cluster.kill(index);
            for operation in OPERATIONS {
                self.disks[index].release(operation);
            }
        }
        for &index in &step.nodes {
            self.load.ended(index).await;
            self.history.record_kill(index, began);
        }
        self.restart(step).await;
    }

    /// Starts the nodes of a step one after the other, after the duration of the fault.
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

    /// Stops the nodes of a step gracefully. They still know what they accepted.
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

    /// Suspends the nodes of a step.
    async fn pause(&self, step: &Step) {
        for (signal, duration) in [("STOP", step.duration), ("CONT", Duration::ZERO)] {
            for &index in &step.nodes {
                self.cluster.node(index).signal(signal);
            }
            tokio::time::sleep(duration).await;
        }
    }

    /// Gives the nodes of a step wrong clocks, with which they start if `is_restarted`.
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

    /// Ends the load, and compares all chains when the nodes are at one height.
    async fn check(&mut self) -> checker::Compared {
        self.load.finish().await;
        let height = until("one height", || async {
            let mut heights = Vec::new();
            for index in 0..self.cluster.len() {
                let ledger = self.cluster.node(index).get("/v1").await.json;
                heights.push(Bounds::from_body(&ledger).height);
            }
            heights
                .iter()
                .all(|height| *height == heights[0])
                .then_some(heights[0])
        })
        .await;
        let nodes = (0..self.cluster.len()).map(|index| self.blocks(index, height));
        let chains = futures::future::join_all(nodes).await;
        for index in 0..self.cluster.len() {
            let node = self.cluster.node(index);
            let ledger = node.get("/v1").await.json;
            check_supply(node, number(&ledger["ledger_version"]), PAYERS).await;
        }
        let requests = self.history.lock().clone();
        checker::check(&chains, &requests, |client| payer(client).address)
            .unwrap_or_else(|contradiction| panic!("{contradiction}"))
    }

    /// Reads the chain of a node.
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
    run(STEPS, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes, and needs root and HAProxy"]
async fn nodes_in_a_network_answer_truly_under_faults() {
    if let Some(surroundings) = Surroundings::new() {
        run(NETWORK_STEPS, Some(surroundings)).await;
    }
}

/// Runs the steps of a plan, `default_steps` of them unless `CLUSTER_FAULTS` says otherwise.
async fn run(default_steps: u64, surroundings: Option<Surroundings>) {
    let started = Instant::now();
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(
            text.parse::<u64>()
                .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        )
    };
    let steps = number("CLUSTER_FAULTS").unwrap_or(default_steps);
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let seed = number("CLUSTER_SEED").unwrap_or(nanos as u64);
    println!("CLUSTER_FAULTS={steps} CLUSTER_SEED={seed}");
    let has_network = surroundings.is_some();
    let Some(mut run) = Run::start(surroundings).await else {
        return;
    };
    let plan = plan(seed, steps as usize, run.cluster.len(), has_network);
    for (at, step) in plan.into_iter().enumerate() {
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
        [compared.blocks, compared.reads, compared.look_ups]
            .into_iter()
            .all(|count| count as u64 > steps),
        "the load did nothing"
    );
}
