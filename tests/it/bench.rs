//! `bench`, as a client like any other: what it reports is what the ledger has.

use crate::kit::{TestNode, binary};
use serde_json::Value;

fn bench(node: &TestNode, arguments: &[&str]) -> Value {
    let output = binary()
        .args([
            "bench",
            "--url",
            &node.api,
            "--faucet",
            node.faucet.as_ref().unwrap(),
        ])
        .args(["--output", "json"])
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
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
        assert_eq!(report["fifths_committed_per_second"].as_array().unwrap().len(), 5);
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
    assert!(report["node"]["resident_bytes"].as_u64().unwrap() > 0, "{report}");
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

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (arguments, words) in [
        (["--accounts", "1", "--connections", "2"], "--connections 2"),
        (["--rate", "0", "--connections", "1"], "--rate"),
        (["--url", "ftp://x", "--connections", "1"], "http://HOST:PORT"),
        (["--url", "https://x", "--connections", "1"], "speak no TLS"),
    ] {
        let output = binary().arg("bench").args(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(words), "{message}");
    }
}
