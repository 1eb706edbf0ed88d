//! A disk that hangs: the stall has the name of the thread that waits for it.
//!
//! A thread that uses no disk hangs in the write that wakes another thread.

use super::slow::{Fixture, HungSync, recipient};
use ledger_test_support::{
    TestAccount,
    http::HttpClient,
    node::{
        DiskOperation::{self, Read, Sync, Write},
        SlowDisk, TestNode, bench_report, start_bench, until,
    },
};
use reqwest::Method;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// `process.stall_secs` of the nodes, in seconds.
const LIMIT_SECS: u64 = 1;

/// The settings of the nodes: every read of the database is a read of its file, and one HTTP worker
/// responds while the other one hangs.
const SETTINGS: [&str; 3] = [
    "process.stall_secs=1",
    "storage.cache_bytes=1",
    "api.workers=2",
];

/// The files of the ledger.
const LEDGER: &str = "/data/ledger.";
const DATABASE: &str = "/data/ledger.redb";
/// The file by which a thread wakes one that waits for network events.
const WAKE_UP: &str = "[eventfd]";

/// Name of the threads of the API's HTTP workers in the system.
const WORKER: &str = "http-api";

/// Message of the log when a stall begins.
const STALLED: &str = "stalled: no progress while work waits";

/// Time after which a health check is repeated on another connection. The HTTP worker of the first
/// one may be the one that hangs.
const HEALTH_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns status and text of the health check.
async fn health(node: &TestNode) -> (u16, String) {
    let url = format!("{}/v1/-/healthy", node.api);
    let response = until("a health check", || async {
        let client = HttpClient::new();
        let checked = tokio::time::timeout(HEALTH_TIMEOUT, client.get(&url));
        checked.await.ok()
    })
    .await;
    (response.status, response.text)
}

/// Returns status and text of a probe.
async fn probe(node: &TestNode, path: &str) -> (u16, String) {
    let response = node.http.get(&format!("{}{path}", node.admin)).await;
    (response.status, response.text)
}

/// Returns the names that the metrics show as stalled.
async fn stalled(node: &TestNode) -> BTreeSet<String> {
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let lines = metrics.lines();
    let stalls = lines.filter_map(|line| line.strip_prefix("ledger_stalled{thread=\""));
    stalls
        .map(|stall| stall.split_once("\"} ").unwrap())
        .filter(|(_, count)| *count != "0")
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Sends a request that may get no response before the end of the test.
fn begin(node: &TestNode, method: Method, url: String) -> JoinHandle<()> {
    let http = node.http.clone();
    tokio::spawn(async move {
        let request = http.request(method, &url);
        // The test has ended if there is no response.
        let _ = http.try_send(request).await;
    })
}

/// Begins reads of genesis by its version, one after the other, until one hangs in an HTTP worker.
async fn begin_inline_read(node: &TestNode, disk: &SlowDisk) {
    // An HTTP worker leaves a read to a reader thread if the last one was slow.
    until("a read of an HTTP worker", || async {
        let url = format!("{}/v1/transactions/by_version/0", node.api);
        let read = begin(node, Method::GET, url);
        until("a response, or a read that hangs", || async {
            (read.is_finished() || disk.calls(Read).waiting() > 0).then_some(())
        })
        .await;
        (disk.calls(Read).waiting() > 0).then_some(())
    })
    .await;
}

/// Requests coins of the faucet, without waiting for the response.
fn begin_block(node: &TestNode) {
    let faucet = node.faucet.as_ref().unwrap();
    begin(
        node,
        Method::POST,
        format!("{faucet}/mint?address=0x77&amount=5"),
    );
}

/// A thread whose calls hang.
struct Case {
    /// The name of the thread in the log and in metrics.
    name: &'static str,
    /// The name of the thread in the system.
    thread: &'static str,
    operation: DiskOperation,
    path_part: &'static str,
    is_on_commit_path: bool,
}

impl Case {
    /// Makes the calls hang.
    fn hang(&self, disk: &SlowDisk) {
        disk.hang_in(self.thread, self.operation, self.path_part);
    }

    /// Waits for the first call, checks what the node reports, and ends the stall. The node may
    /// name the threads `others` as well, because they wait for this one.
    async fn check(&self, node: &TestNode, disk: &SlowDisk, others: &[&str]) {
        let name = self.name;
        until(&format!("a call of {name} that hangs"), || async {
            (disk.calls(self.operation).waiting() > 0).then_some(())
        })
        .await;
        let begun = Instant::now();
        let expected = format!("{STALLED} thread=\"{name}\" secs={LIMIT_SECS}");
        // The time of the monitor, which is less than the limit and a second. A busy machine makes
        // the time of this process longer.
        node.logged(&expected).await;
        print_time(name, begun.elapsed());
        let named = until("the metric", || async {
            let mut named = stalled(node).await;
            named.retain(|name| !others.contains(&&**name));
            (!named.is_empty()).then_some(named)
        })
        .await;
        assert_eq!(named, BTreeSet::from([name.to_owned()]));
        let (status, text) = health(node).await;
        let words = format!("{name} has made no progress");
        assert_eq!(text.contains(&words), self.is_on_commit_path, "{text}");
        let live = probe(node, "/livez").await;
        assert_eq!(live, (503, "progress".to_owned()));
        let (_, page) = probe(node, "/console/health").await;
        assert!(page.contains(&words), "{page}");
        if others.is_empty() {
            let (ready, _) = probe(node, "/readyz").await;
            assert_eq!(ready, if self.is_on_commit_path { 503 } else { 200 });
            let expected = if self.is_on_commit_path { 503 } else { 200 };
            assert_eq!(status, expected, "{name}: {text}");
        }
        disk.release(self.operation);
        until(&format!("the end of the stall of {name}"), || async {
            stalled(node).await.is_empty().then_some(())
        })
        .await;
        assert_eq!(health(node).await.0, 200);
        for path in ["/livez", "/readyz"] {
            assert_eq!(probe(node, path).await, (200, "ok".to_owned()));
        }
        let ended = format!("the stall has ended thread=\"{name}\"");
        node.logged(&ended).await;
    }
}

#[expect(clippy::print_stderr, reason = "the time is a figure of the run")]
fn print_time(name: &str, named_after: Duration) {
    eprintln!("{name}: named after {named_after:?}");
}

#[tokio::test]
async fn names_the_writer_while_a_write_or_a_sync_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    for operation in [Sync, Write] {
        let node = disk.start(&SETTINGS);
        let case = Case {
            name: "store-writer",
            thread: "store-writer",
            operation,
            path_part: LEDGER,
            is_on_commit_path: true,
        };
        case.hang(&disk);
        begin_block(&node);
        case.check(&node, &disk, &[]).await;
    }
}

#[tokio::test]
async fn names_the_executor_while_a_read_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    let node = disk.start(&SETTINGS);
    let case = Case {
        name: "executor",
        thread: "executor",
        operation: Read,
        path_part: DATABASE,
        is_on_commit_path: true,
    };
    case.hang(&disk);
    begin_block(&node);
    case.check(&node, &disk, &[]).await;
}

#[tokio::test]
async fn names_a_reader_while_a_read_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    let node = disk.start(&SETTINGS);
    let case = Case {
        name: "store-reader",
        thread: "store-reader",
        operation: Read,
        path_part: DATABASE,
        is_on_commit_path: false,
    };
    case.hang(&disk);
    begin(
        &node,
        Method::GET,
        format!("{}/v1/accounts/0x1/resources", node.api),
    );
    case.check(&node, &disk, &[]).await;
}

#[tokio::test]
async fn names_an_http_worker_while_a_read_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    let node = disk.start(&SETTINGS);
    let case = Case {
        name: "http-api",
        thread: WORKER,
        operation: Read,
        path_part: DATABASE,
        is_on_commit_path: false,
    };
    case.hang(&disk);
    begin_inline_read(&node, &disk).await;
    case.check(&node, &disk, &[]).await;
}

#[tokio::test]
async fn names_a_signature_thread_that_hangs() {
    let Some(disk) = SlowDisk::new() else { return };
    let node = disk.start(&SETTINGS);
    let case = Case {
        name: "signature-check",
        thread: "signature-check",
        operation: Write,
        path_part: WAKE_UP,
        is_on_commit_path: false,
    };
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    let transfer = account.transfer(&node.chain().await, 0, account.address, 1);
    case.hang(&disk);
    let client = node.client.clone();
    let submission = tokio::spawn(async move { client.submit(&transfer).await });
    case.check(&node, &disk, &[]).await;
    let hash = submission.await.unwrap();
    assert_eq!(node.try_wait(&hash).await.unwrap()["success"], true);
}

#[tokio::test]
async fn names_the_applier_while_a_write_of_the_database_hangs() {
    let Some(mut fixture) = Fixture::with_settings(&SETTINGS).await else {
        return;
    };
    let HungSync { hanging, .. } = fixture.hang_after_durable_block().await;
    let (node, disk) = (&fixture.node, &fixture.disk);
    let case = Case {
        name: "store-applier",
        thread: "store-applier",
        operation: Write,
        path_part: DATABASE,
        is_on_commit_path: false,
    };
    case.hang(disk);
    let account = recipient().address;
    let read = format!("{}/v1/accounts/{account}/resources", node.api);
    begin(node, Method::GET, read);
    until("a write of the applier", || async {
        (disk.calls(Write).waiting() > 0).then_some(())
    })
    .await;
    // The writer waits for the applier then, before it applies the next block itself.
    disk.release(Sync);
    case.check(node, disk, &["store-writer", "store-reader"])
        .await;
    node.try_wait(&hanging).await.unwrap();
}

/// A long run with the default limit: `STALL_LOAD_SECS` is its length in seconds. On a machine that
/// other programs keep busy, a thread may make no progress for a second.
#[tokio::test]
#[ignore = "a long run, whose command is in tests/README.md"]
#[expect(clippy::print_stdout, reason = "the figures are the result of the run")]
async fn names_nothing_under_full_load() {
    let secs = std::env::var("STALL_LOAD_SECS").unwrap_or_else(|_| "60".to_owned());
    let node = TestNode::start(&[]);
    let report = bench_report(start_bench(&node, &format!("--duration {secs}"))).await;
    let log = node.log();
    let named: Vec<_> = log.lines().filter(|line| line.contains(STALLED)).collect();
    println!(
        "{secs} s at {} transfers/s: {} committed, {} stalls",
        report["committed_per_second"],
        report["committed"],
        named.len()
    );
    assert!(named.is_empty(), "{named:#?}");
}
