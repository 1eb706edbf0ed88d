//! Gives snapshots to any thread.

use crate::{
    Snapshot, StoreError,
    read::view::{LatestView, ReadView},
};
use ledger_types::{ChainTip, LedgerInfo};

/// Gives snapshots. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoreReader {
    latest_view: LatestView,
}

impl StoreReader {
    pub(crate) fn new(latest_view: LatestView) -> Self {
        Self { latest_view }
    }

    /// Waits until snapshots show the block of a height that is durable, as
    /// [`StoreWriter::append`](crate::StoreWriter::append) told. It waits for ever unless somebody has the
    /// writer [`show`](crate::StoreWriter::show) it.
    ///
    /// # Errors
    /// Why the writer does not show it; [`StoreError::Empty`] when nothing is committed yet.
    pub fn wait_applied(&self, height: u64) -> Result<(), StoreError> {
        self.latest_view.wait(|view| shows(view, height)).map(drop)
    }

    /// Whether [`Self::wait_applied`] would wait now.
    pub fn would_wait(&self, height: u64) -> bool {
        self.latest_view.would_wait(|view| shows(view, height))
    }

    /// The end of the durable chain.
    ///
    /// # Errors
    /// [`StoreError::Empty`] when nothing is committed yet.
    pub fn chain_tip(&self) -> Result<ChainTip, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        Ok(view.head.tip.clone())
    }

    /// The newest durable moment.
    ///
    /// # Errors
    /// [`StoreError::Empty`] when nothing is committed yet.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        let info = view.head.ledger_info();
        Ok(Snapshot::new(view, info))
    }

    /// The moment of `head`, which is durable: later rows are invisible. What was pruned since is
    /// gone, and what `head` says is pruned is out of reach: the snapshot's own `oldest_version` and
    /// `oldest_block_height` tell.
    ///
    /// # Errors
    /// [`StoreError::VersionOutOfRange`] when `head` is not durable yet or its block is pruned;
    /// [`StoreError::Empty`] when nothing is committed yet.
    pub fn snapshot_at(&self, head: &LedgerInfo) -> Result<Snapshot, StoreError> {
        let view = self.latest_view.get().ok_or(StoreError::Empty)?;
        let durable = view.head.ledger_info();
        if head.version < durable.oldest_version || head.version > durable.version {
            return Err(StoreError::VersionOutOfRange {
                requested: head.version,
                oldest: durable.oldest_version,
                newest: durable.version,
            });
        }
        let info = LedgerInfo {
            oldest_version: durable.oldest_version.max(head.oldest_version),
            oldest_block_height: durable.oldest_block_height.max(head.oldest_block_height),
            ..*head
        };
        Ok(Snapshot::new(view, info))
    }
}

fn shows(view: &ReadView, height: u64) -> bool {
    view.head.tip.height >= height
}
