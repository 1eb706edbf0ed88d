//! The reader of a store, which opens snapshots on any thread.

use super::{
    snapshot::Snapshot,
    view::{LatestView, ReadView},
};
use crate::StoreError;
use ledger_types::{ChainTip, LedgerInfo};
use std::time::Duration;

/// The reader of a store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoreReader {
    latest_view: LatestView,
}

impl StoreReader {
    /// Creates a reader of the views that a writer publishes.
    pub(crate) fn new(latest_view: LatestView) -> Self {
        Self { latest_view }
    }

    /// Blocks until new snapshots include the block at `height`, which must be durable.
    ///
    /// Blocks at most for `timeout`; without one, forever unless another thread calls
    /// [`StoreApplier::apply`](crate::StoreApplier::apply).
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis, and [`StoreError::NotApplied`] if the block is
    /// not applied within `timeout`. Returns the error that poisoned the writer, or
    /// [`StoreError::Closed`] if the writer was dropped, before the block was applied.
    pub fn wait_applied(&self, height: u64, timeout: Option<Duration>) -> Result<(), StoreError> {
        match self
            .latest_view
            .wait(|view| includes(view, height), timeout)?
        {
            Some(_) => Ok(()),
            None => Err(StoreError::NotApplied { height }),
        }
    }

    /// Returns whether [`Self::wait_applied`] would block.
    pub fn would_wait(&self, height: u64) -> bool {
        self.latest_view.would_wait(|view| includes(view, height))
    }

    /// Returns the tip of the applied chain.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis.
    pub fn chain_tip(&self) -> Result<ChainTip, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        Ok(view.head.tip.clone())
    }

    /// Returns a snapshot of the newest applied version.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] before genesis.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        let info = view.head.ledger_info();
        Ok(Snapshot::new(view, info))
    }

    /// Returns a snapshot at the version of `head`, which excludes later rows.
    ///
    /// Versions that were pruned since, or that `head` excludes, are not readable either: the
    /// `oldest_version` and `oldest_block_height` of the snapshot are the higher of both.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::VersionOutOfRange`] if the version of `head` is not applied or is
    /// pruned, and [`StoreError::Empty`] before genesis.
    pub fn snapshot_at(&self, head: &LedgerInfo) -> Result<Snapshot, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        let applied = view.head.ledger_info();
        if head.version < applied.oldest_version || head.version > applied.version {
            return Err(StoreError::VersionOutOfRange {
                requested: head.version,
                oldest: applied.oldest_version,
                newest: applied.version,
            });
        }
        let info = LedgerInfo {
            oldest_version: applied.oldest_version.max(head.oldest_version),
            oldest_block_height: applied.oldest_block_height.max(head.oldest_block_height),
            ..*head
        };
        Ok(Snapshot::new(view, info))
    }
}

fn includes(view: &ReadView, height: u64) -> bool {
    view.head.tip.height >= height
}
