//! The threads behind queues: how long their jobs take, and how many wait.

use ledger_metrics::{BusyRatio, DurationRecorder, Histogram};
use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The meter of the threads of one queue.
#[derive(Debug)]
pub(crate) struct WorkMeter {
    thread: &'static str,
    threads: usize,
    depth: AtomicUsize,
    refused: AtomicU64,
    took: DurationRecorder,
    busy: BusyRatio,
}

impl WorkMeter {
    /// Of so many threads of this name.
    pub(crate) fn new(thread: &'static str, threads: usize) -> Self {
        Self {
            thread,
            threads,
            depth: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            took: DurationRecorder::default(),
            busy: BusyRatio::new(),
        }
    }

    /// So many jobs wait now: told by whoever adds one or takes one away.
    pub(crate) fn waiting(&self, jobs: usize) {
        self.depth.store(jobs, Relaxed);
    }

    /// A job was not taken in, as the queue was full.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// A job was done.
    pub(crate) fn done(&self, ended: Instant, took: Duration) {
        self.took.record(took);
        self.busy.record(ended, took);
    }

    pub(crate) fn status(&self) -> WorkStatus {
        WorkStatus {
            thread: self.thread,
            threads: self.threads,
            depth: self.depth.load(Relaxed),
            refused: self.refused.load(Relaxed),
            took: self.took.read(),
            busy_permille: self.busy.permille(Instant::now(), self.threads),
        }
    }
}

/// What is seen of the threads of one queue. Counts are since the start of the node.
#[derive(Clone, Debug)]
pub struct WorkStatus {
    /// The threads' name.
    pub thread: &'static str,
    /// How many there are.
    pub threads: usize,
    /// How many jobs waited when one was last added or taken.
    pub depth: usize,
    /// Jobs that were not taken in, as the queue was full.
    pub refused: u64,
    /// How long each job took.
    pub took: Histogram,
    /// What share of the threads' time jobs took lately, in thousandths.
    pub busy_permille: u64,
}
