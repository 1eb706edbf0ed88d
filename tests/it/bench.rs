//! `bench` as an ordinary client: its report must agree with the ledger.

use crate::metrics::Scrape;
use ledger_test_support::node::{TestNode, start_bench};
use serde_json::Value;

mod ends;
mod options;

/// Runs `bench`, which must succeed, and returns its report.
fn bench(node: &TestNode, options: &str) -> Value {
    let output = start_bench(node, options).wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
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
        let ways = format!("--mode {mode} --wait {wait} --format {format}");
        let load = "--transfers 300 --accounts 20 --connections 8";
        let report = bench(&node, &format!("{load} {ways}"));
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
    let load = "--transfers 200 --accounts 20 --connections 8 --mode await --wait one";
    for format in ["bcs", "json"] {
        let report = bench(&node, &format!("{load} --format {format}"));
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
        let load = "--transfers 300 --batch 32 --accounts 4 --connections 2";
        let ways = format!("--mode await --wait many --ahead {ahead}");
        let report = bench(&node, &format!("{load} {ways}"));
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
            "--transfers 50 --accounts 5 --connections 5 --seed 7",
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
        let load = "--transfers 60 --accounts 5 --connections 1 --seed 9 --mode await";
        let report = bench(&node, &format!("{load} --pre-signed {pre_signed}"));
        assert_eq!(report["committed"], 60, "{report}");
        assert_eq!(report["errors"], serde_json::json!({}), "{report}");
        let signed = &report["generator"]["signed_while_running"];
        assert_eq!(
            signed, signed_while_running,
            "signed while running, with {pre_signed} signed in advance: {report}"
        );
    }
}

#[test]
fn excludes_ramp_and_warm_up_from_the_measurement() {
    let node = TestNode::start(&[]);
    let schedule = "--transfers 20 --rate 100 --ramp 0.2 --warm-up 0.1";
    let load = "--accounts 10 --connections 5 --mode await";
    let report = bench(&node, &format!("{schedule} {load}"));
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
    let load = "--transfers 200 --accounts 9 --connections 9 --threads 2";
    let report = bench(&node, &format!("{load} --pid {}", node.process_id()));
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
    let load = "--transfers 300 --accounts 1 --connections 8 --orderless --mode await";
    let report = bench(&node, load);
    assert_eq!(report["committed"], 300, "{report}");
    assert_eq!(report["errors"], serde_json::json!({}), "{report}");
}

#[test]
fn does_not_exceed_the_rate() {
    let node = TestNode::start(&[]);
    let report = bench(
        &node,
        "--transfers 40 --rate 50 --accounts 10 --connections 4",
    );
    assert_eq!(report["committed"], 40, "{report}");
    // The first transfer is due immediately and the last one 39 intervals of 20 ms later.
    assert!(report["seconds"].as_f64().unwrap() >= 0.78, "{report}");
}

#[test]
fn submits_batches_and_reports_single_transfers() {
    // A batch has more transfers of an account than may be pending, so it is retried in part.
    let node = TestNode::start(&["mempool.capacity_per_account=10"]);
    for (mode, wait, format, orderless) in [
        ("submit", "two", "bcs", ""),
        ("submit", "two", "json", ""),
        ("await", "two", "bcs", ""),
        ("await", "many", "bcs", ""),
        ("submit", "two", "bcs", "--orderless"),
    ] {
        let load = "--transfers 300 --batch 64 --accounts 4 --connections 2";
        let ways = format!("--mode {mode} --wait {wait} --format {format} {orderless}");
        let report = bench(&node, &format!("{load} {ways}"));
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
        if orderless.is_empty() {
            let retried = &report["errors"]["206 mempool_is_full"];
            let all_retried = &report["errors"]["507 mempool_is_full"];
            assert!(retried.is_u64() || all_retried.is_u64(), "{report}");
        }
    }
}
