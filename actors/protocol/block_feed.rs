//! The feed of new blocks.

use ledger_types::ExecutedBlock;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// How many blocks a reader may be behind before it is dropped from the feed.
const FEED_CAPACITY: usize = 64;

/// Where new blocks are told to whoever listens.
#[derive(Debug)]
pub(crate) struct Feed(broadcast::Sender<Arc<ExecutedBlock>>);

impl Feed {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(FEED_CAPACITY))
    }

    pub(crate) fn subscribe(&self) -> BlockFeed {
        BlockFeed {
            blocks: self.0.subscribe(),
            missed: 0,
        }
    }

    pub(crate) fn publish(&self, block: &Arc<ExecutedBlock>) {
        // Fails only when nobody listens.
        let _ = self.0.send(Arc::clone(block));
    }
}

/// Durable blocks in order, from the moment of subscription on.
#[derive(Debug)]
pub struct BlockFeed {
    blocks: broadcast::Receiver<Arc<ExecutedBlock>>,
    missed: u64,
}

impl BlockFeed {
    /// The next block; `None` when the node stops, or when this reader was so slow that blocks
    /// were dropped: then [`Self::missed`] tells how many, and the feed is over.
    pub async fn next(&mut self) -> Option<Arc<ExecutedBlock>> {
        if self.missed > 0 {
            return None;
        }
        match self.blocks.recv().await {
            Ok(block) => Some(block),
            Err(RecvError::Closed) => None,
            Err(RecvError::Lagged(missed)) => {
                self.missed = missed;
                None
            }
        }
    }

    /// How many blocks this reader missed by being slow; not 0 only after the feed has ended so.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::block;

    #[actix::test]
    async fn blocks_come_in_order_and_a_slow_reader_is_told() {
        let feed = Feed::new();
        let (mut quick, mut slow) = (feed.subscribe(), feed.subscribe());
        for height in 1..=FEED_CAPACITY as u64 + 3 {
            feed.publish(&block(height, &[], &[]));
            assert_eq!(quick.next().await.unwrap().height(), height);
        }
        assert!(slow.next().await.is_none());
        assert_eq!(slow.missed(), 3);
        assert!(slow.next().await.is_none(), "it stays over");
        drop(feed);
        assert!(quick.next().await.is_none());
        assert_eq!(quick.missed(), 0);
    }
}
