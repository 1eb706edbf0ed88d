//! Estimates of gas prices from recent blocks, by the algorithm of the reference node
//! (docs/reference/reference-node.md#r11) with these differences:
//!
//! * The newest block counts, because only complete and durable blocks are recorded.
//! * A block is full if it omitted ready transactions because of the limits of its batch or of its
//!   gas, or if it has the maximum number of transactions.
//! * Epochs have no effect, and neither have blocks that one contract fills.

use crate::protocol::mempool::GasEstimate;
use ledger_crypto::HashValue;
use std::collections::{HashSet, VecDeque};

/// Gas unit prices above the minimum that an estimate can name: the buckets of the reference node
/// without 0.
const BUCKETS: [u64; 9] = [
    150, 300, 500, 1_000, 3_000, 5_000, 10_000, 100_000, 1_000_000,
];

/// Number of recent blocks that each of the three estimates covers.
const LOW_BLOCKS: usize = 10;
const MARKET_BLOCKS: usize = 30;
const AGGRESSIVE_BLOCKS: usize = 120;

/// Inclusion prices of the newest blocks, oldest first.
#[derive(Debug)]
pub(crate) struct GasHistory {
    price_min: u64,
    full_block_transactions: usize,
    inclusion_prices: VecDeque<u64>,
    /// Last transaction of each batch that had no capacity for all ready transactions. The number
    /// of entries is bounded by the number of blocks in flight.
    limited_batches: HashSet<HashValue>,
}

impl GasHistory {
    /// Creates an empty history.
    ///
    /// `price_min` is the minimum gas unit price of the chain. A block with
    /// `full_block_transactions` user transactions is full.
    pub(crate) fn new(price_min: u64, full_block_transactions: usize) -> Self {
        Self {
            price_min,
            full_block_transactions,
            inclusion_prices: VecDeque::with_capacity(AGGRESSIVE_BLOCKS),
            limited_batches: HashSet::new(),
        }
    }

    /// Records that the batch that ends with `last` had no capacity for all ready transactions.
    pub(super) fn record_limited_batch(&mut self, last: HashValue) {
        self.limited_batches.insert(last);
    }

    /// Returns whether the block with these transactions was made of a batch recorded by
    /// [`Self::record_limited_batch`], and removes the record of that batch.
    pub(super) fn take_limited_batch(
        &mut self,
        mut hashes: impl Iterator<Item = HashValue>,
    ) -> bool {
        !self.limited_batches.is_empty() && hashes.any(|hash| self.limited_batches.remove(&hash))
    }

    /// Records the inclusion price of a block with these gas unit prices of user transactions.
    ///
    /// `is_full` states that the block or its batch had no capacity for all ready or ordered
    /// transactions.
    pub(super) fn record(&mut self, prices: impl Iterator<Item = u64>, is_full: bool) {
        let mut count = 0;
        let lowest = prices.inspect(|_| count += 1).min();
        let price = match lowest {
            Some(lowest) if is_full || count >= self.full_block_transactions => {
                self.next_bucket(lowest)
            }
            _ => self.price_min,
        };
        if self.inclusion_prices.len() == AGGRESSIVE_BLOCKS {
            self.inclusion_prices.pop_front();
        }
        self.inclusion_prices.push_back(price);
    }

    /// Returns the estimates of the gas unit price.
    ///
    /// The low estimate is the lowest inclusion price of the newest [`LOW_BLOCKS`]. The market
    /// estimate is the median of the newest [`MARKET_BLOCKS`]. The aggressive estimate is the first
    /// bucket above the 90th percentile of the newest [`AGGRESSIVE_BLOCKS`]. Each is at least as
    /// high as the one before.
    pub(super) fn estimate(&self) -> GasEstimate {
        let low = self.newest(LOW_BLOCKS).first().copied();
        let low = low.unwrap_or(self.price_min);
        let market = self.newest(MARKET_BLOCKS);
        let market = market
            .get(market.len() / 2)
            .map_or(low, |&median| median.max(low));
        let aggressive = self.newest(AGGRESSIVE_BLOCKS);
        let p90 = aggressive.get(aggressive.len() * 9 / 10).copied();
        let prioritized = self.next_bucket(p90.unwrap_or(self.price_min));
        GasEstimate {
            deprioritized_gas_estimate: low,
            gas_estimate: market,
            prioritized_gas_estimate: prioritized.max(market),
        }
    }

    /// Returns the inclusion prices of the newest `blocks` blocks, in ascending order.
    fn newest(&self, blocks: usize) -> Vec<u64> {
        let mut prices: Vec<u64> = self
            .inclusion_prices
            .iter()
            .rev()
            .take(blocks)
            .copied()
            .collect();
        prices.sort_unstable();
        prices
    }

    /// Returns the first bucket above `price`, or `price` itself if no bucket is above it.
    fn next_bucket(&self, price: u64) -> u64 {
        let mut buckets = BUCKETS
            .into_iter()
            .filter(|&bucket| bucket > self.price_min);
        buckets.find(|&bucket| bucket > price).unwrap_or(price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_the_minimum_price_after_blocks_with_spare_capacity() {
        let mut history = GasHistory::new(100, 3);
        let expected = GasEstimate {
            deprioritized_gas_estimate: 100,
            gas_estimate: 100,
            prioritized_gas_estimate: 150,
        };
        assert_eq!(history.estimate(), expected);
        history.record([9_000, 9_000].into_iter(), false);
        history.record(std::iter::empty(), false);
        assert_eq!(history.estimate(), expected);
    }

    #[test]
    fn raises_the_estimates_after_full_blocks_and_lowers_them_after_others() {
        let mut history = GasHistory::new(100, 2);
        for _ in 0..MARKET_BLOCKS {
            history.record([400, 350].into_iter(), false);
        }
        let estimate = history.estimate();
        assert_eq!(
            (estimate.deprioritized_gas_estimate, estimate.gas_estimate),
            (500, 500)
        );
        assert_eq!(estimate.prioritized_gas_estimate, 1_000);
        history.record([100].into_iter(), false);
        assert_eq!(history.estimate().deprioritized_gas_estimate, 100);
        assert_eq!(history.estimate().gas_estimate, 500);
        for _ in 0..AGGRESSIVE_BLOCKS {
            history.record([100].into_iter(), false);
        }
        assert_eq!(history.estimate().prioritized_gas_estimate, 150);
    }

    #[test]
    fn counts_a_block_that_left_out_transactions_as_full() {
        let mut history = GasHistory::new(100, 3);
        history.record([400].into_iter(), true);
        assert_eq!(history.estimate().deprioritized_gas_estimate, 500);
    }

    #[test]
    fn returns_a_price_above_all_buckets_unchanged() {
        let mut history = GasHistory::new(100, 1);
        history.record([5_000_000].into_iter(), false);
        assert_eq!(history.estimate().gas_estimate, 5_000_000);
    }
}
