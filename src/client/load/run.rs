//! What the connections of a run share: when it began, how much of it is left, how much was taken.

use super::{plan::Plan, requests::Form, target::Target};
use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long answers may take after the last transfer was sent. A long poll ends within this time.
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(10);

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
    /// Why the run was stopped before the end of its plan.
    stop_cause: OnceLock<String>,
    /// When answers are no longer waited for; `None` while the run has no end by time.
    answers_until: watch::Sender<Option<Instant>>,
    is_commitment_abandoned: AtomicBool,
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
        let measured_from = begun + plan.ramp + plan.warm_up;
        let end = plan.duration.map(|duration| measured_from + duration);
        Self {
            form,
            version_header: format!("x-{}-ledger-version", plan.chain.vendor.lower()),
            target,
            begun,
            measured_from,
            stop_cause: OnceLock::new(),
            is_commitment_abandoned: AtomicBool::new(false),
            answers_until: watch::Sender::new(end.map(|end| end + LAST_ANSWERS_TIMEOUT)),
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

    /// Returns whether no new transfers are to be sent.
    pub fn is_over(&self) -> bool {
        self.stop_cause().is_some() || self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Stops the run: no new transfers are sent, and answers are awaited for [`LAST_ANSWERS_TIMEOUT`] at most.
    ///
    /// The first cause counts.
    pub fn stop(&self, cause: impl Into<String>) {
        if self.stop_cause.set(cause.into()).is_ok() {
            self.await_answers_until(Instant::now() + LAST_ANSWERS_TIMEOUT);
        }
    }

    /// Stops waiting for answers, and for the commitment of what was accepted.
    pub fn abandon(&self) {
        self.is_commitment_abandoned.store(true, Relaxed);
        self.await_answers_until(Instant::now());
    }

    /// Returns whether the commitment of what was accepted is no longer waited for.
    pub fn is_commitment_abandoned(&self) -> bool {
        self.is_commitment_abandoned.load(Relaxed)
    }

    /// Returns why the run was stopped, or `None` if it was not.
    pub fn stop_cause(&self) -> Option<&str> {
        self.stop_cause.get().map(String::as_str)
    }

    fn await_answers_until(&self, at: Instant) {
        self.answers_until.send_modify(|until| {
            *until = Some(until.map_or(at, |until| until.min(at)));
        });
    }

    fn are_answers_due(&self) -> bool {
        self.answers_until
            .borrow()
            .is_some_and(|until| Instant::now() >= until)
    }

    /// Waits until the run is stopped.
    pub async fn stopped(&self) {
        let mut changes = self.answers_until.subscribe();
        while self.stop_cause().is_none() {
            // The sender is in `self`, so there is no error.
            let _ = changes.changed().await;
        }
    }

    /// Waits until answers are no longer waited for.
    pub async fn answers_are_due(&self) {
        let mut changes = self.answers_until.subscribe();
        while !self.are_answers_due() {
            let until = *changes.borrow_and_update();
            let due = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => {}
                _ = changes.changed() => {}
            }
        }
    }

    fn end(&self) -> Option<Instant> {
        self.plan
            .duration
            .map(|duration| self.measured_from + duration)
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
        if self.is_over() || self.end().is_some_and(|end| at >= end) {
            return None;
        }
        let measured = at >= self.measured_from;
        if measured {
            let number = self.issued_measured.fetch_add(1, Relaxed);
            if self
                .plan
                .transfers
                .is_some_and(|transfers| number >= transfers)
            {
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
    use futures::future::poll_immediate;
    use std::pin::pin;

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
        assert_eq!(
            (due.len(), measured),
            (3 + 5, 5),
            "three are of ramp and warm-up"
        );
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
    fn sends_nothing_after_it_is_stopped() {
        let load = load(plan());
        assert!(load.next().is_some());
        load.stop("interrupted");
        load.stop("a later cause");
        assert!(load.next().is_none() && load.is_over());
        assert_eq!(load.stop_cause(), Some("interrupted"));
    }

    #[tokio::test(start_paused = true)]
    async fn waits_for_answers_for_a_time_after_the_end_and_not_after_it_is_abandoned() {
        let load = load(plan());
        let mut due = pin!(load.answers_are_due());
        assert_eq!(poll_immediate(due.as_mut()).await, None);
        load.stop("interrupted");
        assert_eq!(poll_immediate(due.as_mut()).await, None);
        load.abandon();
        due.await;
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
