//! What the connections of a run share: when it began, how much of it is left, how much was taken.

use super::{form::Form, plan::Plan, target::Target};
use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Instant,
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
    /// When what is measured begins: the connections are made by then, and the node is warm.
    measured_from: Instant,
    issued: AtomicU64,
    issued_measured: AtomicU64,
    accepted: AtomicU64,
    accepted_measured: AtomicU64,
    /// How many threads still send.
    sending: AtomicUsize,
}

/// A transfer that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    /// When it is due; latency counts from here.
    pub at: Instant,
    /// Whether it is not one of the warm-up.
    pub measured: bool,
}

/// A thread that sends; until it is dropped.
#[derive(Debug)]
pub struct Sending<'a>(&'a AtomicUsize);

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Load {
    /// Begins now.
    pub fn begin(plan: Plan, target: Target, form: Form) -> Self {
        let begun = Instant::now();
        Self {
            form,
            version_header: format!("x-{}-ledger-version", plan.chain.vendor.lower()),
            target,
            begun,
            measured_from: begun + plan.ramp + plan.warm_up,
            issued: AtomicU64::new(0),
            issued_measured: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            accepted_measured: AtomicU64::new(0),
            sending: AtomicUsize::new(plan.threads),
            plan,
        }
    }

    /// When what is measured begins.
    pub fn measured_from(&self) -> Instant {
        self.measured_from
    }

    /// Whether there is a time before.
    pub fn has_warm_up(&self) -> bool {
        self.measured_from > self.begun
    }

    /// When a connection is to be made.
    pub fn connect_at(&self, connection: usize) -> Instant {
        let share = connection as f64 / self.plan.connections as f64;
        self.begun + self.plan.ramp.mul_f64(share)
    }

    /// Whether the time for new transfers is over.
    pub fn is_over(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    fn end(&self) -> Option<Instant> {
        self.plan.duration.map(|duration| self.measured_from + duration)
    }

    /// The next transfer of the run, or `None` when it has no more. In an open loop it may be due
    /// later; then the caller waits.
    pub fn next(&self) -> Option<Due> {
        let at = match self.plan.interval {
            None => Instant::now(),
            Some(interval) => {
                let number = self.issued.fetch_add(1, Relaxed);
                self.begun + interval.mul_f64(number as f64)
            }
        };
        if self.end().is_some_and(|end| at >= end || self.is_over()) {
            return None;
        }
        let measured = at >= self.measured_from;
        if measured {
            let number = self.issued_measured.fetch_add(1, Relaxed);
            if self.plan.transfers.is_some_and(|transfers| number >= transfers) {
                return None;
            }
        }
        Some(Due { at, measured })
    }

    /// Counts a transfer that the node took.
    pub fn accept(&self, due: Due) {
        self.accepted.fetch_add(1, Relaxed);
        if due.measured {
            self.accepted_measured.fetch_add(1, Relaxed);
        }
    }

    /// How many the node took, the warm-up's included.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// How many the node took after the warm-up.
    pub fn accepted_measured(&self) -> u64 {
        self.accepted_measured.load(Relaxed)
    }

    /// For one of the threads, while it sends.
    pub fn sending(&self) -> Sending<'_> {
        Sending(&self.sending)
    }

    /// Whether no thread sends any more.
    pub fn is_finished(&self) -> bool {
        self.sending.load(Relaxed) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::plan::tests::plan;
    use std::time::Duration;

    fn load(plan: Plan) -> Load {
        let target = Target::parse("http://127.0.0.1:1").unwrap();
        let form = Form::new(&plan, &target);
        Load::begin(plan, target, form)
    }

    #[test]
    fn transfers_of_an_open_loop_are_due_at_even_times_whoever_asks_late() {
        let interval = Duration::from_millis(10);
        let load = load(Plan {
            interval: Some(interval),
            transfers: Some(5),
            ramp: Duration::from_millis(10),
            warm_up: Duration::from_millis(20),
            ..plan()
        });
        let due: Vec<_> = std::iter::from_fn(|| load.next()).collect();
        let measured = due.iter().filter(|due| due.measured).count();
        assert_eq!((due.len(), measured), (3 + 5, 5), "three are of ramp and warm-up");
        for pair in due.windows(2) {
            let between = pair[1].at - pair[0].at;
            assert!(
                between.abs_diff(interval) < Duration::from_micros(1),
                "{between:?}"
            );
        }
    }

    #[test]
    fn connections_are_made_one_after_the_other_within_the_ramp() {
        let load = load(Plan {
            connections: 4,
            ramp: Duration::from_secs(8),
            ..plan()
        });
        let after = |connection| load.connect_at(connection) - load.begun;
        assert_eq!(
            [after(0), after(1), after(3)].map(|after| after.as_secs()),
            [0, 2, 6]
        );
        assert!(load.measured_from() - load.begun >= Duration::from_secs(8));
    }

    #[test]
    fn a_run_ends_with_its_number_of_transfers_and_when_all_threads_have_ended() {
        let load = load(Plan {
            transfers: Some(2),
            threads: 2,
            ..plan()
        });
        assert_eq!(std::iter::from_fn(|| load.next()).count(), 2);
        drop(load.sending());
        assert!(!load.is_finished());
        drop(load.sending());
        assert!(load.is_finished());
    }
}
