//! File access of a store: isolation of disk faults, and timing of syncs.

pub(crate) mod fault_isolation;
pub(crate) mod overlay;
pub(crate) mod sync_stats;
