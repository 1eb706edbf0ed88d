//! A limit on the size of the ledger: under load, and what a compaction returns.
//!
//! The default run takes seconds. A long run uses a release build, and prints the size of the files
//! over time, with the latencies of a client that waits for each of its transfers and of one that
//! reads a balance:
//!
//! ```sh
//! cargo build --release
//! LEDGER_NODE_BIN=target/release/ledger-node SIZE_TRANSFERS=10000000 SIZE_ACCOUNTS=100000 \
//!     SIZE_LIMIT_BYTES=1073741824 cargo test --test it pruned::size_limit::ledger_stays -- --nocapture
//! ```

// The output of a long run is meant to be read.
#![allow(clippy::print_stdout)]

use super::from_environment;
use crate::metrics::Scrape;
use ledger_client::load::{LatencyHistogram, LatencySummary};
use ledger_test_support::{
    TestAccount,
    http::NodeClient,
    node::{TestNode, bench_report, binary, start_bench, until},
};
use ledger_types::AccountAddress;
use serde_json::Value;
use std::{
    cell::{Cell, RefCell},
    fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    time::{Duration, Instant},
};

const MIB: u64 = 1024 * 1024;

/// Number of samples of a run.
const SAMPLES: u64 = 40;

/// Maximum size of the files beyond the limit. The file grows before the pages that pruning has
/// freed can be used: by what is written between two or three checkpoints.
const SLACK_BYTES: u64 = 32 * MIB;

/// Interval between two balance reads.
const READ_INTERVAL: Duration = Duration::from_millis(10);

/// Funds of the client that waits, enough for the fees of the longest run.
const FUNDS: u64 = 1_000_000_000_000;

/// The files that the limit bounds.
const FILES: [&str; 3] = ["ledger.redb", "ledger.log", "mempool.bcs"];

/// Returns the space that the files of a ledger take on the disk, in bytes.
fn disk_bytes(data: &Path) -> u64 {
    let sizes =
        FILES.map(|name| fs::metadata(data.join(name)).map_or(0, |file| file.blocks() * 512));
    sizes.iter().sum()
}

async fn storage(node: &NodeClient) -> Value {
    let response = node.http.get(&format!("{}/storage", node.admin)).await;
    assert_eq!(response.status, 200, "{}", response.text);
    response.json
}

fn number(storage: &Value, key: &str) -> u64 {
    let value = &storage[key];
    value.as_u64().unwrap_or_else(|| panic!("{key} is {value}"))
}

/// The latencies of one client since the last sample, and those of the whole run.
#[derive(Default)]
struct Latencies(RefCell<[LatencyHistogram; 2]>);

impl Latencies {
    fn record(&self, begun: Instant) {
        let latency = begun.elapsed();
        for latencies in &mut *self.0.borrow_mut() {
            latencies.record(latency);
        }
    }

    /// Returns the latencies since the last call, as text.
    fn take(&self) -> String {
        let [newest, _] = &mut *self.0.borrow_mut();
        quantiles(&(&std::mem::take(newest)).into())
    }

    /// Returns those of the whole run, as text.
    fn of_run(&self) -> String {
        let [_, all] = &*self.0.borrow();
        let all = LatencySummary::from(all);
        format!("{} in number, {}", all.count, quantiles(&all))
    }
}

/// Returns the median, the 99th percentile and the maximum, in milliseconds.
fn quantiles(latencies: &LatencySummary) -> String {
    let LatencySummary {
        p50_ms,
        p99_ms,
        max_ms,
        ..
    } = latencies;
    format!("{p50_ms:>6.1} {p99_ms:>7.1} {max_ms:>7.1}")
}

/// Two clients, each with one request at a time.
#[derive(Default)]
struct Clients {
    /// Time from a submission to the response of its long poll.
    commits: Latencies,
    /// Time of a balance read, from the time at which it is due.
    reads: Latencies,
    is_finished: Cell<bool>,
}

impl Clients {
    /// Pays the account itself, and waits for the commit of each transfer.
    async fn pay(&self, node: &NodeClient, account: &TestAccount) {
        let chain = node.chain().await;
        for sequence_number in 0.. {
            if self.is_finished.get() {
                return;
            }
            let transfer = account.transfer(&chain, sequence_number, account.address, 1);
            let begun = Instant::now();
            node.submit_and_wait(&transfer).await;
            self.commits.record(begun);
        }
    }

    /// Reads the balance of an account at an interval.
    async fn read(&self, node: &NodeClient, account: AccountAddress) {
        let mut due = tokio::time::interval(READ_INTERVAL);
        while !self.is_finished.get() {
            let begun = due.tick().await.into_std();
            node.balance(&account).await;
            self.reads.record(begun);
        }
    }
}

/// Samples the node until it has `versions` versions. Returns the highest size of the files, and
/// whether a forecast was made.
async fn sample(node: &TestNode, clients: &Clients, versions: u64) -> (u64, bool) {
    let data = node.directory().join("data");
    println!("latencies: median, 99th percentile and maximum, in ms");
    let begun = Instant::now();
    let (mut most, mut has_forecast) = (0, false);
    for sample in 1..=SAMPLES {
        let storage = until("the next sample", || async {
            let storage = storage(node).await;
            (number(&storage, "newest_version") >= versions * sample / SAMPLES).then_some(storage)
        })
        .await;
        let disk = disk_bytes(&data);
        most = most.max(disk);
        has_forecast |= storage["full_in_seconds"].is_u64();
        let (commits, reads) = (clients.commits.take(), clients.reads.take());
        println!(
            "{:>7.1} s  versions {:>9} to {:>9}  ledger {:>12} bytes  on the disk {disk:>12}  \
             full in {:>8} s  commits {commits}  balance reads {reads}",
            begun.elapsed().as_secs_f64(),
            number(&storage, "oldest_version"),
            number(&storage, "newest_version"),
            number(&storage, "storage_bytes"),
            storage["full_in_seconds"].to_string(),
        );
    }
    (most, has_forecast)
}

/// Neither minimum would prune anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ledger_stays_within_its_limit_under_load() {
    let transfers = from_environment("SIZE_TRANSFERS", 45_000);
    let accounts = from_environment("SIZE_ACCOUNTS", 200);
    let limit = from_environment("SIZE_LIMIT_BYTES", 64 * MIB);
    println!("SIZE_TRANSFERS={transfers} SIZE_ACCOUNTS={accounts} SIZE_LIMIT_BYTES={limit}");
    let node = TestNode::start(&[
        &format!("pruner.window_bytes={limit}"),
        "pruner.window_secs=1000000",
    ]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, FUNDS).await;
    let options = format!("--transfers {transfers} --accounts {accounts} --connections 32");
    let load = start_bench(&node, &options);
    let clients = Clients::default();
    let run = async {
        let run = tokio::join!(sample(&node, &clients, transfers), bench_report(load));
        clients.is_finished.set(true);
        run
    };
    let reading = clients.read(&node, account.address);
    let (run, (), ()) = tokio::join!(run, reading, clients.pay(&node, &account));
    let ((most, has_forecast), report) = run;
    let (commits, reads) = (clients.commits.of_run(), clients.reads.of_run());
    println!("at most {most} bytes on the disk; commits: {commits}; balance reads: {reads}");
    println!("{report}");
    assert_eq!(report["accepted"], transfers, "{report}");
    assert!(most <= limit + SLACK_BYTES, "{most} bytes on the disk");
    assert!(has_forecast, "the growth is known after seconds");
    let scrape = Scrape::of(&node).await;
    assert!(scrape.sum("ledger_storage_bytes", &[]) > limit as f64 / 2.0);
    assert_eq!(scrape.sum("ledger_pruner_limited", &[]), 1.0);
    let storage = storage(&node).await;
    assert_eq!(storage["limit_bytes"], limit);
    assert_eq!(storage["is_window_limited"], true);
    assert_eq!(storage["is_limit_exceeded"], false);
    let oldest = number(&storage, "oldest_version");
    let retained = number(&storage, "newest_version") + 1 - oldest;
    assert!(oldest > 0 && retained >= 1_000, "{storage}");
    for (version, status) in [(0, 410), (oldest - 1, 410), (oldest + 900, 200)] {
        let path = format!("/v1/transactions/by_version/{version}");
        let response = node.get(&path).await;
        assert_eq!(response.status, status, "{path}: {}", response.text);
    }
}

/// Runs `compact` on the directory of a node, and returns exit code, output and error.
fn compact(node: &TestNode) -> (Option<i32>, String, String) {
    let data = node.directory().join("data");
    let output = binary()
        .arg("compact")
        .arg("--data-dir")
        .arg(data)
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), out, err)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compaction_returns_the_pages_of_pruned_versions() {
    let node = TestNode::start(&[]);
    let load = start_bench(&node, "--transfers 10000 --accounts 100 --connections 32");
    bench_report(load).await;
    let mut node = node;
    assert!(node.stop("TERM").success());
    let node = node.restart_with(&["pruner.window_versions=1000"]);
    let newest = number(&storage(&node).await, "newest_version");
    until("pruning", || async {
        let oldest = number(&storage(&node).await, "oldest_version");
        (oldest + 2_000 > newest).then_some(())
    })
    .await;
    let (code, _, error) = compact(&node);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("in use"), "{error}");
    let mut node = node;
    assert!(node.stop("TERM").success());
    let data = node.directory().join("data");
    let before = disk_bytes(&data);
    let (code, out, error) = compact(&node);
    assert_eq!(code, Some(0), "{error}");
    let after = disk_bytes(&data);
    assert!(after < before / 2, "{before} bytes became {after}: {out}");
    assert!(out.contains(&before.to_string()), "{out}");
    let node = node.restart();
    let info = storage(&node).await;
    assert_eq!(number(&info, "newest_version"), newest);
    for (version, status) in [(0, 410), (newest - 500, 200)] {
        let path = format!("/v1/transactions/by_version/{version}");
        assert_eq!(node.get(&path).await.status, status, "{path}");
    }
    let account = TestAccount::from_seed(3);
    node.fund(&account, 5).await;
    assert_eq!(node.balance(&account.address).await, 5);
}

#[test]
fn limit_that_cannot_be_kept_from_the_start_is_a_configuration_error() {
    let cases: [(&[&str], &[&str]); 3] = [
        (
            &["pruner.window_bytes=1"],
            &["pruner.window_bytes = \"1\"", "67108864"],
        ),
        (&["pruner.window_bytes=67108863"], &["67108864"]),
        (
            &["pruner.window_bytes=67108864", "pruner.enabled=false"],
            &["pruner.window_bytes", "pruner.enabled = false"],
        ),
    ];
    for (settings, words) in cases {
        let directory = tempfile::tempdir().unwrap();
        let settings: Vec<_> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let output = TestNode::command(directory.path(), &settings)
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{settings:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{settings:?}: {error}");
        }
        assert!(!directory.path().join("data/ledger.redb").exists());
    }
}
