//! The one writer.

use crate::StoreError;
use ledger::ExecutedBlock;
use std::sync::Arc;

/// Writes blocks; there is exactly one of a store.
#[derive(Debug)]
pub struct StoreWriter(());

/// What a step of pruning left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pruned {
    /// The oldest version that can be read now; the first of a block.
    pub oldest_version: u64,
    /// The height of that block.
    pub oldest_block_height: u64,
    /// Whether nothing is left to do for the bound that was given.
    pub done: bool,
}

impl StoreWriter {
    /// Commits consecutive blocks together; all of them are durable when it returns, or none is.
    ///
    /// # Errors
    /// [`StoreError::Gap`] when the blocks do not follow the newest one; else the writer is poisoned.
    pub fn commit(&mut self, blocks: &[Arc<ExecutedBlock>]) -> Result<(), StoreError> {
        let _ = blocks;
        todo!()
    }

    /// One bounded step of removing what lies below `below_version`.
    ///
    /// # Errors
    /// When the database fails; the writer is poisoned then.
    pub fn prune(&mut self, below_version: u64, versions_max: u64) -> Result<Pruned, StoreError> {
        let _ = (below_version, versions_max);
        todo!()
    }
}
