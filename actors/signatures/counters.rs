//! Metrics of the lanes of signature checks.

use super::{Lane, room::QueueCapacity};
use ledger_metrics::{Computed, Counter, Metric, counters};
use serde::Serialize;

counters! {
    /// Counters of one lane.
    pub(super) struct LaneCounters;

    /// Snapshot of one lane. Counts are since the start of the node.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct LaneStatus {
        /// Name of the lane: `trusted` or `untrusted`.
        pub lane: Computed<&'static str>,
        /// Cost of the checks that may wait, in ed25519 signatures that are checked one by one. The
        /// last accepted transaction may exceed it.
        pub capacity_signatures: Computed<usize>,
        /// Cost of the checks that wait now, in the same unit.
        pub waiting_signatures: Computed<usize>,
        /// Number of transactions that wait now.
        pub waiting: Computed<usize>,
        /// Transactions that were accepted.
        pub accepted: Counter,
        /// Transactions that were rejected because the lane was full.
        pub refused: Counter,
        /// Transactions that were checked. A canceled request's transaction is not.
        pub checked: Counter,
        /// Checked transactions with a bad signature.
        pub bad: Counter,
        /// Batches of checked transactions.
        pub batches: Counter,
    }
}

impl LaneCounters {
    /// Counts a batch of `checked` transactions, of which `bad` have a bad signature.
    pub(super) fn count_batch(&self, checked: usize, bad: usize) {
        self.checked.add(checked as u64);
        self.bad.add(bad as u64);
        self.batches.increment();
    }

    /// Returns the current values of a lane with this capacity, in which `waiting` transactions
    /// wait.
    pub(super) fn status(
        &self,
        lane: Lane,
        capacity: &QueueCapacity,
        waiting: usize,
    ) -> LaneStatus {
        LaneStatus {
            lane: match lane {
                Lane::Trusted => "trusted",
                Lane::Untrusted => "suspect",
            },
            capacity_signatures: capacity.capacity(),
            waiting_signatures: capacity.taken(),
            waiting,
            ..self.snapshot()
        }
    }
}
