//! Fairness among accounts that pay the same gas unit price: start-time fair queueing of the
//! estimated time that transactions take in a block.
//!
//! The pool gives each new transaction a start tag, in microseconds: the tag that its price has
//! reached, or the end tag of the account's last waiting transaction at this price, whichever is
//! later. The end tag of a transaction is its start tag plus its cost. Blocks take the transactions
//! of one price in the order of their start tags. Accounts therefore get equal time, however many
//! transactions each has and whatever they cost, and a new account is served in the current round.
//! A transaction that is taken at a higher price does not advance the tags of a lower one.
//!
//! The tag of a transaction that waits for earlier ones of its account may have passed when it
//! becomes ready. The transaction then gets the tag that its price has reached, or the end tag of
//! the account's last taken transaction at this price, so an account cannot accumulate turns. A
//! transaction that a block returns to the pool keeps its tag.
//!
//! An account whose last transaction was taken has no share any more. Its end tag is then retained
//! as a debt if it is far ahead of the tag that the price has reached. Otherwise an account that
//! sends one expensive transaction at a time would pay for none of them. The debt remains if a
//! block returns an earlier transaction of the account.
//!
//! A debt holds at one price, as all tags do. An account that raises its price by one unit precedes
//! all others of the old price, with or without a debt, because the price is the first criterion of
//! the order. At the new price it begins like a new account: once, because its transaction leaves a
//! debt there too. A debt at all prices would delay an account that pays more, although the time at
//! the higher price is not what it owes to the accounts of the lower one.

use super::small_sorted_map::SmallSortedMap;
use ledger_crypto::map::GenerationalMap;
use ledger_types::AccountAddress;
use std::collections::BTreeMap;

/// Lead of an end tag over the tag that its price has reached above which the end tag is retained
/// as a debt, in microseconds.
///
/// It is the time of some forty transfers, so that transfers leave no debts. An account gains at most
/// this time with each transaction that it sends after the previous one was taken.
pub(crate) const DEBT_MIN_USECS: u64 = 1_000;

/// Maximum number of debts in a generation.
///
/// Each debt stands for a transaction of at least [`DEBT_MIN_USECS`], so a generation covers the
/// expensive transactions of at least 4 s. The price reaches most debts within a few blocks; they
/// have no effect from then on.
const GENERATION_DEBTS_MAX: usize = 4_096;

/// The start tags that prices have reached.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// Highest start tag that was taken at any price. A price without waiting transactions has
    /// reached this tag.
    highest_tag: u64,
    levels: BTreeMap<u64, PriceLevel>,
    /// End tags of transactions that were taken, by account and price, at most twice
    /// [`GENERATION_DEBTS_MAX`].
    debts: GenerationalMap<(AccountAddress, u64), u64>,
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
    /// Returns the start tag of a new transaction of `account` at `price`. `share` is the share of
    /// the account there.
    pub(super) fn next_tag(
        &self,
        account: AccountAddress,
        price: u64,
        share: Option<&PriceShare>,
    ) -> u64 {
        // A block may return a transaction after a later block took the account's last one. The
        // share then begins at the end tag of the returned transaction, which is below the debt.
        let debt = self.debts.get(&(account, price)).copied().unwrap_or(0);
        let last_end_tag = share.map_or(debt, |share| share.last_end_tag.max(debt));
        self.reached_tag(price).max(last_end_tag)
    }

    /// Returns the lowest start tag at `price` of a transaction that becomes ready. `share` is the
    /// share of its account there.
    pub(super) fn earliest_tag(&self, price: u64, share: Option<&PriceShare>) -> u64 {
        let reached_tag = self.reached_tag(price);
        share.map_or(reached_tag, |share| reached_tag.max(share.taken_end_tag))
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

    /// Records that a block took a transaction of `account` with these tags. The transaction counts
    /// as waiting until [`Self::remove_waiting`].
    pub(super) fn take(&mut self, account: AccountAddress, price: u64, tags: Tags) {
        self.highest_tag = self.highest_tag.max(tags.start);
        if let Some(level) = self.levels.get_mut(&price) {
            level.reached_tag = level.reached_tag.max(tags.start);
        }
        let lead_usecs = tags.end.saturating_sub(self.reached_tag(price));
        if lead_usecs > DEBT_MIN_USECS {
            let (debt, younger) = ((account, price), self.debts.younger());
            if younger.len() >= GENERATION_DEBTS_MAX && !younger.contains_key(&debt) {
                self.debts.rotate();
            }
            self.debts.insert(debt, tags.end);
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

/// The tags of a transaction, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The waiting transactions of an account at one price.
#[derive(Debug, Default)]
pub(super) struct PriceShare {
    /// Highest end tag of the account's transactions since the share was created.
    last_end_tag: u64,
    /// Highest end tag of those that were taken, or 0 if none was.
    taken_end_tag: u64,
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
    pub(super) fn add_waiting(&mut self, price: u64, end_tag: u64) {
        match self.0.get_mut(price) {
            Some(share) => {
                share.last_end_tag = share.last_end_tag.max(end_tag);
                share.waiting_count += 1;
            }
            None => {
                let share = PriceShare {
                    last_end_tag: end_tag,
                    taken_end_tag: 0,
                    waiting_count: 1,
                };
                self.0.insert(price, share);
            }
        }
    }

    /// Records that a block took the transaction with this end tag, which then no longer waits.
    pub(super) fn take(&mut self, price: u64, end_tag: u64) {
        if let Some(share) = self.0.get_mut(price) {
            share.last_end_tag = share.last_end_tag.max(end_tag);
            share.taken_end_tag = share.taken_end_tag.max(end_tag);
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

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: u64 = 100;

    fn account(number: usize) -> AccountAddress {
        AccountAddress::from_low_u64(number as u64)
    }

    /// Takes a transaction of the account that leaves a debt.
    fn take(queue: &mut FairQueue, number: usize) {
        let start = queue.next_tag(account(number), PRICE, None);
        let end = start + 2 * DEBT_MIN_USECS;
        queue.take(account(number), PRICE, Tags { start: 0, end });
    }

    #[test]
    fn retains_a_bounded_number_of_debts_and_the_newest_of_them() {
        let mut queue = FairQueue::default();
        let count = 3 * GENERATION_DEBTS_MAX;
        for number in 0..count {
            take(&mut queue, number);
            let debts = queue.debts.younger().len() + queue.debts.older().len();
            assert!(debts <= 2 * GENERATION_DEBTS_MAX);
        }
        let tag = |number| queue.next_tag(account(number), PRICE, None);
        for newest in count - GENERATION_DEBTS_MAX..count {
            assert_eq!(tag(newest), 2 * DEBT_MIN_USECS);
        }
        assert_eq!(tag(0), 0, "evicted");
    }

    #[test]
    fn a_higher_debt_of_an_account_evicts_no_other() {
        let mut queue = FairQueue::default();
        for number in 0..2 * GENERATION_DEBTS_MAX {
            take(&mut queue, number);
        }
        let last = 2 * GENERATION_DEBTS_MAX - 1;
        for _ in 0..10 {
            take(&mut queue, last);
        }
        let tag = |number| queue.next_tag(account(number), PRICE, None);
        assert!((0..last).all(|number| tag(number) == 2 * DEBT_MIN_USECS));
        assert_eq!(tag(last), 11 * 2 * DEBT_MIN_USECS);
    }

    #[test]
    fn a_debt_holds_at_each_price_that_the_account_has_used() {
        let mut queue = FairQueue::default();
        let prices = [PRICE, PRICE + 1];
        let end = 2 * DEBT_MIN_USECS;
        for price in prices {
            assert_eq!(queue.next_tag(account(1), price, None), 0);
            queue.take(account(1), price, Tags { start: 0, end });
        }
        for price in prices {
            assert_eq!(queue.next_tag(account(1), price, None), end);
        }
    }
}
