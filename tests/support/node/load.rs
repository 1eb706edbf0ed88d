//! Load on a node: `ledger-node bench` as a process of its own, and the pace of senders.

use super::binary;
use crate::http::NodeClient;
use serde_json::Value;
use std::{
    process::{Child, Stdio},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Starts `bench` against a node with a faucet, with its report in JSON. `options` are separated by
/// spaces.
pub fn start_bench(node: &NodeClient, options: &str) -> Child {
    let faucet = node.faucet.as_ref().expect("a faucet");
    let mut command = binary();
    command
        .args(["bench", "--output", "json", "--url", &node.api])
        .args(["--faucet", faucet])
        .args(options.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("a process")
}

/// Waits for the report of [`start_bench`].
///
/// # Panics
///
/// Panics if the run fails.
#[allow(
    clippy::disallowed_methods,
    reason = "the lint protects threads of the node; a test may use the blocking pool"
)]
pub async fn bench_report(bench: Child) -> Value {
    let waiting = tokio::task::spawn_blocking(|| bench.wait_with_output());
    let output = waiting.await.expect("no panic").expect("an output");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// A fixed rate that several senders share, whatever the node responds.
#[derive(Debug)]
pub struct OpenLoop {
    start: Instant,
    per_second: f64,
    issued: AtomicU64,
}

impl OpenLoop {
    /// Creates a loop whose first turn is now.
    pub fn new(per_second: f64) -> Self {
        Self {
            start: Instant::now(),
            per_second,
            issued: AtomicU64::new(0),
        }
    }

    /// Waits for the next turn and returns its number.
    pub async fn next(&self) -> u64 {
        let number = self.issued.fetch_add(1, Relaxed);
        let due = self.start + Duration::from_secs_f64(number as f64 / self.per_second);
        tokio::time::sleep_until(due.into()).await;
        number
    }
}
