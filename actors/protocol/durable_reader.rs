//! Reads of durable blocks, including blocks that are not applied to the database yet.

use super::commit_queue::CommitQueue;
use ledger_store::{Snapshot, StoreError, StoreReader};
use ledger_types::LedgerInfo;

/// A reader of the store as of the Head.
///
/// The Head may be ahead of the database, because the writer applies durable blocks some time after
/// they are published. The reader then requests their application and waits for it.
#[derive(Clone, Debug)]
pub(crate) struct DurableReader {
    store: StoreReader,
    commits: CommitQueue,
}

impl DurableReader {
    pub(crate) fn new(store: StoreReader, commits: CommitQueue) -> Self {
        Self { store, commits }
    }

    /// Waits until the durable block of this height is applied, and returns the newest snapshot.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if the writer cannot apply the block or the store cannot be
    /// read.
    pub(crate) fn snapshot(&self, height: u64) -> Result<Snapshot, StoreError> {
        self.wait_applied(height)?;
        self.store.snapshot()
    }

    /// Waits until the block of this ledger info is applied, and returns the snapshot at it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::VersionOutOfRange`] if the version is pruned, or the error of the
    /// store if the writer cannot apply the block or the store cannot be read.
    pub(crate) fn snapshot_at(&self, ledger_info: &LedgerInfo) -> Result<Snapshot, StoreError> {
        self.wait_applied(ledger_info.block_height)?;
        self.store.snapshot_at(ledger_info)
    }

    /// Requests the application of the durable block of this height, unless it is already applied.
    pub(crate) fn request_apply(&self, height: u64) {
        if self.store.would_wait(height) {
            self.commits.request_apply();
        }
    }

    fn wait_applied(&self, height: u64) -> Result<(), StoreError> {
        self.request_apply(height);
        self.store.wait_applied(height)
    }
}
