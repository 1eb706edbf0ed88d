//! Files of a store: isolation of disk faults, and counters of syncs.

pub(crate) mod fault_isolation;
pub(crate) mod overlay;
pub(crate) mod sync_stats;
