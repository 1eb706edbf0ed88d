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
        /// Requests that did not wait because the limit was reached: they received the status of
        /// their transaction, or were rejected if they were to wait for a version.
        pub refused: Counter,
    }
}

impl WaitMeter {
    /// Returns the current values, with the number of clients that wait now.
    pub(super) fn status(&self, waiting: usize) -> WaitStatus {
        WaitStatus {
            waiting,
            ..self.snapshot()
        }
    }
}
