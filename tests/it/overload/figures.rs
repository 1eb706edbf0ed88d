//! The figures of a run, and their limits.

use super::{FACTOR, Mode, load::Outcome, observers::Series};
use ledger_client::load::LatencySummary;
use ledger_test_support::node::TestNode;
use std::time::Duration;

/// The figures of a run.
pub struct Figures<'a> {
    pub mode: &'a Mode,
    pub peak_rate: f64,
    pub overload: &'a Outcome,
    pub observations: &'a [Series],
    /// The time from the end of the load to the first commit of a new client.
    pub recovery: Duration,
    /// Maximum resident memory of the process, in bytes.
    pub resident: usize,
    /// Memory that the settings allow, in bytes.
    pub allowed: usize,
}

impl Figures<'_> {
    #[allow(
        clippy::print_stdout,
        reason = "the figures are the result of a long run"
    )]
    /// Prints the figures.
    pub fn print(&self) {
        const MIB: usize = 1024 * 1024;
        let overload = self.overload;
        let [commits, rejections] = self.latencies();
        println!(
            "{}: peak {:.0} committed/s; offered {:.0}/s ({:.1} times the peak) for {:.0} s: \
             committed {:.0}/s ({:.0} % of the peak), accepted {}, rejected {} (503: {}, 507: {}), \
             all with Retry-After",
            self.mode.name,
            self.peak_rate,
            overload.offered_per_second(),
            overload.offered_per_second() / self.peak_rate,
            overload.elapsed.as_secs_f64(),
            overload.committed_per_second(),
            100.0 * overload.committed_per_second() / self.peak_rate,
            overload.accepted.len(),
            rejections.count,
            rejections.count - overload.pool_full,
            overload.pool_full,
        );
        println!(
            "accepted to committed: p50 {:.0} ms, p99 {:.0} ms, longest {:.0} ms, of {}; \
             rejections p50 {:.0} ms, p99 {:.0} ms",
            commits.p50_ms,
            commits.p99_ms,
            commits.max_ms,
            commits.count,
            rejections.p50_ms,
            rejections.p99_ms,
        );
        for series in self.observations {
            println!("{}", series.line());
        }
        println!(
            "resident {} MiB at most, the limits allow {} MiB; first submission committed {} ms \
             after the load",
            self.resident / MIB,
            self.allowed / MIB,
            self.recovery.as_millis(),
        );
    }

    /// Checks the figures that do not depend on the machine.
    pub async fn check(&self, node: &TestNode) {
        let overload = self.overload;
        let [_, rejections] = self.latencies();
        assert!(
            rejections.count > 0 && !overload.accepted.is_empty(),
            "the load was no overload"
        );
        assert_eq!(
            overload.unexpected, [""; 0],
            "responses that are neither 202 nor a rejection with Retry-After"
        );
        for series in self.observations {
            assert!(series.all_succeeded(), "{series:?}");
        }
        assert!(
            self.resident <= self.allowed,
            "more memory than the limits allow"
        );
        assert_eq!(
            overload.unexplained(node).await,
            [""; 0],
            "accepted and neither committed nor removed with a reason"
        );
    }

    /// Checks the figures that need a machine without other work.
    pub fn check_rates(&self) {
        let overload = self.overload;
        assert!(
            overload.offered_per_second() >= 0.9 * FACTOR * self.peak_rate,
            "the offered load is below the intended one"
        );
        assert!(
            overload.committed_per_second() >= 0.8 * self.peak_rate,
            "throughput"
        );
        // The latency of the last accepted transactions is at most that of a full queue, with a
        // margin.
        let wait_ms = 1_000.0 * self.mode.waiting_max / overload.committed_per_second();
        let [commits, _] = self.latencies();
        assert!(commits.p99_ms < 3.0 * wait_ms, "latency");
        assert!(self.recovery < Duration::from_secs(1), "recovery");
        for series in self.observations {
            assert!(series.slowest_ms() < 1_000.0, "{}", series.line());
        }
    }

    /// Returns the latencies of commits and of rejections.
    fn latencies(&self) -> [LatencySummary; 2] {
        [&self.overload.commits, &self.overload.rejections].map(LatencySummary::from)
    }
}

/// Returns the memory that the settings allow, in bytes, from the node's log.
pub fn allowed_bytes(node: &TestNode) -> usize {
    let log = node.log();
    let (_, rest) = log.split_once("memory_bytes_max=").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
