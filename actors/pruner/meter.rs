//! Metrics of pruning.

use ledger_metrics::{Gauge, counters};

counters! {
    /// Metrics of pruning, updated by the pruner.
    pub(crate) struct PrunerMeter;

    /// Snapshot of pruning.
    #[derive(Clone, Copy, Debug)]
    pub struct PrunerStatus {
        /// Versions that may be removed and still exist.
        pub lag_versions: Gauge,
        /// 1 if `pruner.window_bytes` decides the window, and not a minimum, else 0.
        pub limited: Gauge,
        /// 1 if the directory exceeds `pruner.window_bytes` although nothing more can be removed,
        /// else 0.
        pub limit_exceeded: Gauge,
    }
}
