//! File access of a store: isolation of disk faults, identity and watch of files, files in memory,
//! timing of syncs, and the number of allocated pages.

pub(crate) mod fault_isolation;
pub(crate) mod file_identity;
pub(crate) mod file_watch;
pub(crate) mod memory_file;
pub(crate) mod overlay;
pub(crate) mod page_count;
pub(crate) mod sync_stats;
