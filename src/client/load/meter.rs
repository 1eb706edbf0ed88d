//! The number of committed transactions, read from the ledger.
//!
//! Each block has two transactions besides those of users: its metadata and its epilogue. The
//! latest version and height therefore determine the number of committed user transactions.

use super::{process_usage::ResourceUsage, run::Run};
use crate::{ClientError, LedgerState, NodeClient};
use std::time::{Duration, Instant};

/// Interval between two samples.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// Interval between two samples after the load, when each sample may be the last.
const FINAL_SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum time without a commit after the load. Transfers that are then missing are uncommitted.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(15);

/// Time limit for the response to a sample's request.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of transactions of a block that are not of users.
const SYSTEM_TRANSACTIONS_PER_BLOCK: u64 = 2;

/// A counter of committed transactions that reads the ledger at regular intervals.
#[derive(Debug)]
pub struct Meter {
    node: NodeClient,
    begin: LedgerState,
}

/// The number of committed transactions at one time.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The time since the end of the warm-up.
    pub at: Duration,
    /// Number of transactions committed since the end of the warm-up.
    pub committed: u64,
}

/// The commits of a run since the end of its warm-up.
#[derive(Debug, Default)]
pub struct History {
    /// Samples with more commits than the one before, and the first sample.
    samples: Vec<Sample>,
    /// Number of transactions committed during the warm-up.
    committed_in_warm_up: u64,
    /// Resource usage up to the end of the warm-up.
    usage_before: ResourceUsage,
    /// Resource usage up to the end of the run.
    usage_after: ResourceUsage,
}

impl Meter {
    /// Starts to count at the latest version.
    ///
    /// # Errors
    ///
    /// Returns the error of [`NodeClient::ledger`].
    pub async fn start(node: NodeClient) -> Result<Self, ClientError> {
        let begin = node.ledger().await?;
        Ok(Self { node, begin })
    }

    /// Counts until the load is over and all accepted transfers are committed, or until no further
    /// commits are seen. `on_sample` is called with each sample.
    ///
    /// If the node does not respond, this stops the run and returns the history up to then.
    pub async fn watch(self, run: &Run, on_sample: impl FnMut(Sample)) -> History {
        let mut history = History::default();
        if let Err(error) = self.fill(&mut history, run, on_sample).await {
            run.stop(error);
            while !run.is_finished() {
                tokio::time::sleep(FINAL_SAMPLE_INTERVAL).await;
            }
        }
        history.usage_after = ResourceUsage::now(run.plan().pid);
        history
    }

    async fn fill(
        &self,
        history: &mut History,
        run: &Run,
        mut on_sample: impl FnMut(Sample),
    ) -> Result<(), String> {
        if run.has_warm_up() {
            tokio::select! {
                () = tokio::time::sleep_until(run.measured_from().into()) => {}
                () = run.wait_stopped() => {}
            }
            let committed = self.committed().await?;
            // The response may be late and include commits of measured transfers.
            history.committed_in_warm_up =
                committed.min(run.accepted().saturating_sub(run.accepted_measured()));
        }
        let begin = Instant::now();
        history.usage_before = ResourceUsage::now(run.plan().pid);
        history.usage_after = history.usage_before;
        history.push(Sample {
            at: Duration::ZERO,
            committed: 0,
        });
        let mut last_commit = begin;
        loop {
            let interval = if run.is_finished() {
                FINAL_SAMPLE_INTERVAL
            } else {
                SAMPLE_INTERVAL
            };
            tokio::time::sleep(interval).await;
            // Read before the request: a run that is finished now has counted all acceptances.
            let is_finished = run.is_finished();
            let committed = self.committed().await?;
            let sample = Sample {
                at: begin.elapsed(),
                committed: committed.saturating_sub(history.committed_in_warm_up),
            };
            if history.push(sample) {
                last_commit = Instant::now();
            }
            on_sample(sample);
            let is_complete = committed >= run.accepted();
            let is_abandoned = last_commit.elapsed() > COMMIT_TIMEOUT || run.is_commit_abandoned();
            if is_finished && (is_complete || is_abandoned) {
                return Ok(());
            }
        }
    }

    /// Returns the number of user transactions that were committed since the start.
    async fn committed(&self) -> Result<u64, String> {
        let response = tokio::time::timeout(SAMPLE_TIMEOUT, self.node.ledger()).await;
        let now = response
            .map_err(|_| {
                format!(
                    "the node did not respond within {} s",
                    SAMPLE_TIMEOUT.as_secs()
                )
            })?
            .map_err(|error| error.to_string())?;
        let versions = now.version.saturating_sub(self.begin.version);
        let blocks = now.block_height.saturating_sub(self.begin.block_height);
        Ok(versions.saturating_sub(blocks.saturating_mul(SYSTEM_TRANSACTIONS_PER_BLOCK)))
    }
}

impl History {
    /// Adds a sample if it has more commits than the last one, and returns whether it has.
    fn push(&mut self, sample: Sample) -> bool {
        let has_commits = self
            .samples
            .last()
            .is_none_or(|last| sample.committed > last.committed);
        if has_commits {
            self.samples.push(sample);
        }
        has_commits
    }

    /// Returns the number of transactions committed during the warm-up.
    pub fn committed_in_warm_up(&self) -> u64 {
        self.committed_in_warm_up
    }

    /// Returns the resource usage up to the end of the warm-up.
    pub fn usage_before(&self) -> ResourceUsage {
        self.usage_before
    }

    /// Returns the resource usage up to the end of the run.
    pub fn usage_after(&self) -> ResourceUsage {
        self.usage_after
    }

    /// Returns the number of transactions committed after the warm-up.
    pub fn committed(&self) -> u64 {
        self.samples.last().map_or(0, |last| last.committed)
    }

    /// Returns the time from the end of the warm-up to the sample with the last commit.
    pub fn duration(&self) -> Duration {
        self.samples.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// Returns the commits per second in each of `parts` parts with the same number of commits.
    pub fn rates(&self, parts: u64) -> Vec<f64> {
        let total = self.committed() as f64;
        let bound = |part: u64| self.time_of(total * part as f64 / parts as f64);
        (0..parts)
            .map(|part| total / parts as f64 / (bound(part + 1) - bound(part)))
            .map(|rate| if rate.is_finite() { rate } else { 0.0 })
            .collect()
    }

    /// Returns the time, in seconds, of the commit with this number.
    ///
    /// Between two samples the rate is assumed to be constant.
    fn time_of(&self, committed: f64) -> f64 {
        let after = self
            .samples
            .iter()
            .position(|sample| sample.committed as f64 >= committed);
        match after {
            None => self.duration().as_secs_f64(),
            Some(0) => self.samples[0].at.as_secs_f64(),
            Some(index) => {
                let (before, after) = (self.samples[index - 1], self.samples[index]);
                let (from, to) = (before.committed as f64, after.committed as f64);
                let share = (committed - from) / (to - from);
                before.at.as_secs_f64() + share * (after.at - before.at).as_secs_f64()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_commits_into_parts_of_equal_size() {
        let mut history = History::default();
        for (secs, committed) in [(0, 0), (1, 100), (2, 100), (3, 150), (5, 200)] {
            history.push(Sample {
                at: Duration::from_secs(secs),
                committed,
            });
        }
        assert_eq!(
            (history.committed(), history.duration().as_secs()),
            (200, 5)
        );
        // 100 in the first second, the next 100 in four seconds.
        assert_eq!(history.rates(2), [100.0, 25.0]);
        assert_eq!(history.rates(1), [40.0]);
    }

    #[test]
    fn returns_zero_rates_without_commits() {
        let mut history = History::default();
        history.push(Sample {
            at: Duration::ZERO,
            committed: 0,
        });
        assert_eq!(history.rates(5), [0.0; 5]);
        assert_eq!(History::default().rates(2), [0.0; 2]);
    }
}
