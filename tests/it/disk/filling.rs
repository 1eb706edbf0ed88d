//! Disks of several sizes that another program fills and empties while a node writes.
//!
//! `DISK_FULL_RUNS` sets the number of runs and `DISK_FULL_SEED` the seed of the first one; each
//! next run has the next seed. A run prints its seed.

#![allow(clippy::print_stdout)]

use super::{Tmpfs, full::fill};
use crate::kit::{HttpResponse, TestAccount, TestNode, function_call, until};
use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use serde_json::json;
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

/// Sizes of the disks, in bytes. The smallest has space for a new ledger and its reserve.
const DISK_BYTES: [u64; 5] = [24 << 20, 32 << 20, 48 << 20, 64 << 20, 96 << 20];
/// Number of times that a run fills the disk.
const ROUNDS: usize = 6;
const ACCOUNTS: u64 = 4;
/// Size of the argument of a large transaction, near the maximum size of a transaction.
const ARGUMENT_BYTES: usize = 60_000;

/// Numbers of events, summed over all runs.
type Counters = BTreeMap<&'static str, usize>;

/// An account that submits transactions, and its next sequence number.
struct Sender {
    account: TestAccount,
    sequence_number: u64,
}

impl Sender {
    /// Returns the next transaction: a transfer, or one that fails with a large argument.
    fn next(&self, chain: &Chain, is_large: bool) -> SignedTransaction {
        if is_large {
            let arguments = vec![vec![0; ARGUMENT_BYTES]];
            let call = function_call("0x1::coin::transfer", &[], arguments);
            return self.account.call(chain, self.sequence_number, call);
        }
        let to = TestAccount::from_seed(100).address;
        self.account.transfer(chain, self.sequence_number, to, 1)
    }

    /// Submits transactions until one is rejected, at most one per element of `are_large`. Returns
    /// the hashes of the accepted ones.
    async fn submit(
        &mut self,
        node: &TestNode,
        chain: &Chain,
        are_large: Vec<bool>,
    ) -> Vec<HashValue> {
        let mut accepted = Vec::new();
        for is_large in are_large {
            let transaction = self.next(chain, is_large);
            let response = node.try_submit(&transaction).await.unwrap();
            if response.status != 202 {
                assert_eq!(response.status, 503, "{}", response.text);
                break;
            }
            self.sequence_number += 1;
            accepted.push(transaction.hash(chain.vendor()));
        }
        accepted
    }
}

/// A node on a disk that a run fills, with what clients know about its ledger.
struct FilledDisk {
    /// `None` only during a restart.
    node: Option<TestNode>,
    chain: Chain,
    tmpfs: Tmpfs,
    random: fastrand::Rng,
    is_pruning: bool,
    /// Whether the disk has no space for the next writes, although nothing else is on it.
    is_full: bool,
    senders: Vec<Sender>,
    accepted: Vec<HashValue>,
    /// Versions of the transactions that a response reported as committed.
    acknowledged: BTreeMap<HashValue, String>,
    counters: Counters,
}

/// Returns the free space of a file system, in bytes.
fn free_bytes(directory: &Path) -> u64 {
    let disk = rustix::fs::statvfs(directory).unwrap();
    disk.f_bavail * disk.f_frsize
}

/// Returns the response to one long poll, or `None` if it is rejected.
async fn poll(node: &TestNode, hash: HashValue) -> Option<HttpResponse> {
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let response = node.get(&path).await;
    (response.status == 200).then_some(response)
}

impl FilledDisk {
    /// Starts a node on a new disk, or returns `None` if that is not permitted.
    async fn new(seed: u64) -> Option<Self> {
        let mut random = fastrand::Rng::with_seed(seed);
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let bytes = random.choice(DISK_BYTES).unwrap();
        let tmpfs = Tmpfs::over(&data, bytes)?;
        // Without a reserve, the writes themselves meet the full disk. With a small cache, applied
        // pages are written before the checkpoint.
        let mut settings = vec!["wait.timeout_ms=300"];
        for setting in ["storage.min_free_bytes=0", "storage.cache_bytes=1000000"] {
            if random.bool() {
                settings.push(setting);
            }
        }
        let is_pruning = random.u8(..3) == 0;
        if is_pruning {
            settings.extend(["pruner.window_versions=50", "pruner.batch_versions=10"]);
        }
        println!("seed {seed}: {} MiB, {settings:?}", bytes >> 20);
        let settings = settings.into_iter().map(str::to_owned).collect();
        let node = TestNode::start_in(directory, settings);
        let mut senders = Vec::new();
        for number in 1..=ACCOUNTS {
            let account = TestAccount::from_seed(number);
            node.fund(&account, 1_000_000_000_000).await;
            senders.push(Sender {
                account,
                sequence_number: 0,
            });
        }
        let chain = node.chain().await;
        Some(Self {
            node: Some(node),
            chain,
            tmpfs,
            random,
            is_pruning,
            is_full: false,
            senders,
            accepted: Vec::new(),
            acknowledged: BTreeMap::new(),
            counters: Counters::new(),
        })
    }

    fn node(&self) -> &TestNode {
        self.node.as_ref().expect("a node")
    }

    fn count(&mut self, name: &'static str) {
        *self.counters.entry(name).or_default() += 1;
    }

    /// Submits transactions from all accounts concurrently.
    async fn submit(&mut self) {
        let random = &mut self.random;
        let large_per_ten = random.u8(..10);
        let (node, chain) = (self.node.as_ref().expect("a node"), &self.chain);
        let submissions = self.senders.iter_mut().map(|sender| {
            let count = random.usize(1..25);
            let are_large = (0..count).map(|_| random.u8(..10) < large_per_ten);
            sender.submit(node, chain, are_large.collect())
        });
        let submissions: Vec<_> = submissions.collect();
        for accepted in join_all(submissions).await {
            self.accepted.extend(accepted);
        }
    }

    /// Polls each accepted transaction that is not acknowledged once, and records the committed
    /// ones.
    async fn acknowledge(&mut self) {
        let open = self.accepted.iter().copied();
        let open: Vec<_> = open
            .filter(|hash| !self.acknowledged.contains_key(hash))
            .collect();
        let polls = open.iter().map(|hash| poll(self.node(), *hash));
        for (hash, response) in open.iter().zip(join_all(polls).await) {
            if let Some(response) = response
                && response.json["type"] == "user_transaction"
            {
                let version = response.json["version"].as_str().unwrap().to_owned();
                self.acknowledged.insert(*hash, version);
            }
        }
    }

    fn filler(&self) -> PathBuf {
        self.tmpfs.0.join("filler")
    }

    fn free(&self) {
        // The filler is missing if the disk had less space than it should leave.
        let _ = fs::remove_file(self.filler());
    }

    /// Returns a number of bytes that the filler leaves: none, less than a record, or about the
    /// need of a checkpoint.
    fn left_bytes(&mut self) -> usize {
        match self.random.u8(..4) {
            0 => 0,
            1 => self.random.usize(..64 << 10),
            2 => self.random.usize(..2 << 20),
            _ => self.random.usize(..16 << 20),
        }
    }

    /// Fills the disk while clients submit, frees it, and checks that the node continues.
    async fn fill_under_load(&mut self) {
        let left_bytes = self.left_bytes();
        let directory = self.tmpfs.0.clone();
        let filling = thread::spawn(move || fill(&directory, left_bytes));
        self.submit().await;
        self.acknowledge().await;
        filling.join().unwrap();
        self.submit().await;
        self.acknowledge().await;
        let health = self.node().get("/v1/-/healthy").await;
        if health.status == 503 {
            self.count("unhealthy while full");
        }
        self.free();
        self.continue_after_free().await;
    }

    /// Waits until the node with free space is healthy, and restarts it only if a write has failed.
    async fn continue_after_free(&mut self) {
        let node = self.node();
        let health = until("the node to be healthy, or to need a restart", || async {
            let health = node.get("/v1/-/healthy").await;
            let is_final = health.status == 200
                || health.text.contains("cannot be written")
                || health
                    .text
                    .contains(&format!(" {} bytes free", free_bytes(&self.tmpfs.0)));
            is_final.then_some(health)
        })
        .await;
        if health.text.contains("bytes free") {
            self.count("disks that the ledger itself had filled");
            self.is_full = true;
            return;
        }
        if health.status == 200 {
            self.count("rounds that continued without a restart");
        } else {
            self.count("rounds that took a restart");
            assert!(
                health.text.contains("the database file"),
                "only a write of the database takes a restart: {}",
                health.text
            );
            let stopped = self.node.as_mut().map(|node| node.stop("TERM").code());
            assert_eq!(stopped, Some(Some(1)));
            self.restart();
        }
        self.submit().await;
        self.check_accepted().await;
    }

    /// Starts the node again on its directory.
    fn restart(&mut self) {
        self.node = self.node.take().map(TestNode::restart);
    }

    /// Stops the node on a full disk, frees the space when the stop requests it, and starts it.
    async fn stop_on_a_full_disk(&mut self) {
        let left_bytes = self.random.usize(..64 << 10);
        self.submit().await;
        fill(&self.tmpfs.0, left_bytes);
        self.node().signal("TERM");
        let filler = self.filler();
        let node = self.node.as_mut().expect("a node");
        let mut has_requested = false;
        let code = loop {
            if let Some(status) = node.try_ended() {
                break status.code();
            }
            if !has_requested && node.log().contains("free disk space now") {
                has_requested = true;
                let _ = fs::remove_file(&filler);
            }
            tokio::task::yield_now().await;
        };
        let _ = fs::remove_file(&filler);
        assert!([Some(0), Some(1)].contains(&code), "{code:?}");
        if has_requested {
            self.count("stops that waited for space for the mempool");
        }
        self.count(if code == Some(0) {
            "clean stops on a full disk"
        } else {
            "stops on a full disk with exit code 1"
        });
        self.restart();
        self.continue_after_free().await;
    }

    /// Returns whether the node is unhealthy because of the space that is free now.
    async fn is_filled_by_the_ledger(&self) -> bool {
        let health = self.node().get("/v1/-/healthy").await;
        let free = format!(" {} bytes free", free_bytes(&self.tmpfs.0));
        health.status == 503 && health.text.contains(&free)
    }

    /// Waits until no accepted transaction is pending, and checks that all are committed, at the
    /// version that was acknowledged.
    async fn check_accepted(&mut self) {
        let node = self.node();
        for hash in &self.accepted {
            // A 503 may also mean that the read waited too long for an apply.
            let found = until("a commit, or a disk that the ledger has filled", || async {
                let found = node.try_wait_until_known(hash).await;
                if found.is_none() && self.is_filled_by_the_ledger().await {
                    return Some(None);
                }
                found.map(Some)
            })
            .await;
            let Some(found) = found else {
                return;
            };
            if self.is_pruning && [404, 410].contains(&found.status) {
                continue;
            }
            assert_eq!(found.status, 200, "lost: {}\n{}", found.text, node.log());
            if let Some(version) = self.acknowledged.get(hash) {
                assert_eq!(found.json["version"], json!(version), "acknowledged");
            }
        }
        for sender in &self.senders {
            let committed = node.sequence_number(&sender.account.address).await;
            assert_eq!(
                committed,
                sender.sequence_number,
                "accepted and lost\n{}",
                node.log()
            );
        }
    }

    /// Adds the events of the node's log to the counters.
    fn count_log(&mut self) {
        let log = self.node().log();
        for line in log.lines() {
            let is = |words: &str| line.contains(words);
            let name = if is("no disk space for the next write") && is("writing the write-ahead") {
                "log records cut back"
            } else if is("no disk space for the next write") {
                "writes held before a checkpoint without space"
            } else if is("the ledger cannot be written") {
                "failed writes of the database"
            } else if is("free disk space now") {
                "saves of the mempool that waited"
            } else if is("low disk space: submissions are rejected") {
                "shortages that the monitor found"
            } else if is("the ledger was not closed") {
                "stops without a final checkpoint"
            } else {
                continue;
            };
            self.count(name);
        }
    }
}

#[tokio::test]
async fn loses_nothing_acknowledged_while_disks_are_filled_and_freed() {
    let number = |name: &str, default: u64| {
        env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (runs, first) = (number("DISK_FULL_RUNS", 2), number("DISK_FULL_SEED", 1));
    let mut total = Counters::new();
    for seed in first..first + runs {
        let Some(mut disk) = FilledDisk::new(seed).await else {
            return;
        };
        for _ in 0..ROUNDS {
            if disk.is_full {
                break;
            }
            if disk.random.u8(..4) == 0 {
                disk.stop_on_a_full_disk().await;
            } else {
                disk.fill_under_load().await;
            }
        }
        disk.count_log();
        for (name, count) in &disk.counters {
            *total.entry(name).or_default() += count;
        }
        *total.entry("accepted").or_default() += disk.accepted.len();
        *total.entry("acknowledged").or_default() += disk.acknowledged.len();
        println!("after seed {seed}: {total:?}");
    }
}
