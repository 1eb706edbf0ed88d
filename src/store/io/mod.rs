//! File access of a store: isolation of disk faults, identity of files, and timing of syncs.

pub(crate) mod fault_isolation;
pub(crate) mod file_identity;
pub(crate) mod overlay;
pub(crate) mod sync_stats;
