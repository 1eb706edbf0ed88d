//! Fairness among accounts that pay the same: start-time fair queueing.
//!
//! Each transaction gets a turn when it comes in: the turn that its price has reached, or one after the
//! account's last that waits at this price, whichever is later. Those of one price are taken turn by
//! turn, so that accounts alternate however many each has, and who comes new is served in the round
//! that is under way. Prices are apart: what is taken at a higher price moves no turn at a lower one.
//!
//! One that has to wait for earlier ones of its account may find its turn passed when it becomes ready. It
//! then gets the turn that its price has reached, or one after the account's last that was taken there,
//! so that nobody saves up turns. One that a block gave back keeps its turn.

use super::small_map::SmallSortedMap;
use std::collections::BTreeMap;

/// The turns that prices have reached.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// The latest turn of all that were taken: where a price begins at which nobody waited.
    newest: u64,
    levels: BTreeMap<u64, Level>,
}

#[derive(Debug)]
struct Level {
    reached: u64,
    waiting: usize,
}

impl FairQueue {
    /// The turn of a newcomer at `price` whose account has `share` there.
    pub(super) fn next_tag(&self, price: u64, share: Option<&PriceShare>) -> u64 {
        let reached = self.reached(price);
        share.map_or(reached, |share| {
            reached.max(share.last_start_tag.saturating_add(1))
        })
    }

    /// The earliest turn at `price` of one that becomes ready, whose account has `share` there.
    pub(super) fn earliest_tag(&self, price: u64, share: Option<&PriceShare>) -> u64 {
        let reached = self.reached(price);
        share.map_or(reached, |share| reached.max(share.after_taken))
    }

    fn reached(&self, price: u64) -> u64 {
        let level = self.levels.get(&price);
        level.map_or(self.newest, |level| level.reached)
    }

    /// One more waits at `price`.
    pub(super) fn wait(&mut self, price: u64) {
        let reached = self.newest;
        let level = self.levels.entry(price);
        level
            .or_insert(Level {
                reached,
                waiting: 0,
            })
            .waiting += 1;
    }

    /// One fewer waits at `price`.
    pub(super) fn stop_waiting(&mut self, price: u64) {
        if let Some(level) = self.levels.get_mut(&price) {
            level.waiting -= 1;
            if level.waiting == 0 {
                self.levels.remove(&price);
            }
        }
    }

    /// The one with this turn is taken; it still counts as waiting.
    pub(super) fn take(&mut self, price: u64, start_tag: u64) {
        self.newest = self.newest.max(start_tag);
        if let Some(level) = self.levels.get_mut(&price) {
            level.reached = level.reached.max(start_tag);
        }
    }

    /// How many wait at each price.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> BTreeMap<u64, usize> {
        let levels = self.levels.iter();
        levels
            .map(|(&price, level)| (price, level.waiting))
            .collect()
    }
}

/// What an account has waiting at one price.
#[derive(Debug, Default)]
pub(super) struct PriceShare {
    last_start_tag: u64,
    /// The turn after the last that was taken, 0 where none was.
    after_taken: u64,
    waiting: usize,
}

/// The shares of one account by price, where it has any.
#[derive(Debug, Default)]
pub(super) struct AccountShares(SmallSortedMap<PriceShare>);

impl AccountShares {
    pub(super) fn at(&self, price: u64) -> Option<&PriceShare> {
        self.0.get(price)
    }

    /// One more of the account waits.
    pub(super) fn wait(&mut self, price: u64, start_tag: u64) {
        match self.0.get_mut(price) {
            Some(share) => {
                share.last_start_tag = share.last_start_tag.max(start_tag);
                share.waiting += 1;
            }
            None => {
                let share = PriceShare {
                    last_start_tag: start_tag,
                    after_taken: 0,
                    waiting: 1,
                };
                self.0.insert(price, share);
            }
        }
    }

    /// The one with this turn is taken: it waits no longer.
    pub(super) fn take(&mut self, price: u64, start_tag: u64) {
        if let Some(share) = self.0.get_mut(price) {
            share.last_start_tag = share.last_start_tag.max(start_tag);
            share.after_taken = share.after_taken.max(start_tag.saturating_add(1));
        }
        self.stop_waiting(price);
    }

    /// One fewer of the account waits.
    pub(super) fn stop_waiting(&mut self, price: u64) {
        if let Some(share) = self.0.get_mut(price) {
            share.waiting -= 1;
            if share.waiting == 0 {
                self.0.remove(price);
            }
        }
    }

    /// How many of the account wait at each price.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> BTreeMap<u64, usize> {
        let shares = self.0.iter();
        shares
            .map(|(price, share)| (price, share.waiting))
            .collect()
    }
}
