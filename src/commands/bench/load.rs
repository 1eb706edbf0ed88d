//! What the connections of a run share: when it began, how much of it is left, how much was taken.

use super::{connection::Target, form::Form, plan::Plan};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// A run under way.
#[derive(Debug)]
pub struct Load {
    pub plan: Plan,
    pub target: Target,
    pub form: Form,
    /// The name of the header with the version that an answer was given at.
    pub version_header: String,
    begun: Instant,
    issued: AtomicU64,
    accepted: AtomicU64,
    finished: AtomicBool,
}

/// A transfer that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    /// When it is due; latency counts from here.
    pub at: Instant,
}

impl Load {
    /// Begins now.
    pub fn begin(plan: Plan, target: Target) -> Self {
        Self {
            form: Form::new(plan.format, &plan.chain),
            version_header: format!("x-{}-ledger-version", plan.chain.vendor.lower()),
            plan,
            target,
            begun: Instant::now(),
            issued: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        }
    }

    /// How long it has been going on.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whether the time for new transfers is over.
    pub fn is_over(&self) -> bool {
        self.plan
            .duration
            .is_some_and(|duration| self.elapsed() >= duration)
    }

    /// The next transfer of the run, or `None` when it has no more. In an open loop it may be due
    /// later; then the caller waits.
    pub fn next(&self) -> Option<Due> {
        if self.is_over() {
            return None;
        }
        let number = self.issued.fetch_add(1, Relaxed);
        if self.plan.transfers.is_some_and(|transfers| number >= transfers) {
            return None;
        }
        let Some(interval) = self.plan.interval else {
            return Some(Due { at: Instant::now() });
        };
        let after = Duration::from_secs_f64(interval.as_secs_f64() * number as f64);
        let in_time = self.plan.duration.is_none_or(|duration| after < duration);
        in_time.then(|| Due {
            at: self.begun + after,
        })
    }

    /// Counts a transfer that the node took.
    pub fn accept(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    /// How many the node took.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// Says that no connection sends any more.
    pub fn finish(&self) {
        self.finished.store(true, Relaxed);
    }

    /// Whether no connection sends any more.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Relaxed)
    }
}
