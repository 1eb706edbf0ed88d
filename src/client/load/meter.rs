//! Counting on the ledger: a block has its user transactions and two of its own (metadata and
//! epilogue), so versions and heights together tell how many user transactions are committed.

use super::{process_usage::Usage, progress, run::Load};
use indicatif::ProgressBar;
use ledger_client::{ClientError, LedgerState, NodeClient};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The time between two looks at the ledger.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The same once nothing is sent any more, when the next look may be the one that ends the run.
const LAST_LOOKS_INTERVAL: Duration = Duration::from_millis(5);
/// How long the count may stand still after the load, before what is missing counts as uncommitted.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long an answer to a look may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// Transactions of a block that are not its users'.
const OWN_TRANSACTIONS_PER_BLOCK: u64 = 2;

/// Looks at the ledger in regular intervals.
#[derive(Debug)]
pub struct Meter {
    node: NodeClient,
    begin: LedgerState,
}

/// How many transactions were committed when.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    committed: u64,
}

/// The course of a run from the end of its warm-up, as the ledger tells it.
#[derive(Debug, Default)]
pub struct History {
    samples: Vec<Sample>,
    /// How many were committed within the warm-up.
    warm_up: u64,
    /// What was used until the end of the warm-up, and until the end.
    usage: [Usage; 2],
}

impl Meter {
    /// Begins at the newest version.
    ///
    /// # Errors
    /// When the node does not answer.
    pub async fn begin(node: NodeClient) -> Result<Self, ClientError> {
        let begin = node.ledger().await?;
        Ok(Self { node, begin })
    }

    /// Watches until the load is over and all accepted transfers are committed, or nothing moves any more.
    ///
    /// If the node does not answer, this stops the load and returns the history until then.
    pub async fn watch(self, load: Arc<Load>, bar: ProgressBar) -> History {
        let mut history = History::default();
        if let Err(error) = self.fill(&mut history, &load, &bar).await {
            load.stop(error);
            while !load.is_finished() {
                tokio::time::sleep(LAST_LOOKS_INTERVAL).await;
            }
        }
        bar.finish_and_clear();
        history.usage[1] = Usage::now(load.plan.pid);
        history
    }

    async fn fill(
        &self,
        history: &mut History,
        load: &Load,
        bar: &ProgressBar,
    ) -> Result<(), String> {
        if load.has_warm_up() {
            tokio::select! {
                () = tokio::time::sleep_until(load.measured_from().into()) => {}
                () = load.stopped() => {}
            }
            let committed = self.committed().await?;
            // The look may be late, and what is measured begun.
            history.warm_up =
                committed.min(load.accepted().saturating_sub(load.accepted_measured()));
        }
        let begin = Instant::now();
        history.usage = [Usage::now(load.plan.pid); 2];
        history.push(Duration::ZERO, 0);
        let mut moved = begin;
        loop {
            let interval = if load.is_finished() {
                LAST_LOOKS_INTERVAL
            } else {
                LOOK_INTERVAL
            };
            tokio::time::sleep(interval).await;
            // Before the look: who has finished by now has had all its answers by now.
            let finished = load.is_finished();
            let committed = self.committed().await?;
            let measured = committed.saturating_sub(history.warm_up);
            if history.push(begin.elapsed(), measured) {
                moved = Instant::now();
            }
            progress::show(bar, load, measured, begin.elapsed());
            let complete = committed >= load.accepted();
            let is_given_up = moved.elapsed() > PATIENCE || load.is_commitment_abandoned();
            if finished && (complete || is_given_up) {
                return Ok(());
            }
        }
    }

    async fn committed(&self) -> Result<u64, String> {
        let look = tokio::time::timeout(LOOK_TIMEOUT, self.node.ledger()).await;
        let now = look
            .map_err(|_| {
                format!(
                    "the node did not answer within {} s",
                    LOOK_TIMEOUT.as_secs()
                )
            })?
            .map_err(|error| error.to_string())?;
        let versions = now.version.saturating_sub(self.begin.version);
        let blocks = now.block_height.saturating_sub(self.begin.block_height);
        Ok(versions.saturating_sub(blocks.saturating_mul(OWN_TRANSACTIONS_PER_BLOCK)))
    }
}

impl History {
    /// Adds a look; says whether the count has moved. Only moves are kept.
    fn push(&mut self, at: Duration, committed: u64) -> bool {
        let moved = self
            .samples
            .last()
            .is_none_or(|last| committed > last.committed);
        if moved {
            self.samples.push(Sample { at, committed });
        }
        moved
    }

    /// How many transactions were committed within the warm-up.
    pub fn committed_in_warm_up(&self) -> u64 {
        self.warm_up
    }

    /// What was used until the end of the warm-up, and until the end.
    pub fn usage(&self) -> &[Usage; 2] {
        &self.usage
    }

    /// How many transactions were committed after the warm-up.
    pub fn committed(&self) -> u64 {
        self.samples.last().map_or(0, |last| last.committed)
    }

    /// How long it took until the last of them was seen.
    pub fn duration(&self) -> Duration {
        self.samples.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// The rate in each of `parts` parts of equally many transactions, in transactions per second.
    pub fn rates(&self, parts: u64) -> Vec<f64> {
        let total = self.committed() as f64;
        let bound = |part: u64| self.time_of(total * part as f64 / parts as f64);
        (0..parts)
            .map(|part| total / parts as f64 / (bound(part + 1) - bound(part)))
            .map(|rate| if rate.is_finite() { rate } else { 0.0 })
            .collect()
    }

    /// When so many were committed, in seconds; between two looks the rate is taken as even.
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
    fn parts_hold_equally_many_transactions() {
        let mut history = History::default();
        for (secs, committed) in [(0, 0), (1, 100), (2, 100), (3, 150), (5, 200)] {
            history.push(Duration::from_secs(secs), committed);
        }
        assert_eq!(
            (history.committed(), history.duration().as_secs()),
            (200, 5)
        );
        // 100 in the first second; the next 100 in four.
        assert_eq!(history.rates(2), [100.0, 25.0]);
        assert_eq!(history.rates(1), [40.0]);
    }

    #[test]
    fn nothing_committed_is_no_rate() {
        let mut history = History::default();
        history.push(Duration::ZERO, 0);
        assert_eq!(history.rates(5), [0.0; 5]);
        assert_eq!(History::default().rates(2), [0.0; 2]);
    }
}
