//! `bench` as an ordinary client: its report must agree with the ledger.

use crate::{
    kit::{TestNode, binary, until},
    metrics::Scrape,
};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::process::{Child, Command, Stdio};

/// Returns the command of a run with a JSON report.
fn command(node: &TestNode, arguments: &[&str]) -> Command {
    let mut command = binary();
    command
        .args([
            "bench",
            "--url",
            &node.api,
            "--faucet",
            node.faucet.as_ref().unwrap(),
        ])
        .args(["--output", "json"])
        .args(arguments);
    command
}

/// Runs `bench`, which must succeed, and returns its report.
fn bench(node: &TestNode, arguments: &[&str]) -> Value {
    let output = command(node, arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A running `bench` without an end of its own.
struct RunningBench(Child);

impl RunningBench {
    /// Starts a run, and waits until the node has committed some of its transfers.
    async fn start(node: &TestNode, arguments: &[&str]) -> Self {
        let version = async || -> u64 {
            let ledger = node.get("/v1").await.json;
            ledger["ledger_version"].as_str().unwrap().parse().unwrap()
        };
        let before = version().await;
        let mut command = command(node, &["--accounts", "4", "--connections", "4"]);
        command.args(arguments);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let this = Self(child.unwrap());
        // More versions than the funding of the accounts takes.
        until("transfers to be committed", || async {
            (version().await > before + 100).then_some(())
        })
        .await;
        this
    }

    /// Returns the process id.
    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Waits until the run has ended with exit code 1. Returns its report and its standard error.
    fn report(self) -> (Value, String) {
        let output = self.0.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, error)
    }
}

#[test]
fn commits_every_transfer_and_completes_every_wait() {
    let node = TestNode::start(&[]);
    for (mode, wait, format) in [
        ("await", "two", "bcs"),
        ("await", "two", "json"),
        ("await", "one", "bcs"),
        ("await", "one", "json"),
        ("await", "many", "bcs"),
        ("submit", "two", "bcs"),
        ("submit", "two", "json"),
    ] {
        let report = bench(
            &node,
            &[
                "--transfers",
                "300",
                "--accounts",
                "20",
                "--connections",
                "8",
                "--mode",
                mode,
                "--wait",
                wait,
                "--format",
                format,
            ],
        );
        if mode == "await" {
            assert_eq!(report["commit_latency"]["count"], 300);
        }
        for (name, expected) in [
            ("accepted", 300),
            ("committed", 300),
            ("uncommitted", 0),
            ("failed", 0),
            ("lost", 0),
            ("false_not_found", 0),
            ("waits_in_vain", 0),
        ] {
            assert_eq!(report[name], expected, "{name} in {report}");
        }
        assert!(report["committed_per_second"].as_f64().unwrap() > 0.0);
        assert_eq!(
            report["fifths_committed_per_second"]
                .as_array()
                .unwrap()
                .len(),
            5
        );
        assert_eq!(report["submit_latency"]["count"], 300);
    }
}

#[tokio::test]
async fn learns_of_commits_by_one_request_each() {
    let node = TestNode::start(&[]);
    let load = ["--transfers", "200", "--accounts", "20", "--connections"];
    for format in ["bcs", "json"] {
        let ways = ["8", "--mode", "await", "--wait", "one", "--format", format];
        let report = bench(&node, &[load.as_slice(), &ways].concat());
        for name in ["committed", "accepted"] {
            assert_eq!(report[name], 200, "{name} in {report}");
        }
        assert_eq!(report["errors"], serde_json::json!({}), "{report}");
        assert_eq!(report["commit_latency"]["count"], 200, "{report}");
    }
    let scrape = Scrape::of(&node).await;
    let count = |method, route| {
        let labels = [("method", method), ("route", route), ("code", "200")];
        scrape.sum("ledger_http_requests_total", &labels)
    };
    assert_eq!(count("POST", "/v1/transactions"), 400.0);
    // The funding of the accounts waits by hash.
    let waits = count("GET", "/v1/transactions/wait_by_hash/{txn_hash}");
    assert!((1.0..20.0).contains(&waits), "{waits} waits by hash");
}

#[tokio::test]
async fn waits_for_whole_batches_also_with_others_submitted_ahead() {
    let node = TestNode::start(&[]);
    for ahead in ["0", "3"] {
        let batched = ["--transfers", "300", "--batch", "32", "--accounts", "4"];
        let ways = ["--mode", "await", "--wait", "many", "--ahead", ahead];
        let arguments = [batched.as_slice(), &["--connections", "2"], &ways].concat();
        let report = bench(&node, &arguments);
        for (name, expected) in [
            ("accepted", 300),
            ("committed", 300),
            ("uncommitted", 0),
            ("unanswered", 0),
            ("waits_in_vain", 0),
        ] {
            assert_eq!(report[name], expected, "{name} in {report}");
        }
        assert_eq!(report["errors"], serde_json::json!({}), "{report}");
        assert_eq!(report["commit_latency"]["count"], 300, "{report}");
    }
    let scrape = Scrape::of(&node).await;
    let labels = [("route", "/v1/transactions/wait"), ("code", "200")];
    // Ten batches in each run, or one more if each connection has a last part.
    let waits = scrape.sum("ledger_http_requests_total", &labels);
    assert!((20.0..=22.0).contains(&waits), "{waits} waits");
}

#[test]
fn continues_with_the_same_accounts_for_the_same_seed() {
    let node = TestNode::start(&[]);
    for _ in 0..2 {
        let report = bench(
            &node,
            &[
                "--transfers",
                "50",
                "--accounts",
                "5",
                "--connections",
                "5",
                "--seed",
                "7",
            ],
        );
        assert_eq!(report["committed"], 50, "{report}");
        assert_eq!(report["errors"], serde_json::json!({}), "{report}");
    }
}

/// Transfers that were signed before the load are not signed during it, also those of accounts that
/// have sent transactions before.
#[test]
fn signs_the_requested_number_of_transfers_before_the_load() {
    let node = TestNode::start(&[]);
    for (pre_signed, signed_while_running) in [("60", 0), ("40", 20), ("0", 60)] {
        let report = bench(
            &node,
            &[
                "--transfers",
                "60",
                "--pre-signed",
                pre_signed,
                "--accounts",
                "5",
                "--connections",
                "1",
                "--seed",
                "9",
                "--mode",
                "await",
            ],
        );
        assert_eq!(report["committed"], 60, "{report}");
        assert_eq!(report["errors"], serde_json::json!({}), "{report}");
        let signed = &report["generator"]["signed_while_running"];
        assert_eq!(
            signed, signed_while_running,
            "signed while running, with {pre_signed} signed in advance: {report}"
        );
    }
}

/// Each of these options takes memory before the load begins.
#[test]
fn rejects_numbers_whose_memory_has_no_bound() {
    for (option, maximum) in [
        ("--pre-signed", "10000000"),
        ("--accounts", "10000000"),
        ("--batch", "10000"),
        ("--ahead", "10000"),
    ] {
        for value in [format!("{maximum}1"), u64::MAX.to_string()] {
            let output = binary().args(["bench", option, &value]).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(error.contains(option) && error.contains(maximum), "{error}");
        }
    }
}

#[test]
fn names_a_missing_faucet() {
    let node = TestNode::start(&["faucet.enabled=false"]);
    // Nothing listens at a reserved port.
    let output = binary()
        .args([
            "bench",
            "--url",
            &node.api,
            "--faucet",
            "http://127.0.0.1:1",
        ])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("no faucet listens at http://127.0.0.1:1"),
        "{error}"
    );
}

#[test]
fn excludes_ramp_and_warm_up_from_the_measurement() {
    let node = TestNode::start(&[]);
    let report = bench(
        &node,
        &[
            "--transfers",
            "20",
            "--rate",
            "100",
            "--ramp",
            "0.2",
            "--warm-up",
            "0.1",
            "--accounts",
            "10",
            "--connections",
            "5",
            "--mode",
            "await",
        ],
    );
    assert_eq!(report["accepted"], 20, "{report}");
    assert_eq!(report["submit_latency"]["count"], 20, "{report}");
    assert_eq!(report["commit_latency"]["count"], 20, "{report}");
    assert_eq!(report["uncommitted"], 0, "{report}");
    // 30 transfers were due before the measurement, some of which may have been late.
    let committed = report["committed"].as_u64().unwrap();
    assert!((20..=50).contains(&committed), "{report}");
}

#[test]
fn shares_connections_between_threads_and_measures_the_node() {
    let node = TestNode::start(&[]);
    let pid = node.process_id().to_string();
    let report = bench(
        &node,
        &[
            "--transfers",
            "200",
            "--accounts",
            "9",
            "--connections",
            "9",
            "--threads",
            "2",
            "--pid",
            &pid,
        ],
    );
    assert_eq!(report["committed"], 200, "{report}");
    assert_eq!(report["generator"]["threads"], 2, "{report}");
    assert!(report["generator"]["cpu_us_per_transfer"].as_f64().unwrap() > 0.0);
    assert!(
        report["node"]["resident_bytes"].as_u64().unwrap() > 0,
        "{report}"
    );
}

#[test]
fn sends_orderless_transactions_of_one_account_over_many_connections() {
    let node = TestNode::start(&[]);
    let report = bench(
        &node,
        &[
            "--transfers",
            "300",
            "--accounts",
            "1",
            "--connections",
            "8",
            "--orderless",
            "--mode",
            "await",
        ],
    );
    assert_eq!(report["committed"], 300, "{report}");
    assert_eq!(report["errors"], serde_json::json!({}), "{report}");
}

#[test]
fn does_not_exceed_the_rate() {
    let node = TestNode::start(&[]);
    let report = bench(
        &node,
        &[
            "--transfers",
            "40",
            "--rate",
            "50",
            "--accounts",
            "10",
            "--connections",
            "4",
        ],
    );
    assert_eq!(report["committed"], 40, "{report}");
    // The first transfer is due immediately and the last one 39 intervals of 20 ms later.
    assert!(report["seconds"].as_f64().unwrap() >= 0.78, "{report}");
}

#[tokio::test]
async fn reports_what_it_measured_until_it_is_interrupted() {
    let node = TestNode::start(&[]);
    for signal in [Signal::INT, Signal::TERM] {
        let run = RunningBench::start(&node, &["--mode", "await", "--duration", "2000"]).await;
        kill_process(run.pid(), signal).unwrap();
        let (report, error) = run.report();
        assert!(report["committed"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(report["stopped"], "interrupted", "{report}");
        assert_eq!(report["uncommitted"], 0, "{report}");
        assert!(error.contains("interrupted"), "{error}");
    }
}

#[tokio::test]
async fn reports_what_it_measured_until_the_node_ended() {
    let mut node = TestNode::start(&[]);
    let pid = node.process_id().to_string();
    let run = RunningBench::start(&node, &["--duration", "2000", "--pid", &pid]).await;
    node.kill();
    let (report, error) = run.report();
    assert!(report["accepted"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["node"], Value::Null, "{report}");
    assert!(error.contains("no response from"), "{error}");
}

/// A stopped process sends no response, and its connections stay open.
#[tokio::test]
async fn ends_after_its_duration_although_the_node_does_not_respond() {
    let node = TestNode::start(&[]);
    let run = RunningBench::start(&node, &["--duration", "5", "--mode", "await"]).await;
    node.signal("STOP");
    let (report, error) = run.report();
    assert!(error.contains("did not respond within"), "{error}");
    assert_eq!(report["unanswered"], 4, "one per connection: {report}");
}

#[tokio::test]
async fn fails_when_descriptors_run_out() {
    let node = TestNode::start(&[]);
    // The last connections are opened long after the first have sent transfers.
    let run = RunningBench::start(&node, &["--duration", "30", "--ramp", "30"]).await;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Some(run.pid()), Resource::Nofile, none).unwrap();
    // The node closes a connection, which is then opened again.
    drop(node);
    let (report, error) = run.report();
    assert!(error.contains("Too many open files"), "{error}");
    assert!(
        report["stopped"]
            .as_str()
            .unwrap()
            .contains("cannot open all 4 connections"),
        "{report}"
    );
}

#[test]
fn submits_batches_and_reports_single_transfers() {
    // A batch has more transfers of an account than may be pending, so it is retried in part.
    let node = TestNode::start(&["mempool.capacity_per_account=10"]);
    for (mode, wait, format, orderless) in [
        ("submit", "two", "bcs", None),
        ("submit", "two", "json", None),
        ("await", "two", "bcs", None),
        ("await", "many", "bcs", None),
        ("submit", "two", "bcs", Some("--orderless")),
    ] {
        let batched = ["--transfers", "300", "--batch", "64", "--accounts", "4"];
        let rest = ["--connections", "2", "--mode", mode, "--wait", wait];
        let format = ["--format", format];
        let arguments = batched.iter().chain(&rest).chain(&format).chain(&orderless);
        let arguments: Vec<_> = arguments.copied().collect();
        let report = bench(&node, &arguments);
        for (name, expected) in [
            ("batch", 64),
            ("accepted", 300),
            ("committed", 300),
            ("uncommitted", 0),
            ("unanswered", 0),
            ("failed", 0),
            ("lost", 0),
            ("false_not_found", 0),
        ] {
            assert_eq!(report[name], expected, "{name} in {report}");
        }
        assert_eq!(report["submit_latency"]["count"], 300, "{report}");
        if mode == "await" {
            assert_eq!(report["commit_latency"]["count"], 300, "{report}");
        }
        if orderless.is_none() {
            let retried = &report["errors"]["206 mempool_is_full"];
            let all_retried = &report["errors"]["507 mempool_is_full"];
            assert!(retried.is_u64() || all_retried.is_u64(), "{report}");
        }
    }
}

#[test]
fn rejects_more_connections_than_it_may_have_descriptors() {
    let bench = binary();
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 256; exec \"$@\"", "sh"])
        .arg(bench.get_program())
        .args(["bench", "--connections", "300"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("this process may have 256"), "{message}");
}

#[test]
fn rejects_a_duration_that_no_clock_can_reach() {
    for duration in ["18446744073709551615", "2592001", "1e300", "-1", "nan"] {
        let duration = format!("--duration={duration}");
        let output = binary().args(["bench", &duration]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("--duration"), "{message}");
    }
}

#[test]
fn rejects_contradictory_and_invalid_options() {
    for (arguments, words) in [
        (
            ["--pid", "4294967295", "--connections", "1"],
            "no such process",
        ),
        (["--rate", "1e-300", "--connections", "1"], "--rate"),
        (["--accounts", "1", "--connections", "2"], "--connections 2"),
        (["--rate", "0", "--connections", "1"], "--rate"),
        (
            ["--url", "ftp://x", "--connections", "1"],
            "http://HOST:PORT",
        ),
    ] {
        let output = binary().arg("bench").args(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(words), "{message}");
    }
}
