//! The numbers of a mailbox.

use super::kinds::{KINDS, Kind};
use crate::failure::{Alarm, Failure};
use ledger_limits::{Limit, Permit};
use ledger_metrics::{BusyRatio, DurationRecorder, Histogram};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

/// What operators see of a mailbox. Counts are since the start of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MailboxStatus {
    /// The actor.
    pub actor: &'static str,
    /// The thread that it runs on, with others as may be.
    pub thread: &'static str,
    /// How many requests may wait.
    pub capacity: usize,
    /// How many requests wait now.
    pub depth: usize,
    /// The most requests that ever waited at once.
    pub high_water: usize,
    /// Requests admitted.
    pub accepted: u64,
    /// Requests refused because `capacity` were waiting.
    pub refused: u64,
    /// Messages of other actors; always admitted.
    pub protocol: u64,
    /// Requests and messages whose handler has returned.
    pub handled: u64,
    /// How long all that were handled had waited, in microseconds.
    pub waited_micros: u64,
    /// How long all handlers ran, in microseconds.
    pub handled_micros: u64,
    /// What share of its thread's time its handlers took lately, in thousandths.
    pub busy_permille: u64,
    /// Those that were handled, by kind; without those of which there were none.
    pub handled_by_kind: BTreeMap<&'static str, u64>,
    /// How long each had waited, in microseconds.
    #[serde(rename = "waited_micros_histogram")]
    pub waited: Histogram,
    /// How long each handler ran, in microseconds.
    #[serde(rename = "handled_micros_histogram")]
    pub handling: Histogram,
}

/// The numbers of one mailbox, and where a panic of its actor is told. The numbers are only
/// counted, never used to order anything, hence relaxed.
#[derive(Debug)]
pub(super) struct MailboxMetrics {
    actor: &'static str,
    thread: &'static str,
    failure: Failure,
    /// Requests that wait, and the capacity of the mailbox.
    waiting: Limit,
    high_water: AtomicUsize,
    accepted: AtomicU64,
    refused: AtomicU64,
    protocol: AtomicU64,
    by_kind: [AtomicU64; KINDS.len()],
    waited: DurationRecorder,
    handling: DurationRecorder,
    busy: BusyRatio,
}

impl MailboxMetrics {
    pub(super) fn new(
        (actor, thread): (&'static str, &'static str),
        capacity: usize,
        failure: Failure,
    ) -> Self {
        Self {
            actor,
            thread,
            failure,
            waiting: Limit::new(capacity),
            high_water: AtomicUsize::new(0),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            protocol: AtomicU64::new(0),
            by_kind: [const { AtomicU64::new(0) }; KINDS.len()],
            waited: DurationRecorder::default(),
            handling: DurationRecorder::default(),
            busy: BusyRatio::new(),
        }
    }

    pub(super) fn actor(&self) -> &'static str {
        self.actor
    }

    /// Tells of a panic while it is held.
    pub(super) fn alarm(&self) -> Alarm<'_> {
        self.failure.alarm(self.actor)
    }

    /// Acquires the permit of a request, or returns `None` if as many requests wait as may.
    pub(super) fn admit(self: &Arc<Self>) -> Option<RequestPermit> {
        let acquired = Permit::try_acquire_counted(WaitingRequests(Arc::clone(self)));
        let Some((permit, depth)) = acquired else {
            self.refused.fetch_add(1, Relaxed);
            return None;
        };
        self.high_water.fetch_max(depth, Relaxed);
        self.accepted.fetch_add(1, Relaxed);
        Some(permit)
    }

    /// A message of another actor was sent.
    pub(super) fn told(&self) {
        self.protocol.fetch_add(1, Relaxed);
    }

    /// The handler of a message has returned that was sent and whose handling was begun then.
    pub(super) fn handled(&self, kind: Kind, sent: Instant, begun: Instant) {
        let ended = Instant::now();
        self.waited.record(begun - sent);
        self.by_kind[kind as usize].fetch_add(1, Relaxed);
        self.busy.record(ended, ended - begun);
        // Last, as this is the count of what was handled.
        self.handling.record(ended - begun);
    }

    pub(super) fn set_capacity(&self, capacity: usize) {
        self.waiting.set_max(capacity);
    }

    pub(super) fn status(&self) -> MailboxStatus {
        let (waited, handling) = (self.waited.read(), self.handling.read());
        let counts = self.by_kind.iter().map(|count| count.load(Relaxed));
        let kinds = KINDS.iter().copied().zip(counts);
        MailboxStatus {
            actor: self.actor,
            thread: self.thread,
            capacity: self.waiting.max(),
            depth: self.waiting.held(),
            high_water: self.high_water.load(Relaxed),
            accepted: self.accepted.load(Relaxed),
            refused: self.refused.load(Relaxed),
            protocol: self.protocol.load(Relaxed),
            handled: handling.count(),
            waited_micros: waited.sum() / 1_000,
            handled_micros: handling.sum() / 1_000,
            busy_permille: self.busy.permille(Instant::now(), 1),
            handled_by_kind: kinds.filter(|(_, count)| *count > 0).collect(),
            waited,
            handling,
        }
    }
}

/// The permit of a request in the mailbox. It is released when the handling of the request begins,
/// or when the request is dropped because its actor has stopped.
pub(super) type RequestPermit = Permit<WaitingRequests>;

/// The limit on the requests that wait in a mailbox.
#[derive(Debug)]
pub(super) struct WaitingRequests(Arc<MailboxMetrics>);

impl Deref for WaitingRequests {
    type Target = Limit;

    fn deref(&self) -> &Limit {
        &self.0.waiting
    }
}
