//! Metrics of the clients that wait for a transaction.

use ledger_limits::{Limit, Permit};
use ledger_metrics::{Computed, Counter, Metric, counters};

/// The limit on concurrent waits, with their counters.
#[derive(Debug)]
pub(crate) struct WaitMeter {
    limit: Limit,
    pub(crate) counters: WaitCounters,
}

counters! {
    /// Counters of waits.
    pub(crate) struct WaitCounters;

    /// Snapshot of the waits. Counts are since the start of the node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WaitStatus {
        /// Clients that wait now.
        pub parked: Computed<usize>,
        /// Waits that ended because the transaction became durable.
        pub committed: Counter,
        /// Waits that ended because the transaction left the pool without being executed.
        pub left: Counter,
        /// Waits that ended by their timeout.
        pub timed_out: Counter,
        /// Requests that were answered without a wait because the limit was reached.
        pub refused: Counter,
    }
}

impl WaitMeter {
    /// Creates the meter of at most `capacity` concurrent waits.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            limit: Limit::new(capacity),
            counters: WaitCounters::default(),
        }
    }

    /// Acquires the permit of a wait. Returns `None` and counts the request if the limit is
    /// reached.
    pub(crate) fn try_acquire(&self) -> Option<Permit<&Limit>> {
        let permit = Permit::try_acquire(&self.limit);
        if permit.is_none() {
            self.counters.refused.increment();
        }
        permit
    }

    /// Returns the current values.
    pub(super) fn status(&self) -> WaitStatus {
        WaitStatus {
            parked: self.limit.held(),
            ..self.counters.snapshot()
        }
    }
}
