//! `bench`, as a client like any other: what it reports is what the ledger has.

use crate::kit::{TestNode, binary, until};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::process::{Child, Command, Stdio};

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

fn bench(node: &TestNode, arguments: &[&str]) -> Value {
    let output = command(node, arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A run that goes on until something stops it.
struct Running(Child);

impl Running {
    /// Begins a run, and waits until the node has committed some of its transfers.
    async fn begin(node: &TestNode, arguments: &[&str]) -> Self {
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
        // More than the funding takes.
        until("transfers to be committed", || async {
            (version().await > before + 100).then_some(())
        })
        .await;
        this
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Waits until it has ended with exit code 1, and returns its report and what it says on standard error.
    fn stopped(self) -> (Value, String) {
        let output = self.0.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, error)
    }
}

#[test]
fn every_transfer_is_committed_and_every_wait_is_answered() {
    let node = TestNode::start(&[]);
    for (mode, format) in [
        ("await", "bcs"),
        ("await", "json"),
        ("submit", "bcs"),
        ("submit", "json"),
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
                "--format",
                format,
            ],
        );
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

#[test]
fn the_same_seed_goes_on_with_the_same_accounts() {
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

/// As many as were signed before the load are not signed under it, also by accounts that have sent before.
#[test]
fn transfers_are_signed_before_the_load_as_far_as_they_are_asked_for() {
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
        assert_eq!(signed, signed_while_running, "of {pre_signed}: {report}");
    }
}

#[test]
fn what_is_sent_in_ramp_and_warm_up_is_committed_and_not_measured() {
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
    // 30 were due before, and of those some may have been late.
    let committed = report["committed"].as_u64().unwrap();
    assert!((20..=50).contains(&committed), "{report}");
}

#[test]
fn several_threads_share_the_connections_and_the_nodes_process_is_measured() {
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
fn many_connections_send_orderless_from_one_account() {
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
fn a_rate_is_not_exceeded() {
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
    // The first is due at once and the last 39 intervals of 20 ms later, so none was sent earlier.
    assert!(report["seconds"].as_f64().unwrap() >= 0.78, "{report}");
}

#[tokio::test]
async fn reports_what_it_measured_until_it_is_interrupted() {
    let node = TestNode::start(&[]);
    for signal in [Signal::INT, Signal::TERM] {
        let run = Running::begin(&node, &["--mode", "await", "--duration", "2000"]).await;
        kill_process(run.pid(), signal).unwrap();
        let (report, error) = run.stopped();
        assert!(report["committed"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(report["stopped"], "interrupted", "{report}");
        assert_eq!(report["uncommitted"], 0, "{report}");
        assert!(error.contains("interrupted"), "{error}");
    }
}

#[tokio::test]
async fn reports_what_it_measured_until_the_node_was_gone() {
    let mut node = TestNode::start(&[]);
    let pid = node.process_id().to_string();
    let run = Running::begin(&node, &["--duration", "2000", "--pid", &pid]).await;
    node.kill();
    let (report, error) = run.stopped();
    assert!(report["accepted"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["node"], Value::Null, "{report}");
    assert!(error.contains("no answer from"), "{error}");
}

/// A node that is held answers nothing, and keeps its connections.
#[tokio::test]
async fn ends_with_its_duration_although_the_node_does_not_answer() {
    let node = TestNode::start(&[]);
    let run = Running::begin(&node, &["--duration", "5", "--mode", "await"]).await;
    node.signal("STOP");
    let (report, error) = run.stopped();
    assert!(error.contains("did not answer within"), "{error}");
    assert_eq!(report["unanswered"], 4, "one per connection: {report}");
}

#[tokio::test]
async fn fails_when_descriptors_run_out() {
    let node = TestNode::start(&[]);
    // The last connections are made long after the first have sent transfers.
    let run = Running::begin(&node, &["--duration", "30", "--ramp", "30"]).await;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Some(run.pid()), Resource::Nofile, none).unwrap();
    // The connection that the node closes is made anew.
    drop(node);
    let (report, error) = run.stopped();
    assert!(error.contains("Too many open files"), "{error}");
    assert!(
        report["stopped"]
            .as_str()
            .unwrap()
            .contains("cannot make all of the 4 connections"),
        "{report}"
    );
}

#[test]
fn refuses_more_connections_than_it_may_have_descriptors() {
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
fn refuses_a_duration_that_no_clock_can_reach() {
    for duration in ["18446744073709551615", "2592001", "1e300", "-1", "nan"] {
        let duration = format!("--duration={duration}");
        let output = binary().args(["bench", &duration]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("--duration"), "{message}");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
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
