//! Metrics of waits for a transaction or for a version.

use ledger_metrics::{Computed, Counter, Metric as _, counters};

counters! {
    /// Counters of waits.
    pub(crate) struct WaitMeter;

    /// Snapshot of the counters of waits. Counts start with the node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WaitStatus {
        /// Number of clients that wait now.
        pub waiting: Computed<usize>,
        /// Waits that ended because the transaction became durable.
        pub committed: Counter,
        /// Waits that ended because the transaction was removed from the pool without being
        /// executed.
        pub removed: Counter,
        /// Waits that ended because the Head reached their version.
        pub reached: Counter,
        /// Waits that ended by their timeout.
        pub timed_out: Counter,
        /// Waits that ended because their client disconnected.
        pub disconnected: Counter,
        /// Requests that did not wait because the limit was reached: they received the status of
        /// their transaction, or were rejected if they were to wait for a version.
        pub refused: Counter,
    }
}

/// A wait that ends by the disconnection of its client if this is dropped before
/// [`Self::end`].
pub(super) struct BegunWait<'m> {
    meter: &'m WaitMeter,
    has_ended: bool,
}

impl BegunWait<'_> {
    /// Ends the wait for another reason.
    pub(super) fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for BegunWait<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.meter.disconnected.increment();
        }
    }
}

impl WaitMeter {
    /// Begins a wait.
    pub(super) fn begin(&self) -> BegunWait<'_> {
        BegunWait {
            meter: self,
            has_ended: false,
        }
    }

    /// Returns the current values, with the number of clients that wait now.
    pub(super) fn status(&self, waiting: usize) -> WaitStatus {
        WaitStatus {
            waiting,
            ..self.snapshot()
        }
    }
}
