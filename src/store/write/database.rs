//! The database that commits extend.

use crate::{
    index::compaction::CompactionState,
    io::{fault_isolation::DiskStatus, file_identity::StoreFiles},
    read::view::LatestView,
    tables::digest::DigestKey,
};
use redb::Database;

/// The database of a store, with the state that its commits need. One thread commits at a time.
#[derive(Debug)]
pub(crate) struct DatabaseWriter {
    pub(crate) database: Database,
    pub(crate) disk_status: DiskStatus,
    /// Compared with their paths before a checkpoint is acknowledged.
    pub(crate) files: StoreFiles,
    /// The view that the last commit published. Empty before genesis.
    pub(crate) latest_view: LatestView,
    pub(crate) digest_key: DigestKey,
    pub(crate) compaction: CompactionState,
}
