//! Metrics of the pool.

use super::pool::GROUPS;
use crate::RemovalReason;
use ledger_metrics::{Counter, DurationRecorder, Gauge, counters};

counters! {
    /// Metrics of the pool, updated by the mempool.
    pub(crate) struct PoolMeter;

    /// Snapshot of the pool. Counts are since the start of the node.
    #[derive(Clone, Debug)]
    pub struct PoolStatus {
        /// Transactions in the pool, including those of blocks that are not durable yet.
        pub transactions: Gauge,
        /// Total size of these transactions, in bytes.
        pub bytes: Gauge,
        /// Total estimated time of these transactions in blocks, in microseconds.
        pub usecs: Gauge,
        /// Transactions in the pool that wait for an earlier one of their account.
        pub parked: Gauge,
        /// Total size of the parked transactions, in bytes.
        pub parked_bytes: Gauge,
        /// Transactions in the pool by age, in the groups of [`crate::AGE_STEPS_SECS`], as of the
        /// last second.
        pub by_age: [Gauge; GROUPS],
        /// Transactions in the pool by gas unit price, in the groups of [`crate::PRICE_STEPS`], as
        /// of the last second.
        pub by_price: [Gauge; GROUPS],
        /// Age of the oldest transaction in the pool, in seconds, as of the last second. 0 if there
        /// is none.
        pub oldest_secs: Gauge,
        /// Transactions removed because their block became durable.
        pub committed: Counter,
        /// Estimated time of these transactions in blocks, as of their admission, in microseconds.
        pub estimated_usecs: Counter,
        /// Time of the transactions of durable blocks from their admission until the mempool was
        /// notified of the block. A restart admits them anew.
        pub latency: DurationRecorder,
        /// Transactions removed because they expired.
        pub expired: Counter,
        /// Transactions removed to free capacity for others, or not restored after a restart for
        /// lack of capacity.
        pub evicted: Counter,
        /// Transactions replaced by one with the same sequence number or nonce and a higher gas
        /// price.
        pub replaced: Counter,
        /// Transactions removed because the prologue of a block rejected them, or because the
        /// ledger has executed another transaction with their sequence number or nonce.
        pub rejected: Counter,
    }
}

impl PoolMeter {
    /// Counts a transaction that was removed without being executed.
    pub(crate) fn count_removed(&self, reason: &RemovalReason) {
        let counter = match reason {
            RemovalReason::Expired { .. } => &self.expired,
            RemovalReason::Evicted(_) => &self.evicted,
            RemovalReason::Replaced(_) => &self.replaced,
            RemovalReason::Rejected(_) => &self.rejected,
        };
        counter.increment();
    }
}
