//! Fairness among accounts that pay the same gas unit price: start-time fair queueing.
//!
//! The pool gives each new transaction a start tag: the tag that its price has reached, or the tag
//! after the account's last waiting transaction at this price, whichever is later. Blocks take the
//! transactions of one price in the order of their tags. Accounts therefore alternate, however many
//! transactions each has, and a new account is served in the current round. A transaction that is
//! taken at a higher price does not advance the tags of a lower one.
//!
//! The tag of a transaction that waits for earlier ones of its account may have passed when it
//! becomes ready. The transaction then gets the tag that its price has reached, or the tag after
//! the account's last taken transaction at this price, so an account cannot accumulate turns. A
//! transaction that a block returns to the pool keeps its tag.

use super::small_sorted_map::SmallSortedMap;
use std::collections::BTreeMap;

/// The start tags that prices have reached.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// Highest start tag that was taken at any price. A price without waiting transactions has
    /// reached this tag.
    highest_tag: u64,
    levels: BTreeMap<u64, PriceLevel>,
}

/// State of one price that has waiting transactions.
#[derive(Debug)]
struct PriceLevel {
    /// Highest start tag that was taken since the level was created, but at least the value that
    /// [`FairQueue::highest_tag`] had then.
    reached_tag: u64,
    /// Number of waiting transactions at this price, at least 1.
    waiting_count: usize,
}

impl FairQueue {
    /// Returns the start tag of a new transaction at `price`. `share` is the share of its account
    /// there.
    pub(super) fn next_tag(&self, price: u64, share: Option<&PriceShare>) -> u64 {
        let reached_tag = self.reached_tag(price);
        share.map_or(reached_tag, |share| {
            reached_tag.max(share.last_start_tag.saturating_add(1))
        })
    }

    /// Returns the lowest start tag at `price` of a transaction that becomes ready. `share` is the
    /// share of its account there.
    pub(super) fn earliest_tag(&self, price: u64, share: Option<&PriceShare>) -> u64 {
        let reached_tag = self.reached_tag(price);
        share.map_or(reached_tag, |share| reached_tag.max(share.next_after_taken))
    }

    /// Returns the start tag that `price` has reached.
    fn reached_tag(&self, price: u64) -> u64 {
        let level = self.levels.get(&price);
        level.map_or(self.highest_tag, |level| level.reached_tag)
    }

    /// Counts one more waiting transaction at `price`.
    pub(super) fn add_waiting(&mut self, price: u64) {
        let reached_tag = self.highest_tag;
        let level = self.levels.entry(price);
        level
            .or_insert(PriceLevel {
                reached_tag,
                waiting_count: 0,
            })
            .waiting_count += 1;
    }

    /// Counts one fewer waiting transaction at `price`.
    pub(super) fn remove_waiting(&mut self, price: u64) {
        if let Some(level) = self.levels.get_mut(&price) {
            level.waiting_count -= 1;
            if level.waiting_count == 0 {
                self.levels.remove(&price);
            }
        }
    }

    /// Records that a block took the transaction with this start tag. The transaction counts as
    /// waiting until [`Self::remove_waiting`].
    pub(super) fn take(&mut self, price: u64, start_tag: u64) {
        self.highest_tag = self.highest_tag.max(start_tag);
        if let Some(level) = self.levels.get_mut(&price) {
            level.reached_tag = level.reached_tag.max(start_tag);
        }
    }

    /// Returns the number of waiting transactions at each price.
    #[cfg(test)]
    pub(super) fn waiting_counts(&self) -> BTreeMap<u64, usize> {
        let levels = self.levels.iter();
        levels
            .map(|(&price, level)| (price, level.waiting_count))
            .collect()
    }
}

/// The waiting transactions of an account at one price.
#[derive(Debug, Default)]
pub(super) struct PriceShare {
    /// Highest start tag of the account's transactions since the share was created.
    last_start_tag: u64,
    /// Start tag after the highest one that was taken, or 0 if none was.
    next_after_taken: u64,
    waiting_count: usize,
}

/// The shares of one account, by price. A price without waiting transactions has no share.
#[derive(Debug, Default)]
pub(super) struct AccountShares(SmallSortedMap<PriceShare>);

impl AccountShares {
    pub(super) fn get(&self, price: u64) -> Option<&PriceShare> {
        self.0.get(price)
    }

    /// Counts one more waiting transaction of the account.
    pub(super) fn add_waiting(&mut self, price: u64, start_tag: u64) {
        match self.0.get_mut(price) {
            Some(share) => {
                share.last_start_tag = share.last_start_tag.max(start_tag);
                share.waiting_count += 1;
            }
            None => {
                let share = PriceShare {
                    last_start_tag: start_tag,
                    next_after_taken: 0,
                    waiting_count: 1,
                };
                self.0.insert(price, share);
            }
        }
    }

    /// Records that a block took the transaction with this start tag, which then no longer waits.
    pub(super) fn take(&mut self, price: u64, start_tag: u64) {
        if let Some(share) = self.0.get_mut(price) {
            share.last_start_tag = share.last_start_tag.max(start_tag);
            share.next_after_taken = share.next_after_taken.max(start_tag.saturating_add(1));
        }
        self.remove_waiting(price);
    }

    /// Counts one fewer waiting transaction of the account.
    pub(super) fn remove_waiting(&mut self, price: u64) {
        if let Some(share) = self.0.get_mut(price) {
            share.waiting_count -= 1;
            if share.waiting_count == 0 {
                self.0.remove(price);
            }
        }
    }

    /// Returns the number of waiting transactions of the account at each price.
    #[cfg(test)]
    pub(super) fn waiting_counts(&self) -> BTreeMap<u64, usize> {
        let shares = self.0.iter();
        shares
            .map(|(price, share)| (price, share.waiting_count))
            .collect()
    }
}
