//! Fairness among accounts that pay the same gas unit price: worst-case fair queueing of the
//! estimated time that transactions take in a block.
//!
//! The tag that a price has reached is the time, in microseconds, that each account would have been
//! given if blocks executed the first transactions of all accounts at the same time, in equal
//! parts. An account counts while it has ready transactions at the price. After a transaction above
//! [`DEBT_MIN_USECS`] it also counts until the price reaches its end tag. Shorter ones do not
//! count: an endless stream of new accounts would stop the tag, and long transactions would starve.
//!
//! The pool gives each new transaction a start tag: the tag that its price has reached, or the end
//! tag of the account's last waiting transaction at this price, whichever is later. The end tag of
//! a transaction is its start tag plus its cost. Blocks take, of the transactions whose start tag
//! is reached, the one with the lowest end tag. So a transaction waits about as long as if the
//! accounts had shared the time in equal parts. A short one of a new account does not wait for the
//! long ones of a thousand others, although each of those waits for its first turn. An account
//! that has been given its part is not served before the others have had theirs, and a long
//! transaction is taken when the price reaches its end tag, however many new accounts arrive.
//!
//! A transaction that is taken at a higher price does not advance the tag of a lower one.
//!
//! The tag of a transaction that waits for earlier ones of its account may have passed when it
//! becomes ready. The transaction then gets the tag that its price has reached, or the end tag of
//! the account's last taken transaction at this price, so an account cannot accumulate turns. A
//! transaction that a block returns to the pool keeps its tag.
//!
//! An account that leaves a price keeps its end tag as a debt if it is far ahead of the tag that
//! the price has reached. Otherwise an account that sends one long transaction at a time would
//! pay for none of them. When no transaction is ready at the price, no account waits for a part, so
//! all debts there end.
//!
//! A debt holds at one price, as all tags do. An account that raises its price by one unit precedes
//! all others of the old price, with or without a debt, because the price is the first criterion of
//! the order. At the new price it begins like a new account: once, because its transaction leaves a
//! debt there too. A debt at all prices would delay an account that pays more, although the time at
//! the higher price is not what it owes to the accounts of the lower one.

use super::{
    entry::ReadyKey,
    price_level::{GENERATION_DEBTS_MAX, PriceLevel, Ready},
    small_sorted_map::SmallSortedMap,
};
use ledger_crypto::map::GenerationalMap;
use ledger_types::{AccountAddress, CheckedTransaction};
use std::{collections::BTreeMap, sync::Arc};

/// Lead of an end tag over the tag that its price has reached above which the end tag is retained
/// as a debt, in microseconds.
///
/// It is the time of some forty transfers, so transfers leave no debts. An account gains at most
/// this time with each transaction that it sends after the previous one was taken.
pub(crate) const DEBT_MIN_USECS: u64 = 1_000;

/// The ready transactions in the order in which blocks take them, and the tags that prices have
/// reached.
#[derive(Debug, Default)]
pub(super) struct AccountQueue {
    /// Highest tag of the prices that no longer have ready transactions. A price without ready
    /// transactions has reached this tag.
    highest_tag: u64,
    /// Prices with ready transactions.
    levels: BTreeMap<u64, PriceLevel>,
    /// End tags with which accounts left prices, by account and price, at most twice
    /// [`GENERATION_DEBTS_MAX`].
    debts: GenerationalMap<(AccountAddress, u64), u64>,
}

impl AccountQueue {
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

    /// Returns the lowest start tag at `price` of a transaction of `account` that becomes ready.
    /// `share` is the share of the account there.
    pub(super) fn earliest_tag(
        &self,
        account: AccountAddress,
        price: u64,
        share: Option<&PriceShare>,
    ) -> u64 {
        let taken_end_tag = share.map_or(0, |share| share.taken_end_tag);
        match self.levels.get(&price) {
            // The account has had ready transactions since its last one was taken. Its tag may be
            // behind that of the price by the time that others were given before their turns.
            Some(level) if taken_end_tag > 0 && level.has(account) => taken_end_tag,
            Some(level) => taken_end_tag.max(level.reached_tag()),
            None => taken_end_tag.max(self.highest_tag),
        }
    }

    /// Returns the tag that `price` has reached.
    fn reached_tag(&self, price: u64) -> u64 {
        let level = self.levels.get(&price);
        level.map_or(self.highest_tag, PriceLevel::reached_tag)
    }

    /// Returns the transaction that a block takes next.
    pub(super) fn first(&self) -> Option<&Ready> {
        let (_, level) = self.levels.last_key_value()?;
        level.first()
    }

    /// Adds a transaction that a block can take.
    pub(super) fn insert(&mut self, key: ReadyKey, transaction: &Arc<CheckedTransaction>) {
        let ready = Ready {
            transaction: Arc::clone(transaction),
            tags: key.tags,
        };
        let highest_tag = self.highest_tag;
        let level = self.levels.entry(key.price);
        let level = level.or_insert_with(|| PriceLevel::new(highest_tag));
        let debt = (ready.sender(), key.price);
        level.insert(ready, key.insertion, || self.debts.get(&debt).copied());
    }

    /// Takes the first transaction for a block. It counts as ready until [`Self::remove`].
    pub(super) fn take_first(&mut self) {
        if let Some((_, level)) = self.levels.iter_mut().next_back() {
            level.take_first();
        }
    }

    /// Removes a transaction of `account` that a block took, or that is no longer ready.
    pub(super) fn remove(&mut self, account: AccountAddress, key: ReadyKey) {
        let Some(level) = self.levels.get_mut(&key.price) else {
            return;
        };
        let left = level.remove(account, key.tags, key.insertion);
        let end_tag = left.map_or(0, |taken| taken.end);
        if level.is_empty() {
            let last_tag = level.last_tag().max(end_tag);
            self.highest_tag = self.highest_tag.max(last_tag);
            self.levels.remove(&key.price);
            return;
        }
        let lead_usecs = end_tag.saturating_sub(level.reached_tag());
        if left.is_some_and(|taken| taken.end - taken.start > DEBT_MIN_USECS) && lead_usecs > 0 {
            level.add_ahead(end_tag);
        }
        level.ensure_eligible();
        if lead_usecs > DEBT_MIN_USECS {
            self.record_debt((account, key.price), end_tag);
        }
    }

    fn record_debt(&mut self, debt: (AccountAddress, u64), end_tag: u64) {
        let younger = self.debts.younger();
        if younger.len() >= GENERATION_DEBTS_MAX && !younger.contains_key(&debt) {
            self.debts.rotate();
        }
        self.debts.insert(debt, end_tag);
    }

    /// Returns the keys of all ready transactions.
    #[cfg(test)]
    pub(super) fn keys(&self) -> std::collections::BTreeSet<ReadyKey> {
        let levels = self.levels.iter();
        let keys = levels.flat_map(|(&price, level)| {
            level.all().map(move |(tags, insertion)| ReadyKey {
                price,
                tags,
                insertion,
            })
        });
        keys.collect()
    }
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
    use super::{super::entry::Tags, *};
    use ledger_test_support::draft::draft;

    const PRICE: u64 = 100;
    const END: u64 = 4 * DEBT_MIN_USECS;

    fn debt(number: usize) -> (AccountAddress, u64) {
        (AccountAddress::from_low_u64(number as u64), PRICE)
    }

    fn tag(queue: &AccountQueue, number: usize) -> u64 {
        let (account, price) = debt(number);
        queue.next_tag(account, price, None)
    }

    #[test]
    fn retains_a_bounded_number_of_debts_and_the_newest_of_them() {
        let mut queue = AccountQueue::default();
        let count = 3 * GENERATION_DEBTS_MAX;
        for number in 0..count {
            queue.record_debt(debt(number), END);
            let debts = queue.debts.younger().len() + queue.debts.older().len();
            assert!(debts <= 2 * GENERATION_DEBTS_MAX);
        }
        for newest in count - GENERATION_DEBTS_MAX..count {
            assert_eq!(tag(&queue, newest), END);
        }
        assert_eq!(tag(&queue, 0), 0, "evicted");
    }

    #[test]
    fn a_higher_debt_of_an_account_evicts_no_other() {
        let mut queue = AccountQueue::default();
        for number in 0..2 * GENERATION_DEBTS_MAX {
            queue.record_debt(debt(number), END);
        }
        let last = 2 * GENERATION_DEBTS_MAX - 1;
        for further in 1..=10 {
            queue.record_debt(debt(last), END + further);
        }
        assert!((0..last).all(|number| tag(&queue, number) == END));
        assert_eq!(tag(&queue, last), END + 10);
    }

    #[test]
    fn a_debt_holds_at_each_price_until_no_transaction_is_ready_there() {
        let mut queue = AccountQueue::default();
        let key = |price, end, insertion| ReadyKey {
            price,
            tags: Tags { start: 0, end },
            insertion,
        };
        let prices = [PRICE, PRICE + 1];
        let [account, waiting] = [1, 2].map(|number| draft(number, 0).checked());
        let address = account.raw().sender;
        for price in prices {
            queue.insert(key(price, END, 1), &account);
            queue.insert(key(price, 2 * END, 2), &waiting);
            let level = queue.levels.get_mut(&price).expect("inserted");
            level.take_first();
            queue.remove(address, key(price, END, 1));
        }
        for price in prices {
            assert_eq!(queue.next_tag(address, price, None), END);
            queue.remove(waiting.raw().sender, key(price, 2 * END, 2));
            assert_eq!(queue.next_tag(address, price, None), queue.highest_tag);
            assert_eq!(queue.reached_tag(price), END);
        }
    }
}
