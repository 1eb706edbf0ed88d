//! Feeds of durable blocks.

use ledger_types::ExecutedBlock;
use std::sync::Arc;
use tokio::sync::broadcast::{self, error::RecvError};

/// Maximum number of blocks that a subscriber may lag behind. The feed of a slower one ends.
const FEED_CAPACITY: usize = 64;

/// The sending side of all feeds.
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
        // An error means that there is no subscriber.
        let _ = self.0.send(Arc::clone(block));
    }
}

/// Durable blocks in order, from the subscription on.
#[derive(Debug)]
pub struct BlockFeed {
    blocks: broadcast::Receiver<Arc<ExecutedBlock>>,
    missed: u64,
}

impl BlockFeed {
    /// Waits for the next block and returns it.
    ///
    /// Returns `None` when the feed has ended: because the node stops, or because the subscriber
    /// was too slow. In the second case, [`Self::missed`] is the number of dropped blocks.
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

    /// Returns the number of blocks that were dropped because the subscriber was too slow. It is 0
    /// until the feed has ended.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::block::block;

    #[actix::test]
    async fn ends_only_the_feed_of_a_slow_subscriber() {
        let feed = Feed::new();
        let (mut quick, mut slow) = (feed.subscribe(), feed.subscribe());
        for height in 1..=FEED_CAPACITY as u64 + 3 {
            feed.publish(&block(height, &[], &[]));
            assert_eq!(quick.next().await.unwrap().height(), height);
        }
        assert!(slow.next().await.is_none());
        assert_eq!(slow.missed(), 3);
        assert!(slow.next().await.is_none(), "the feed has ended");
        drop(feed);
        assert!(quick.next().await.is_none());
        assert_eq!(quick.missed(), 0);
    }
}
