//! `ledger-node bench` as a separate process.

use ledger_test_support::node::{TestNode, start_bench};
use serde_json::{Value, json};
use std::process::Child;

/// Number of connections of the bench.
pub const CONNECTIONS: u64 = 64;
/// Seconds of load before the measurement, during which the attack starts.
const WARM_UP_SECS: u64 = 1;
/// Names of the counts in the report that must be zero.
const COUNTS: [&str; 6] = [
    "failed",
    "lost",
    "false_not_found",
    "waits_in_vain",
    "uncommitted",
    "unanswered",
];

/// The report of a bench.
pub struct Report {
    pub committed_per_second: f64,
    /// Processor time of the node per committed transfer, in microseconds.
    pub node_cpu_us: f64,
    /// Violations: counts that are not zero, and errors.
    pub faults: Vec<String>,
}

/// Starts a bench whose clients await each of their transfers.
pub fn start(node: &TestNode, length_secs: u64) -> Child {
    let pid = node.process_id();
    let options = format!(
        "--mode await --connections {CONNECTIONS} --warm-up {WARM_UP_SECS} \
         --duration {length_secs} --pid {pid}"
    );
    start_bench(node, &options)
}

/// Waits for the end of a bench and returns its report.
///
/// # Panics
///
/// Panics if the bench ends without a report.
pub async fn report(bench: Child) -> Report {
    let output = tokio::task::spawn_blocking(|| bench.wait_with_output().unwrap());
    let output = output.await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("the bench ended with {}: {error}", output.status));
    let mut faults = faults(&report);
    if !output.status.success() {
        faults.push(format!("{}: {error}", output.status));
    }
    Report {
        committed_per_second: report["committed_per_second"].as_f64().unwrap(),
        node_cpu_us: report["node"]["cpu_us_per_transfer"].as_f64().unwrap(),
        faults,
    }
}

/// Returns the counts that are not zero, and the errors of a report.
fn faults(report: &Value) -> Vec<String> {
    let counts = COUNTS.iter().filter(|&&name| report[name] != 0);
    let mut faults: Vec<_> = counts
        .map(|name| format!("{name}: {}", report[name]))
        .collect();
    if report["errors"] != json!({}) {
        faults.push(format!("errors: {}", report["errors"]));
    }
    faults
}
