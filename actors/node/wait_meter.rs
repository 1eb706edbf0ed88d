//! Metrics of the clients that wait for a transaction.

use ledger_metrics::{Computed, Counter, Metric as _, counters};

counters! {
    /// Counters of waits.
    pub(crate) struct WaitMeter;

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
    /// Returns the current values, with the number of clients that wait now.
    pub(super) fn status(&self, parked: usize) -> WaitStatus {
        WaitStatus {
            parked,
            ..self.snapshot()
        }
    }
}
