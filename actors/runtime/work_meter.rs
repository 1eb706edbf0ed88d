//! Metrics of the threads behind a queue.

use super::progress::Watches;
use ledger_metrics::{BusyRatio, Computed, Counter, DurationRecorder, Gauge, Metric, counters};
use std::time::{Duration, Instant};

/// Metrics of the threads of one queue.
#[derive(Debug)]
pub(crate) struct WorkMeter {
    thread: &'static str,
    threads: usize,
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

    /// Records the time that a job had waited when a thread took it.
    pub(crate) fn record_waited(&self, duration: Duration) {
        self.counters.waited.record(duration);
    }

    /// Records a job that took `duration` and ended at `ended`.
    pub(crate) fn record_job(&self, ended: Instant, duration: Duration) {
        self.counters.took.record(duration);
        self.busy.record(ended, duration);
    }

    /// Returns the current values.
    pub(crate) fn status(&self) -> WorkStatus {
        WorkStatus {
            thread: self.thread,
            threads: self.threads,
            busy_permille: self.busy.permille(Instant::now(), self.threads),
            ..self.counters.snapshot()
        }
    }
}
