//! Ordering by one node alone: each batch becomes the next block.

use super::ordering::Ordering;
use bytes::Bytes;
use ledger_types::{AccountAddress, ChainTip, CheckedTransaction, OrderedBlock};
use std::sync::Arc;

/// The tip of the ordered chain, which may be ahead of the durable chain.
#[derive(Debug)]
pub(crate) struct Solo {
    height: u64,
    epoch: u64,
    timestamp_usecs: u64,
}

impl Solo {
    /// Creates an engine that continues after `tip`.
    pub(super) fn new(tip: &ChainTip) -> Self {
        Self {
            height: tip.height,
            // Genesis belongs to epoch 0, and the blocks after it belong to epoch 1.
            epoch: tip.epoch.max(1),
            timestamp_usecs: tip.timestamp_usecs,
        }
    }

    /// Orders a block of `transactions`.
    pub(super) fn order(
        &mut self,
        transactions: Vec<Arc<CheckedTransaction>>,
        ordering: &mut Ordering,
    ) {
        let reading = ordering.clock.source().read();
        let now_usecs = ordering.clock.observe_at(reading);
        let block = self.next(transactions, now_usecs);
        ordering.execute_at(block, reading);
    }

    /// Returns the next block.
    ///
    /// Its time is `now_usecs`, the ledger's time, or one microsecond after its parent if that is
    /// later. So a clock that is set back does not stop the chain.
    fn next(&mut self, transactions: Vec<Arc<CheckedTransaction>>, now_usecs: u64) -> OrderedBlock {
        self.height += 1;
        self.timestamp_usecs = now_usecs.max(self.timestamp_usecs.saturating_add(1));
        OrderedBlock {
            height: self.height,
            epoch: self.epoch,
            round: self.height,
            proposer: AccountAddress::from_low_u64(0),
            timestamp_usecs: self.timestamp_usecs,
            executed: None,
            transactions,
            certificate: Bytes::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::{block::block, draft::draft};

    #[test]
    fn block_times_ascend_when_the_clock_goes_back() {
        let mut solo = Solo::new(&block(7, &[], &[]).tip);
        let transactions = vec![draft(1, 0).checked()];
        let times = [50_000, 40_000, 50_001, 60_000];
        let blocks: Vec<_> = times
            .iter()
            .map(|&now| solo.next(transactions.clone(), now))
            .collect();
        let stamps: Vec<_> = blocks
            .iter()
            .map(|b| (b.height, b.round, b.timestamp_usecs))
            .collect();
        assert_eq!(
            stamps,
            [
                (8, 8, 50_000),
                (9, 9, 50_001),
                (10, 10, 50_002),
                (11, 11, 60_000)
            ]
        );
        assert!(
            blocks
                .iter()
                .all(|block| block.epoch == 1 && block.transactions.len() == 1)
        );
    }
}
