//! A node on a small disk that clients and another program fill, and what its clients know.

mod sender;

use super::{Tmpfs, full::fill};
use futures::{FutureExt as _, future::join_all};
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount,
    http::HttpResponse,
    node::{SlowDisk, TestNode, until},
};
use ledger_vm::Chain;
use reqwest::Method;
use sender::Sender;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, resume_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::time::timeout;

/// Sizes of the disks, in bytes. The smallest has space for a new ledger and its reserve.
const DISK_BYTES: [u64; 5] = [24 << 20, 32 << 20, 48 << 20, 64 << 20, 96 << 20];
/// Time after which a run is taken for one that does not end. On an idle machine it takes seconds.
const RUN_TIMEOUT: Duration = Duration::from_secs(400);
const ACCOUNTS: u64 = 4;

/// Name of the restarts that a run needs.
const RESTARTS: &str = "restarts after a failed write of the database";

/// Numbers of events by name.
pub(super) type Counters = BTreeMap<&'static str, usize>;

/// A node on a disk that a run fills, with what clients know about its ledger.
pub(super) struct FilledDisk {
    /// `None` only during a restart.
    node: Option<TestNode>,
    /// The library that counts the calls which find the disk full.
    calls: SlowDisk,
    chain: Chain,
    tmpfs: Tmpfs,
    pub(super) random: fastrand::Rng,
    /// Whether the node has a reserve of disk space.
    has_reserve: bool,
    is_pruning: bool,
    /// Whether the disk has no space for the next writes, although nothing else is on it.
    pub(super) is_full: bool,
    senders: Vec<Sender>,
    pub(super) accepted: Vec<HashValue>,
    /// Versions of the transactions that a response reported as committed.
    pub(super) acknowledged: BTreeMap<HashValue, String>,
    pub(super) counters: Counters,
}

/// Settings that a run has by chance, each with probability one half.
///
/// Without a reserve, the writes themselves meet the full disk. With a small cache, applied pages
/// are written before the checkpoint.
const NO_RESERVE: &str = "storage.min_free_bytes=0";
pub(super) const SMALL_CACHE: &str = "storage.cache_bytes=1000000";

/// Returns the free space of a file system, in bytes.
fn free_bytes(directory: &Path) -> u64 {
    let disk = rustix::fs::statvfs(directory).unwrap();
    disk.f_bavail * disk.f_frsize
}

/// Returns whether the node responds that nothing can be written until it is restarted.
fn has_failed_write(response: &HttpResponse) -> bool {
    response.status == 503 && response.text.contains("cannot be written")
}

/// Returns whether a look-up found a pending transaction.
fn is_pending(found: &HttpResponse) -> bool {
    found.json["type"] == "pending_transaction"
}

/// Returns the response to one long poll, or `None` if it is rejected.
async fn poll(node: &TestNode, hash: HashValue) -> Option<HttpResponse> {
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    let response = node.get(&path).await;
    (response.status == 200).then_some(response)
}

impl FilledDisk {
    /// Starts a node on a new disk, with `settings` and others that depend on the seed. If it
    /// prunes, it keeps `window_versions`. Returns `None` if this system does not permit it.
    pub(super) async fn new(
        seed: u64,
        settings: &[&'static str],
        window_versions: u64,
    ) -> Option<Self> {
        let calls = SlowDisk::new()?;
        let mut random = fastrand::Rng::with_seed(seed);
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let bytes = random.choice(DISK_BYTES).unwrap();
        let tmpfs = Tmpfs::over(&data, bytes)?;
        let mut settings = [&["wait.timeout_ms=300"], settings].concat();
        for setting in [NO_RESERVE, SMALL_CACHE] {
            if random.bool() && !settings.contains(&setting) {
                settings.push(setting);
            }
        }
        let is_pruning = random.u8(..3) == 0;
        let window = format!("pruner.window_versions={window_versions}");
        if is_pruning {
            settings.extend([window.as_str(), "pruner.batch_versions=10"]);
        }
        println!("seed {seed}: {} MiB, {settings:?}", bytes >> 20);
        let has_reserve = !settings.contains(&NO_RESERVE);
        let settings = settings.into_iter().map(str::to_owned).collect();
        let node = calls.start_in(directory, settings);
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
            calls,
            chain,
            tmpfs,
            random,
            has_reserve,
            is_pruning,
            is_full: false,
            senders,
            accepted: Vec::new(),
            acknowledged: BTreeMap::new(),
            counters: Counters::new(),
        })
    }

    /// Executes a run to its end, and counts its events.
    ///
    /// # Panics
    ///
    /// Panics if the run panics or does not end, after it has printed what the node says.
    pub(super) async fn finish(&mut self, run: impl AsyncFnOnce(&mut Self)) {
        let ended = timeout(RUN_TIMEOUT, AssertUnwindSafe(run(self)).catch_unwind()).await;
        if !matches!(ended, Ok(Ok(()))) {
            self.print_state().await;
        }
        match ended {
            Ok(Ok(())) => self.count_log(),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => panic!("the run has not ended within {RUN_TIMEOUT:?}"),
        }
    }

    /// Prints the log, the health and the metrics of the node.
    async fn print_state(&self) {
        let Some(node) = &self.node else {
            return;
        };
        println!("the log of the node:\n{}", node.log());
        println!("{} bytes are free", free_bytes(&self.tmpfs.0));
        for url in [
            format!("{}/v1/-/healthy", node.api),
            format!("{}/metrics", node.admin),
        ] {
            let request = node.http.request(Method::GET, &url);
            let response = timeout(Duration::from_secs(10), node.http.try_send(request)).await;
            match response.ok().flatten() {
                Some(response) => println!("{url}: {}\n{}", response.status, response.text),
                None => println!("{url}: no response"),
            }
        }
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
    pub(super) async fn fill_under_load(&mut self) {
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
        let health = until("the node to be healthy, or to need a restart", || async {
            let health = self.node().get("/v1/-/healthy").await;
            let is_final = health.status == 200
                || has_failed_write(&health)
                || self.is_filled_by_the_ledger(&health);
            is_final.then_some(health)
        })
        .await;
        if self.is_filled_by_the_ledger(&health) {
            self.set_full();
            return;
        }
        let restarts = self.counters.get(RESTARTS).copied();
        if health.status != 200 {
            self.restart_after_failed_write(&health).await;
        }
        self.submit().await;
        self.check_accepted().await;
        if self.counters.get(RESTARTS).copied() == restarts {
            self.count("rounds that continued without a restart");
        }
    }

    /// Stops the node by a signal, and returns its exit code.
    async fn stop(&mut self) -> Option<i32> {
        let node = self.node.as_mut().expect("a node");
        node.signal("TERM");
        node.ended_within_patience().await.code()
    }

    /// Stops a node whose database could not be written, according to `response`, and starts it
    /// again.
    async fn restart_after_failed_write(&mut self, response: &HttpResponse) {
        assert!(
            response.text.contains("the database file"),
            "only a write of the database takes a restart: {}",
            response.text
        );
        self.count(RESTARTS);
        assert_eq!(self.stop().await, Some(1));
        self.restart();
    }

    /// Starts the node again on its directory.
    fn restart(&mut self) {
        let node = self.node.take().expect("a node");
        let (directory, settings) = (node.shared_directory(), node.settings().to_vec());
        drop(node);
        self.node = Some(self.calls.start_in(directory, settings));
    }

    /// Records that the disk has no space although nothing else is on it.
    fn set_full(&mut self) {
        if !std::mem::replace(&mut self.is_full, true) {
            self.count("disks that the ledger itself had filled");
        }
    }

    /// Stops the node on a full disk, frees the space when the stop requests it, and starts it.
    pub(super) async fn stop_on_a_full_disk(&mut self) {
        let left_bytes = self.random.usize(..64 << 10);
        self.submit().await;
        fill(&self.tmpfs.0, left_bytes);
        self.node().signal("TERM");
        let filler = self.filler();
        let node = self.node.as_mut().expect("a node");
        let mut has_requested = false;
        let status = until("the node to end", || {
            let ended = node.try_ended();
            if !has_requested && node.log().contains("free disk space now") {
                has_requested = true;
                let _ = fs::remove_file(&filler);
            }
            async move { ended }
        })
        .await;
        let code = status.code();
        let _ = fs::remove_file(&filler);
        assert!([Some(0), Some(1)].contains(&code), "{code:?}");
        if has_requested {
            assert!(self.calls.full_calls() > 0, "full disks are not counted");
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

    /// Returns whether this health is that of a node which writes nothing because of the space that
    /// is free now.
    fn is_filled_by_the_ledger(&self, health: &HttpResponse) -> bool {
        let free = format!(" {} bytes free", free_bytes(&self.tmpfs.0));
        health.status == 503
            && health.text.contains(&free)
            // These blocks are written, so the state ends.
            && !health.text.contains("wait for these blocks")
    }

    /// Waits until an accepted transaction is not pending, and returns the response of the look-up.
    /// Returns earlier if the ledger has filled the disk, or if a write has failed.
    async fn look_up(&self, hash: HashValue) -> HttpResponse {
        if self.is_full {
            let path = format!("/v1/transactions/by_hash/{hash}");
            return self.node().get(&path).await;
        }
        let path = format!("/v1/transactions/wait_by_hash/{hash}");
        until("a commit, or a disk that the ledger has filled", || async {
            let found = self.node().get(&path).await;
            let is_final = match found.status {
                // Another 503 means that the read waited too long for an apply.
                500.. => has_failed_write(&found),
                _ if is_pending(&found) => {
                    let health = self.node().get("/v1/-/healthy").await;
                    self.is_filled_by_the_ledger(&health)
                }
                _ => true,
            };
            is_final.then_some(found)
        })
        .await
    }

    /// Checks that all accepted transactions are committed, at the version that was acknowledged,
    /// or pending if the ledger has filled the disk.
    async fn check_accepted(&mut self) {
        for hash in self.accepted.clone() {
            let mut found = self.look_up(hash).await;
            // A write that began on the full disk fails only now.
            if has_failed_write(&found) {
                self.restart_after_failed_write(&found).await;
                found = self.look_up(hash).await;
            }
            if self.is_pruning && [404, 410].contains(&found.status) {
                continue;
            }
            assert_eq!(found.status, 200, "lost: {}", found.text);
            if let Some(version) = self.acknowledged.get(&hash) {
                assert_eq!(found.json["version"], json!(version), "acknowledged");
            } else if is_pending(&found) {
                self.set_full();
            }
        }
        if self.is_full {
            return;
        }
        for sender in &self.senders {
            let committed = self.node().sequence_number(&sender.account.address).await;
            assert_eq!(committed, sender.sequence_number, "accepted and lost");
        }
    }

    /// Submits `rounds` times, or until the ledger has filled the disk, with stops in between, and
    /// checks that no call of the node has found the disk full.
    pub(super) async fn fill_by_the_ledger(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.submit().await;
            self.acknowledge().await;
            let health = self.node().get("/v1/-/healthy").await;
            if self.is_filled_by_the_ledger(&health) {
                self.set_full();
                // Before the stop, whose checkpoint may free space.
                self.check_flight_is_rejected().await;
            }
            // Without a reserve, a stop may have no space for the mempool.
            if self.has_reserve && (self.is_full || self.random.u8(..8) == 0) {
                assert_eq!(self.stop().await, Some(0));
                self.count("clean stops");
                self.restart();
            }
            if self.is_full {
                break;
            }
        }
        self.check_accepted().await;
        let path = self.calls.full_path();
        assert_eq!(self.calls.full_calls(), 0, "no space for {path}");
    }

    /// Checks that a recording does not take the space that the ledger may need.
    async fn check_flight_is_rejected(&self) {
        let url = format!("{}/flight", self.node().admin);
        let request = self.node().http.request(Method::POST, &url);
        let flight = self.node().http.try_send(request).await.unwrap();
        assert_eq!(flight.status, 500, "{}", flight.text);
        assert!(
            flight.text.contains("beside the next writes"),
            "{}",
            flight.text
        );
    }

    /// Adds the events of the node's log, and the calls that found the disk full, to the counters.
    fn count_log(&mut self) {
        let full_calls = self.calls.full_calls().try_into().unwrap();
        self.counters
            .insert("calls that found the disk full", full_calls);
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
            } else if is("the ledger is not closed") {
                "stops without a checkpoint"
            } else if is("the ledger was not closed") {
                "stops with a failed checkpoint"
            } else {
                continue;
            };
            self.count(name);
        }
    }
}
