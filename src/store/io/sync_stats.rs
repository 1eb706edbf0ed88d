//! Number and duration of the syncs of a store's files.

use ledger_metrics::{Counter, Metric, counters};
use std::{sync::Arc, time::Instant};

counters! {
    /// Counters of the syncs of one store.
    struct SyncCounters;

    /// Snapshot of the syncs since the store was opened.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SyncStats {
        /// Number of syncs, including failed ones.
        pub count: Counter,
        /// Total duration of the syncs, in nanoseconds.
        pub nanos: Counter,
    }
}

/// Timer of the syncs of one store. Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct SyncTimer(Arc<SyncCounters>);

impl SyncTimer {
    /// Returns the counts since the store was opened.
    pub fn stats(&self) -> SyncStats {
        self.0.snapshot()
    }

    /// Calls `sync`, counts it, and returns its result.
    pub(crate) fn time<T>(&self, sync: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = sync();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.count.increment();
        self.0.nanos.add(nanos);
        result
    }
}
