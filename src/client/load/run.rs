//! The state that the connections of a run share: schedule, counters, end.

use super::{plan::Plan, requests::Requests};
use crate::http::Endpoint;
use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Maximum time for responses after the last transfer was sent. A long poll takes less.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    plan: Plan,
    endpoint: Endpoint,
    requests: Requests,
    /// Name of the header with the ledger version of a response.
    version_header: String,
    started: Instant,
    measured_from: Instant,
    scheduled: AtomicU64,
    scheduled_measured: AtomicU64,
    accepted: AtomicU64,
    accepted_measured: AtomicU64,
    /// Number of threads that still send.
    sending_threads: AtomicUsize,
    /// The reason for a stop before the end of the plan.
    stop_cause: OnceLock<String>,
    /// The time until which responses are awaited. `None` while the end of the run is unknown.
    drain_deadline: watch::Sender<Option<Instant>>,
    is_commit_abandoned: AtomicBool,
}

/// A transfer in the schedule of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScheduledTransfer {
    /// The time at which the transfer is due. Its latency counts from here.
    pub due_at: Instant,
    /// Whether the transfer is due after the warm-up.
    pub is_measured: bool,
}

/// A guard of a thread that sends. The thread counts as sending until the guard is dropped.
#[derive(Debug)]
pub(super) struct SendingGuard<'a>(&'a AtomicUsize);

impl Drop for SendingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Run {
    /// Starts a run against the node at `endpoint`.
    ///
    /// The schedule starts now. All threads of the plan count as sending.
    pub fn start(plan: Plan, endpoint: Endpoint, requests: Requests) -> Self {
        let started = Instant::now();
        let measured_from = started + plan.ramp + plan.warm_up;
        let end = plan.duration.map(|duration| measured_from + duration);
        Self {
            version_header: format!("x-{}-ledger-version", plan.chain.vendor.lower()),
            endpoint,
            requests,
            started,
            measured_from,
            scheduled: AtomicU64::new(0),
            scheduled_measured: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            accepted_measured: AtomicU64::new(0),
            sending_threads: AtomicUsize::new(plan.threads),
            stop_cause: OnceLock::new(),
            drain_deadline: watch::Sender::new(end.map(|end| end + DRAIN_TIMEOUT)),
            is_commit_abandoned: AtomicBool::new(false),
            plan,
        }
    }

    /// Returns the plan of the run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the address of the node.
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the writer of the run's requests.
    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Returns the name of the header with the ledger version of a response.
    pub(super) fn version_header(&self) -> &str {
        &self.version_header
    }

    /// Returns the end of the warm-up.
    pub(super) fn measured_from(&self) -> Instant {
        self.measured_from
    }

    /// Returns whether some transfers of the run are not measured.
    pub(super) fn has_warm_up(&self) -> bool {
        self.measured_from > self.started
    }

    /// Returns the time at which the connection with this index is to be opened.
    pub(super) fn connect_at(&self, connection: usize) -> Instant {
        let share = connection as f64 / self.plan.connections as f64;
        self.started + self.plan.ramp.mul_f64(share)
    }

    /// Returns whether no new transfers are to be sent.
    pub(super) fn is_over(&self) -> bool {
        self.stop_cause().is_some() || self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Stops the run: no new transfers are sent, and responses are awaited for at most 10 s.
    ///
    /// Further calls have no effect. The cause of the first call is reported.
    pub fn stop(&self, cause: impl Into<String>) {
        if self.stop_cause.set(cause.into()).is_ok() {
            self.drain_until(Instant::now() + DRAIN_TIMEOUT);
        }
    }

    /// Ends the wait for responses, and for the commit of accepted transfers.
    pub fn abandon(&self) {
        self.is_commit_abandoned.store(true, Relaxed);
        self.drain_until(Instant::now());
    }

    /// Returns whether the commit of accepted transfers is no longer awaited.
    pub(super) fn is_commit_abandoned(&self) -> bool {
        self.is_commit_abandoned.load(Relaxed)
    }

    /// Returns the reason for which the run was stopped, or `None` if it was not.
    pub fn stop_cause(&self) -> Option<&str> {
        self.stop_cause.get().map(String::as_str)
    }

    /// Moves the drain deadline to `at`, unless it is earlier.
    fn drain_until(&self, at: Instant) {
        self.drain_deadline.send_modify(|deadline| {
            *deadline = Some(deadline.map_or(at, |deadline| deadline.min(at)));
        });
    }

    fn is_drain_over(&self) -> bool {
        self.drain_deadline
            .borrow()
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits until the run is stopped.
    pub(super) async fn wait_stopped(&self) {
        let mut changes = self.drain_deadline.subscribe();
        while self.stop_cause().is_none() {
            // There is no error, because the sender is a field of `self`.
            let _ = changes.changed().await;
        }
    }

    /// Waits until the drain deadline, which may move during the wait.
    pub(super) async fn wait_drain_over(&self) {
        let mut changes = self.drain_deadline.subscribe();
        while !self.is_drain_over() {
            let deadline = *changes.borrow_and_update();
            let elapsed = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = elapsed => {}
                _ = changes.changed() => {}
            }
        }
    }

    /// Returns the time at which the plan ends the load, if it does.
    fn end(&self) -> Option<Instant> {
        self.plan
            .duration
            .map(|duration| self.measured_from + duration)
    }

    /// Returns the next transfer of the schedule, or `None` at its end.
    ///
    /// In an open loop the transfer may be due later. The caller waits until then.
    pub(super) fn next_transfer(&self) -> Option<ScheduledTransfer> {
        let due_at = match self.plan.interval {
            None => Instant::now(),
            Some(interval) => {
                let number = self.scheduled.fetch_add(1, Relaxed);
                self.started + interval.mul_f64(number as f64)
            }
        };
        if self.is_over() || self.end().is_some_and(|end| due_at >= end) {
            return None;
        }
        let is_measured = due_at >= self.measured_from;
        if is_measured {
            let number = self.scheduled_measured.fetch_add(1, Relaxed);
            if self
                .plan
                .transfers
                .is_some_and(|transfers| number >= transfers)
            {
                return None;
            }
        }
        Some(ScheduledTransfer {
            due_at,
            is_measured,
        })
    }

    /// Counts a transfer that the node accepted.
    pub(super) fn count_accepted(&self, scheduled: ScheduledTransfer) {
        self.accepted.fetch_add(1, Relaxed);
        if scheduled.is_measured {
            self.accepted_measured.fetch_add(1, Relaxed);
        }
    }

    /// Returns the number of accepted transfers, including those of the warm-up.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// Returns the number of accepted transfers that were due after the warm-up.
    pub fn accepted_measured(&self) -> u64 {
        self.accepted_measured.load(Relaxed)
    }

    /// Returns the guard that one of the plan's threads holds while it sends.
    pub(super) fn sending_guard(&self) -> SendingGuard<'_> {
        SendingGuard(&self.sending_threads)
    }

    /// Returns whether all threads have ended.
    pub(super) fn is_finished(&self) -> bool {
        self.sending_threads.load(Relaxed) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use futures::future::poll_immediate;
    use std::pin::pin;

    fn start(plan: Plan) -> Run {
        let endpoint = Endpoint::plain("127.0.0.1:1".to_owned());
        let requests = Requests::new(&plan, &endpoint);
        Run::start(plan, endpoint, requests)
    }

    #[test]
    fn schedules_transfers_of_an_open_loop_at_even_intervals() {
        let interval = Duration::from_millis(10);
        let run = start(Plan {
            interval: Some(interval),
            transfers: Some(5),
            ..plan()
        });
        let due: Vec<_> = std::iter::from_fn(|| run.next_transfer()).collect();
        for pair in due.windows(2) {
            let between = pair[1].due_at - pair[0].due_at;
            assert!(
                between.abs_diff(interval) < Duration::from_micros(1),
                "{between:?}"
            );
        }
    }

    #[test]
    fn does_not_measure_transfers_of_ramp_and_warm_up() {
        let run = start(Plan {
            interval: Some(Duration::from_millis(10)),
            transfers: Some(5),
            ramp: Duration::from_millis(10),
            warm_up: Duration::from_millis(20),
            ..plan()
        });
        let due: Vec<_> = std::iter::from_fn(|| run.next_transfer()).collect();
        let measured = due.iter().filter(|due| due.is_measured).count();
        assert_eq!((due.len(), measured), (3 + 5, 5));
    }

    #[test]
    fn opens_connections_at_even_intervals_of_the_ramp() {
        let run = start(Plan {
            connections: 4,
            ramp: Duration::from_secs(8),
            ..plan()
        });
        let after = |connection| run.connect_at(connection) - run.started;
        assert_eq!(
            [after(0), after(1), after(3)].map(|after| after.as_secs()),
            [0, 2, 6]
        );
        assert!(run.measured_from() - run.started >= Duration::from_secs(8));
    }

    #[test]
    fn schedules_no_transfer_after_a_stop() {
        let run = start(plan());
        assert!(run.next_transfer().is_some());
        run.stop("interrupted");
        assert!(run.next_transfer().is_none() && run.is_over());
    }

    #[test]
    fn reports_the_cause_of_the_first_stop() {
        let run = start(plan());
        run.stop("interrupted");
        run.stop("a later cause");
        assert_eq!(run.stop_cause(), Some("interrupted"));
    }

    #[tokio::test(start_paused = true)]
    async fn awaits_responses_after_a_stop_until_it_is_abandoned() {
        let run = start(plan());
        let mut drain_over = pin!(run.wait_drain_over());
        assert_eq!(poll_immediate(drain_over.as_mut()).await, None);
        run.stop("interrupted");
        assert_eq!(poll_immediate(drain_over.as_mut()).await, None);
        run.abandon();
        drain_over.await;
    }

    #[test]
    fn ends_the_schedule_after_its_number_of_transfers() {
        let run = start(Plan {
            transfers: Some(2),
            ..plan()
        });
        assert_eq!(std::iter::from_fn(|| run.next_transfer()).count(), 2);
    }

    #[test]
    fn is_finished_when_all_threads_have_ended() {
        let run = start(Plan {
            threads: 2,
            ..plan()
        });
        drop(run.sending_guard());
        assert!(!run.is_finished());
        drop(run.sending_guard());
        assert!(run.is_finished());
    }
}
