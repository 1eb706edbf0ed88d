//! The feed of new blocks.

use ledger::ExecutedBlock;
use std::sync::Arc;

/// Durable blocks in order, from the moment of subscription on.
#[derive(Debug)]
pub struct BlockFeed {
    missed: u64,
}

impl BlockFeed {
    /// The next block; `None` when the node stops, or when this reader was so slow that blocks
    /// were dropped: then [`Self::missed`] tells how many.
    pub async fn next(&mut self) -> Option<Arc<ExecutedBlock>> {
        todo!()
    }

    /// How many blocks this reader missed by being slow; not 0 only after the feed has ended so.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
