//! The numbers of a mailbox.

use super::kinds::{KINDS, Kind};
use crate::{
    failure::{Alarm, Failure},
    meters::{Busy, Distribution, Times},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
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
    pub waited: Distribution,
    /// How long each handler ran, in microseconds.
    #[serde(rename = "handled_micros_histogram")]
    pub handling: Distribution,
}

/// The numbers of one mailbox, and where a panic of its actor is told. The numbers are only counted,
/// never used to order anything, hence relaxed.
#[derive(Debug)]
pub(super) struct Gauge {
    actor: &'static str,
    thread: &'static str,
    failure: Failure,
    capacity: AtomicUsize,
    depth: AtomicUsize,
    high_water: AtomicUsize,
    accepted: AtomicU64,
    refused: AtomicU64,
    protocol: AtomicU64,
    by_kind: [AtomicU64; KINDS.len()],
    waited: Times,
    handling: Times,
    busy: Busy,
}

impl Gauge {
    pub(super) fn new(
        (actor, thread): (&'static str, &'static str),
        capacity: usize,
        failure: Failure,
    ) -> Self {
        Self {
            actor,
            thread,
            failure,
            capacity: AtomicUsize::new(capacity),
            depth: AtomicUsize::new(0),
            high_water: AtomicUsize::new(0),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            protocol: AtomicU64::new(0),
            by_kind: [const { AtomicU64::new(0) }; KINDS.len()],
            waited: Times::default(),
            handling: Times::default(),
            busy: Busy::new(),
        }
    }

    pub(super) fn actor(&self) -> &'static str {
        self.actor
    }

    /// Tells of a panic while it is held.
    pub(super) fn alarm(&self) -> Alarm<'_> {
        self.failure.alarm(self.actor)
    }

    /// Takes a place for a request, if there is one.
    pub(super) fn admit(&self) -> bool {
        let capacity = self.capacity.load(Relaxed);
        let place = self.depth.fetch_update(Relaxed, Relaxed, |depth| {
            (depth < capacity).then_some(depth + 1)
        });
        match place {
            Ok(before) => {
                self.high_water.fetch_max(before + 1, Relaxed);
                self.accepted.fetch_add(1, Relaxed);
                true
            }
            Err(_) => {
                self.refused.fetch_add(1, Relaxed);
                false
            }
        }
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
        self.capacity.store(capacity, Relaxed);
    }

    pub(super) fn status(&self) -> MailboxStatus {
        let (waited, handling) = (self.waited.read(), self.handling.read());
        let counts = self.by_kind.iter().map(|count| count.load(Relaxed));
        let kinds = KINDS.iter().copied().zip(counts);
        MailboxStatus {
            actor: self.actor,
            thread: self.thread,
            capacity: self.capacity.load(Relaxed),
            depth: self.depth.load(Relaxed),
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

/// A place among the waiting requests; given back when handling begins, or when the message is
/// dropped unhandled because its actor is gone.
#[derive(Debug)]
pub(super) struct Place(Arc<Gauge>);

impl Place {
    /// One that [`Gauge::admit`] has taken.
    pub(super) fn taken(gauge: &Arc<Gauge>) -> Self {
        Self(Arc::clone(gauge))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.depth.fetch_sub(1, Relaxed);
    }
}
