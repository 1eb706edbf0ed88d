//! The clients that wait for a transaction.

use ledger_limits::{Limit, Permit};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

/// The meter of waits, with their limit. Its counts order no other memory, so they are relaxed.
#[derive(Debug)]
pub(crate) struct WaitMeter {
    parked: Limit,
    ended: [AtomicU64; 3],
    refused: AtomicU64,
}

impl WaitMeter {
    /// Creates the meter of at most `capacity` concurrent waits.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            parked: Limit::new(capacity),
            ended: Default::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// Acquires the permit of a wait, or returns `None` if as many clients wait as may.
    pub(crate) fn park(&self) -> Option<Permit<&Limit>> {
        let permit = Permit::try_acquire(&self.parked);
        if permit.is_none() {
            self.refused.fetch_add(1, Relaxed);
        }
        permit
    }

    /// A wait has ended.
    pub(crate) fn ended(&self, woken: Woken) {
        self.ended[woken as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn status(&self) -> WaitStatus {
        let [committed, left, timed_out] = self.ended.each_ref().map(|count| count.load(Relaxed));
        WaitStatus {
            parked: self.parked.held(),
            committed,
            left,
            timed_out,
            refused: self.refused.load(Relaxed),
        }
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
