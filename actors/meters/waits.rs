//! The clients that wait for a transaction.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How a wait ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Woken {
    /// The transaction became durable.
    Committed,
    /// It left the pool unexecuted.
    Left,
    /// The time was over.
    TimedOut,
}

/// The meter of waits, and how many there are at once. Its counts order no other memory, hence relaxed.
#[derive(Debug, Default)]
pub(crate) struct WaitMeter {
    parked: AtomicUsize,
    ended: [AtomicU64; 3],
    refused: AtomicU64,
}

impl WaitMeter {
    /// One waits, until what is given is dropped; or is answered at once where `max` wait already.
    pub(crate) fn park(&self, max: usize) -> Option<Parked<'_>> {
        let one_more = |parked| (parked < max).then_some(parked + 1);
        let parked = self.parked.fetch_update(Relaxed, Relaxed, one_more);
        if parked.is_err() {
            self.refused.fetch_add(1, Relaxed);
        }
        parked.is_ok().then(|| Parked(self))
    }

    /// A wait has ended.
    pub(crate) fn ended(&self, woken: Woken) {
        self.ended[woken as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn status(&self) -> WaitStatus {
        let [committed, left, timed_out] = self.ended.each_ref().map(|count| count.load(Relaxed));
        WaitStatus {
            parked: self.parked.load(Relaxed),
            committed,
            left,
            timed_out,
            refused: self.refused.load(Relaxed),
        }
    }
}

/// A client that waits.
#[derive(Debug)]
pub(crate) struct Parked<'a>(&'a WaitMeter);

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.0.parked.fetch_sub(1, Relaxed);
    }
}

/// What is seen of those who wait. Counts are since the start of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitStatus {
    /// Clients that wait now.
    pub parked: usize,
    /// Waits that ended with the transaction's commitment.
    pub committed: u64,
    /// Waits that ended as the transaction left the pool unexecuted.
    pub left: u64,
    /// Waits whose time was over.
    pub timed_out: u64,
    /// Clients that were answered at once, as all places to wait were taken.
    pub refused: u64,
}
