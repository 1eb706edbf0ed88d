//! Metrics of the threads behind a queue.

use super::progress::Watches;
use ledger_metrics::{BusyRatio, Computed, Counter, DurationRecorder, Gauge, Metric, counters};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Metrics of the threads of one queue.
#[derive(Debug)]
pub(crate) struct WorkMeter {
    thread: &'static str,
    threads: usize,
    created_at: Instant,
    /// Time from the creation to the queuing of the youngest job that was taken, in nanoseconds.
    /// Later jobs are younger. Relaxed, because it orders no other memory access.
    taken_queued_nanos: AtomicU64,
    busy: BusyRatio,
    counters: WorkCounters,
    /// The progress of each thread that was started.
    watches: Watches,
}

counters! {
    /// Counters of the threads of one queue.
    struct WorkCounters;

    /// Snapshot of the threads of one queue. Counts are since the start of the node.
    #[derive(Clone, Debug)]
    pub struct WorkStatus {
        /// Name of the threads.
        pub thread: Computed<&'static str>,
        /// Number of threads.
        pub threads: Computed<usize>,
        /// Number of queued jobs when one was last added or taken.
        pub depth: Gauge,
        /// Age of the oldest queued job in milliseconds, at most: that of the last job that was
        /// taken. 0 if `depth` is 0.
        pub oldest_waiting_ms: Computed<u64>,
        /// Jobs that were rejected because the queue was full.
        pub refused: Counter,
        /// Duration of each job.
        pub took: DurationRecorder,
        /// Time that jobs had waited in the queue. The writer records the first of each group.
        pub waited: DurationRecorder,
        /// Share of the threads' recent time that jobs took, in thousandths.
        pub busy_permille: Computed<u64>,
    }
}

impl WorkMeter {
    /// Creates the metrics of a number of threads with this name.
    pub(crate) fn new(thread: &'static str, threads: usize) -> Self {
        Self {
            thread,
            threads,
            created_at: Instant::now(),
            taken_queued_nanos: AtomicU64::new(0),
            busy: BusyRatio::new(),
            counters: WorkCounters::default(),
            watches: Watches::default(),
        }
    }

    /// Returns the watches of the threads.
    pub(crate) fn watches(&self) -> &Watches {
        &self.watches
    }

    /// Returns the number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the number of jobs that have ended.
    pub(super) fn jobs_ended(&self) -> u64 {
        self.counters.took.snapshot().count()
    }

    /// Sets the number of queued jobs. The thread that adds or takes a job calls this.
    pub(crate) fn set_depth(&self, jobs: usize) {
        self.counters.depth.set(jobs);
    }

    /// Counts a job that was rejected because the queue was full.
    pub(crate) fn count_refused(&self) {
        self.counters.refused.increment();
    }

    /// Returns the number of jobs that were rejected because the queue was full.
    pub(super) fn refused(&self) -> u64 {
        self.counters.refused.snapshot()
    }

    /// Records the time that a job had waited when a thread took it at `taken_at`.
    pub(crate) fn record_waited(&self, duration: Duration, taken_at: Instant) {
        self.counters.waited.record(duration);
        let taken_after = taken_at.saturating_duration_since(self.created_at);
        let queued_after = taken_after.saturating_sub(duration);
        self.taken_queued_nanos
            .fetch_max(queued_after.as_nanos() as u64, Relaxed);
    }

    /// Returns the largest possible age of the oldest of `depth` queued jobs, in milliseconds.
    pub(crate) fn oldest_waiting_ms(&self, depth: usize) -> u64 {
        if depth == 0 {
            return 0;
        }
        let queued_after = Duration::from_nanos(self.taken_queued_nanos.load(Relaxed));
        let age = self.created_at.elapsed().saturating_sub(queued_after);
        age.as_millis() as u64
    }

    /// Records a job that took `duration` and ended at `ended`.
    pub(crate) fn record_job(&self, ended: Instant, duration: Duration) {
        self.counters.took.record(duration);
        self.busy.record(ended, duration);
    }

    /// Returns the current values.
    pub(crate) fn status(&self) -> WorkStatus {
        let counts = self.counters.snapshot();
        WorkStatus {
            thread: self.thread,
            threads: self.threads,
            oldest_waiting_ms: self.oldest_waiting_ms(counts.depth),
            busy_permille: self.busy.permille(Instant::now(), self.threads),
            ..counts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_job_is_at_most_as_old_as_the_last_one_that_was_taken() {
        let mut meter = WorkMeter::new("test", 2);
        meter.created_at = Instant::now() - Duration::from_secs(10);
        assert_eq!(meter.status().oldest_waiting_ms, 0, "none is queued");
        meter.set_depth(1);
        let now = Instant::now();
        meter.record_waited(Duration::from_secs(3), now);
        // A job that another thread took before it, and recorded later.
        meter.record_waited(Duration::from_secs(5), now);
        let age_ms = meter.status().oldest_waiting_ms;
        assert!((3_000..5_000).contains(&age_ms), "{age_ms}");
        meter.set_depth(0);
        assert_eq!(meter.status().oldest_waiting_ms, 0, "none is queued");
    }
}
