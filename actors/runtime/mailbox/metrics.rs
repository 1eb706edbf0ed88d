//! Metrics of a mailbox.

use crate::runtime::{
    fatal::{FatalErrorReporter, PanicGuard},
    progress::{Activity, Sample},
};
use ledger_limits::{Limit, Permit};
use ledger_metrics::{BusyRatio, Computed, Counter, DurationRecorder, Gauge, Metric, counters};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

counters! {
    /// Counters of a mailbox.
    struct MailboxCounters;

    /// Snapshot of a mailbox. Counts are since the start of the node.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct MailboxStatus {
        /// Name of the actor.
        pub actor: Computed<&'static str>,
        /// Name of the actor's thread, which it may share with others.
        pub thread: Computed<&'static str>,
        /// Maximum number of requests that wait. A list of submissions counts as that many.
        pub capacity: Computed<usize>,
        /// Number of requests that wait now, counted in the same way.
        pub depth: Computed<usize>,
        /// Age of the oldest message that waits now, in milliseconds; 0 if none waits. It is an upper
        /// bound: the age of the message before it, which is being handled or was the last one.
        pub oldest_waiting_ms: Computed<u64>,
        /// Maximum number of requests that waited simultaneously since the capacity was set.
        pub high_water: Gauge,
        /// Time since the capacity was set, by the start of the node or by a change, in seconds.
        pub capacity_set_secs: Computed<u64>,
        /// Requests that were accepted.
        pub accepted: Counter,
        /// Requests that were rejected because `capacity` requests waited.
        pub refused: Counter,
        /// Messages from other actors, which are always accepted.
        pub protocol: Counter,
        /// Requests and messages whose handler has returned.
        pub handled: Computed<u64>,
        /// Total time that handled requests and messages had waited, in microseconds.
        pub waited_micros: Computed<u64>,
        /// Total time that handlers ran, in microseconds.
        pub handled_micros: Computed<u64>,
        /// Share of the thread's recent time that handlers took, in thousandths.
        pub busy_permille: Computed<u64>,
        /// Handled requests and messages by kind. Kinds that did not occur are absent.
        pub handled_by_kind: Computed<BTreeMap<&'static str, u64>>,
        /// Time that each handled request or message had waited.
        #[serde(rename = "waited_micros_histogram")]
        pub waited: DurationRecorder,
        /// Time that each handler ran.
        #[serde(rename = "handled_micros_histogram")]
        pub handling: DurationRecorder,
    }
}

/// Metrics of a mailbox, its limit, and the reporter of a panic of its actor.
#[derive(Debug)]
pub(super) struct MailboxMetrics {
    actor: &'static str,
    thread: &'static str,
    reporter: FatalErrorReporter,
    /// Requests that wait, and the capacity of the mailbox.
    waiting: Limit,
    created_at: Instant,
    /// Time from the creation to the last change of the capacity, in seconds. Relaxed, because it
    /// orders no other memory access.
    capacity_set_after_secs: AtomicU64,
    /// Labels of the messages that the actor receives.
    labels: &'static [&'static str],
    /// Number of handled messages by the index of their label.
    handled_by_label: Box<[Counter]>,
    /// Index of the label of the message that is being handled, plus one; 0 between two messages.
    /// Relaxed, because it orders no other memory access.
    handling: AtomicUsize,
    /// Time from the creation to the sending of the message that was begun last, in nanoseconds.
    /// Later messages are younger. Relaxed, because it orders no other memory access.
    begun_sent_nanos: AtomicU64,
    busy: BusyRatio,
    counters: MailboxCounters,
}

impl MailboxMetrics {
    /// Creates the metrics of a mailbox that accepts at most `capacity` requests that wait.
    pub(super) fn new(
        (actor, thread): (&'static str, &'static str),
        labels: &'static [&'static str],
        capacity: usize,
        reporter: FatalErrorReporter,
    ) -> Self {
        Self {
            actor,
            thread,
            reporter,
            waiting: Limit::new(capacity),
            created_at: Instant::now(),
            capacity_set_after_secs: AtomicU64::new(0),
            labels,
            handled_by_label: labels.iter().map(|_| Counter::default()).collect(),
            handling: AtomicUsize::new(0),
            begun_sent_nanos: AtomicU64::new(0),
            busy: BusyRatio::new(),
            counters: MailboxCounters::default(),
        }
    }

    /// Returns a guard that reports a panic of the actor if it is dropped by one.
    pub(super) fn panic_guard(&self) -> PanicGuard<'_> {
        self.reporter.panic_guard(self.actor)
    }

    /// Acquires the permit of a request that counts as `count`, and counts it. Returns `None` if
    /// the mailbox is full.
    pub(super) fn try_acquire(self: &Arc<Self>, count: usize) -> Option<RequestPermit> {
        let acquired = Permit::try_acquire_counted(WaitingRequests(Arc::clone(self)), count);
        let Some((permit, depth)) = acquired else {
            self.counters.refused.increment();
            return None;
        };
        self.counters.high_water.raise_to(depth);
        self.counters.accepted.increment();
        Some(permit)
    }

    /// Counts a message from another actor.
    pub(super) fn count_protocol(&self) {
        self.counters.protocol.increment();
    }

    /// Records that the handler of a message that was sent at `sent` begins.
    pub(super) fn record_begun(&self, label_index: usize, sent: Instant) {
        self.handling.store(label_index + 1, Relaxed);
        let sent_after = sent - self.created_at;
        self.begun_sent_nanos
            .store(sent_after.as_nanos() as u64, Relaxed);
    }

    /// Returns the age of the oldest message that waits, in milliseconds, or 0 if none waits.
    /// `handled` is the number of messages that were handled.
    fn oldest_waiting_ms(&self, handled: u64) -> u64 {
        let counters = &self.counters;
        let sent = counters.accepted.snapshot() + counters.protocol.snapshot();
        let in_progress = u64::from(self.handling.load(Relaxed) > 0);
        if sent <= handled + in_progress {
            return 0;
        }
        let begun_sent = Duration::from_nanos(self.begun_sent_nanos.load(Relaxed));
        let age = self.created_at.elapsed().saturating_sub(begun_sent);
        age.as_millis() as u64
    }

    /// Records a handled message. `sent` is the time of its sending, and `begun` the time at which
    /// its handler began; the handler ends now.
    pub(super) fn record_handled(&self, label_index: usize, sent: Instant, begun: Instant) {
        let ended = Instant::now();
        self.counters.waited.record(begun - sent);
        self.handled_by_label[label_index].increment();
        self.busy.record(ended, ended - begun);
        // Last, because its count is the number of handled messages.
        self.counters.handling.record(ended - begun);
        self.handling.store(0, Relaxed);
    }

    /// Takes a sample of the actor's progress. Messages wait if more were sent than handled.
    pub(super) fn sample(&self) -> Sample {
        let label = self.handling.load(Relaxed).checked_sub(1);
        let handled = self.counters.handling.snapshot().count();
        let counters = &self.counters;
        let sent = counters.accepted.snapshot() + counters.protocol.snapshot();
        let activity = match label {
            Some(index) => Activity::Working(self.labels.get(index).copied()),
            None if sent > handled => Activity::Waiting,
            None => Activity::Idle,
        };
        Sample::new(handled, activity)
    }

    /// Returns the maximum number of requests that wait.
    pub(super) fn capacity(&self) -> usize {
        self.waiting.max()
    }

    /// Changes the maximum number of requests that wait. The high water counts anew, so that it can
    /// be compared with the capacity.
    pub(super) fn set_capacity(&self, capacity: usize) {
        self.waiting.set_max(capacity);
        self.counters.high_water.set(self.waiting.held());
        self.capacity_set_after_secs.store(self.age_secs(), Relaxed);
    }

    /// Returns the time since the creation, in seconds.
    fn age_secs(&self) -> u64 {
        self.created_at.elapsed().as_secs()
    }

    /// Returns the current values.
    pub(super) fn status(&self) -> MailboxStatus {
        let counts = self.counters.snapshot();
        let by_kind = self.handled_by_label.iter().map(Metric::snapshot);
        let by_kind = self.labels.iter().copied().zip(by_kind);
        MailboxStatus {
            actor: self.actor,
            thread: self.thread,
            capacity: self.waiting.max(),
            depth: self.waiting.held(),
            oldest_waiting_ms: self.oldest_waiting_ms(counts.handling.count()),
            capacity_set_secs: self
                .age_secs()
                .saturating_sub(self.capacity_set_after_secs.load(Relaxed)),
            handled: counts.handling.count(),
            waited_micros: counts.waited.sum() / 1_000,
            handled_micros: counts.handling.sum() / 1_000,
            busy_permille: self.busy.permille(Instant::now(), 1),
            handled_by_kind: by_kind.filter(|(_, count)| *count > 0).collect(),
            ..counts
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
