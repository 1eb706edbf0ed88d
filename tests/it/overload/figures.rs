//! What a run showed, and what it is held to.

use super::{FACTOR, Mode, load::Outcome, observers::Seen};
use crate::kit::TestNode;
use std::time::Duration;

/// What a run showed.
pub struct Figures<'a> {
    pub mode: &'a Mode,
    pub peak_rate: f64,
    pub over: &'a Outcome,
    pub seen: &'a Seen,
    /// From the end of the load to the first commit of somebody who comes then.
    pub recovery: Duration,
    /// The most bytes of memory that the process had.
    pub resident: usize,
    /// What its settings allow.
    pub allowed: usize,
}

impl Figures<'_> {
    #[allow(
        clippy::print_stdout,
        reason = "the figures are what a long run is for"
    )]
    pub fn print(&self) {
        const MIB: usize = 1024 * 1024;
        let over = self.over;
        println!(
            "{}: peak {:.0} committed/s; offered {:.0}/s ({:.1} times the peak) for {:.0} s: committed {:.0}/s \
             ({:.0} % of the peak), accepted {}, refused {} (503: {}, 507: {}), all with Retry-After",
            self.mode.name,
            self.peak_rate,
            over.offered_per_second(),
            over.offered_per_second() / self.peak_rate,
            over.elapsed.as_secs_f64(),
            over.committed_per_second(),
            100.0 * over.committed_per_second() / self.peak_rate,
            over.accepted,
            over.refused,
            over.refused - over.pool_full,
            over.pool_full,
        );
        println!(
            "accepted to committed: p50 {} ms, p99 {} ms, longest {} ms, of {}; refusals p50 {} ms, p99 {} ms",
            over.commit_quantile_ms(0.5),
            over.commit_quantile_ms(0.99),
            over.commit_quantile_ms(1.0),
            over.commit_latencies_ms.len(),
            over.refusal_quantile_ms(0.5),
            over.refusal_quantile_ms(0.99),
        );
        println!("{}", self.seen.line());
        println!(
            "resident {} MiB at most, the limits allow {} MiB; first submission committed {} ms after the load",
            self.resident / MIB,
            self.allowed / MIB,
            self.recovery.as_millis(),
        );
    }

    /// What any machine shows.
    pub async fn hold(&self, node: &TestNode) {
        let over = self.over;
        assert!(over.refused > 0 && over.accepted > 0, "it was no overload");
        assert_eq!(
            over.others, [""; 0],
            "answers that are neither 202 nor a refusal with Retry-After"
        );
        assert!(self.seen.all_answered(), "{:?}", self.seen);
        assert!(
            self.resident <= self.allowed,
            "more memory than the limits allow"
        );
        assert_eq!(
            over.unexplained(node).await,
            [""; 0],
            "accepted and neither committed nor left"
        );
    }

    /// What only a machine without other work shows.
    pub fn hold_rates(&self) {
        let over = self.over;
        assert!(
            over.offered_per_second() >= 0.9 * FACTOR * self.peak_rate,
            "offered too little"
        );
        assert!(
            over.committed_per_second() >= 0.8 * self.peak_rate,
            "throughput"
        );
        // What is accepted last is not much later than all that may wait.
        let wait_ms = 1_000.0 * self.mode.waiting_max / over.committed_per_second();
        assert!(
            (over.commit_quantile_ms(0.99) as f64) < 3.0 * wait_ms,
            "latency"
        );
        assert!(self.recovery < Duration::from_secs(1), "recovery");
        assert!(
            self.seen.slowest() < Duration::from_secs(1),
            "health and admin"
        );
    }
}

/// What the settings allow, as the node says it.
pub fn allowed_bytes(node: &TestNode) -> usize {
    let log = node.log();
    let (_, rest) = log.split_once("memory_bytes_max=").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
