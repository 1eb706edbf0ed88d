//! The ready transactions of one gas unit price, in the order in which blocks take them.

use super::entry::Tags;
use ledger_crypto::map::HashMap;
use ledger_types::{AccountAddress, CheckedTransaction};
use std::{
    collections::{BTreeMap, hash_map},
    sync::Arc,
};

/// Maximum number of debts in a generation.
///
/// Each debt stands for a transaction of at least [`super::account_queue::DEBT_MIN_USECS`], so a
/// generation covers the expensive transactions of at least 4 s. The price reaches most debts
/// within a few blocks; they have no effect from then on.
pub(super) const GENERATION_DEBTS_MAX: usize = 4_096;

/// A ready transaction with its tags.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) transaction: Arc<CheckedTransaction>,
    pub(super) tags: Tags,
}

impl Ready {
    pub(super) fn sender(&self) -> AccountAddress {
        self.transaction.raw().sender
    }
}

/// An account with ready transactions.
#[derive(Debug)]
struct Turns {
    ready_count: usize,
    /// Tags of the account's taken transaction with the highest end tag, or 0.
    taken: Tags,
}

/// Ready transactions of one price. See [`super::account_queue`] for the rules.
#[derive(Debug)]
pub(super) struct PriceLevel {
    /// Tag that the price has reached.
    reached_tag: u64,
    /// Time that was given to transactions and is too short to advance the tag, in microseconds.
    rest_usecs: u64,
    /// Transactions whose start tag is reached, by end tag, then by insertion. Not empty if the
    /// level has transactions.
    eligible: BTreeMap<(u64, u64), Ready>,
    /// The other transactions, by start tag, then by insertion.
    later: BTreeMap<(u64, u64), Ready>,
    accounts: HashMap<AccountAddress, Turns>,
    /// Numbers of accounts that left the level after a long transaction, by their end tags, all of
    /// which are above the reached tag. At most [`GENERATION_DEBTS_MAX`] end tags.
    ahead: BTreeMap<u64, u64>,
    /// Sum of `ahead`.
    ahead_count: u64,
}

impl PriceLevel {
    pub(super) fn new(reached_tag: u64) -> Self {
        Self {
            reached_tag,
            rest_usecs: 0,
            eligible: BTreeMap::new(),
            later: BTreeMap::new(),
            accounts: HashMap::default(),
            ahead: BTreeMap::new(),
            ahead_count: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    pub(super) fn reached_tag(&self) -> u64 {
        self.reached_tag
    }

    /// Returns whether the account has ready transactions.
    pub(super) fn has(&self, account: AccountAddress) -> bool {
        self.accounts.contains_key(&account)
    }

    /// Returns a tag that no transaction of the level has exceeded.
    pub(super) fn last_tag(&self) -> u64 {
        let debt = self.ahead.last_key_value();
        debt.map_or(self.reached_tag, |(&end, _)| end)
    }

    /// Returns the transaction that a block takes next.
    pub(super) fn first(&self) -> Option<&Ready> {
        self.eligible.first_key_value().map(|(_, ready)| ready)
    }

    /// Adds a ready transaction with its position in the order of insertion into the pool. `debt`
    /// returns the end tag of the account's debt at this price.
    pub(super) fn insert(
        &mut self,
        ready: Ready,
        insertion: u64,
        debt: impl FnOnce() -> Option<u64>,
    ) {
        match self.accounts.entry(ready.sender()) {
            hash_map::Entry::Occupied(turns) => turns.into_mut().ready_count += 1,
            hash_map::Entry::Vacant(vacant) => {
                // An account with a debt starts at its end tag or later.
                let is_debt_possible = ready.tags.start > self.reached_tag;
                let debt = is_debt_possible.then(debt).flatten();
                let debt = debt.filter(|&end| end > self.reached_tag);
                vacant.insert(Turns {
                    ready_count: 1,
                    taken: Tags {
                        start: 0,
                        end: debt.unwrap_or(0),
                    },
                });
                if let Some(end) = debt {
                    self.remove_ahead(end);
                }
            }
        }
        if ready.tags.start <= self.reached_tag {
            self.eligible.insert((ready.tags.end, insertion), ready);
        } else {
            self.later.insert((ready.tags.start, insertion), ready);
        }
        self.ensure_eligible();
    }

    /// Takes the first transaction. Its account counts until [`Self::remove`], and the next
    /// transaction of the account may be inserted before that.
    pub(super) fn take_first(&mut self) {
        let Some((_, ready)) = self.eligible.pop_first() else {
            return;
        };
        let tags = ready.tags;
        if let Some(turns) = self.accounts.get_mut(&ready.sender())
            && tags.end > turns.taken.end
        {
            turns.taken = tags;
        }
        self.give(tags);
    }

    /// Removes a transaction that was taken, or that is no longer ready. Returns the tags
    /// of the account's last turn if this was its last ready transaction.
    pub(super) fn remove(
        &mut self,
        sender: AccountAddress,
        tags: Tags,
        insertion: u64,
    ) -> Option<Tags> {
        if tags.start <= self.reached_tag {
            self.eligible.remove(&(tags.end, insertion));
        } else {
            self.later.remove(&(tags.start, insertion));
        }
        let hash_map::Entry::Occupied(mut turns) = self.accounts.entry(sender) else {
            return None;
        };
        turns.get_mut().ready_count -= 1;
        (turns.get().ready_count == 0).then(|| turns.remove().taken)
    }

    /// Counts an account that left with this end tag until the price reaches it.
    pub(super) fn add_ahead(&mut self, end_tag: u64) {
        *self.ahead.entry(end_tag).or_default() += 1;
        self.ahead_count += 1;
        if self.ahead.len() > GENERATION_DEBTS_MAX {
            self.remove_first_ahead();
        }
    }

    fn remove_ahead(&mut self, end_tag: u64) {
        if let Some(count) = self.ahead.get_mut(&end_tag) {
            *count -= 1;
            self.ahead_count -= 1;
            if *count == 0 {
                self.ahead.remove(&end_tag);
            }
        }
    }

    fn remove_first_ahead(&mut self) {
        if let Some((_, count)) = self.ahead.pop_first() {
            self.ahead_count -= count;
        }
    }

    /// Makes a transaction eligible if the level has any: advances the tag to the lowest start tag.
    pub(super) fn ensure_eligible(&mut self) {
        if self.eligible.is_empty()
            && let Some((&(start, _), _)) = self.later.first_key_value()
        {
            self.rest_usecs = 0;
            self.reach(start);
        }
    }

    /// Advances the tag by an equal part of the time of a taken transaction for each account that
    /// waits or is ahead, but not beyond its end tag or that of an eligible transaction.
    ///
    /// A transaction whose end tag is reached is next. A higher tag would let new accounts start
    /// far behind accounts that wait.
    fn give(&mut self, taken: Tags) {
        self.rest_usecs += taken.end - taken.start;
        loop {
            let next_end = self.eligible.first_key_value().map(|(&(end, _), _)| end);
            let limit = next_end.map_or(taken.end, |end| end.min(taken.end));
            let limit = limit.max(self.reached_tag);
            let parts = (self.accounts.len() as u64 + self.ahead_count).max(1);
            let even = self.reached_tag.saturating_add(self.rest_usecs / parts);
            let tag = even.min(limit);
            let debt = self.ahead.first_key_value().map(|(&end, _)| end);
            let start = self.later.first_key_value().map(|(&(start, _), _)| start);
            let changes = debt.into_iter().chain(start).min();
            if let Some(change) = changes.filter(|&change| change <= tag) {
                // The number of parts changes, or the limit.
                self.rest_usecs -= (change - self.reached_tag) * parts;
                self.reach(change);
                continue;
            }
            self.rest_usecs = if even > limit {
                0
            } else {
                self.rest_usecs % parts
            };
            self.reached_tag = tag;
            return;
        }
    }

    /// Advances the tag, and what depends on it.
    fn reach(&mut self, tag: u64) {
        self.reached_tag = tag;
        while self
            .ahead
            .first_key_value()
            .is_some_and(|(&end, _)| end <= tag)
        {
            self.remove_first_ahead();
        }
        while let Some(first) = self.later.first_entry()
            && first.key().0 <= tag
        {
            let ((_, insertion), ready) = first.remove_entry();
            self.eligible.insert((ready.tags.end, insertion), ready);
        }
    }

    /// Returns the tags and positions of all ready transactions.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (Tags, u64)> {
        assert!(
            self.eligible
                .values()
                .all(|ready| ready.tags.start <= self.reached_tag)
        );
        assert!(
            self.later
                .values()
                .all(|ready| ready.tags.start > self.reached_tag)
        );
        assert!(self.ahead.keys().all(|&end| end > self.reached_tag));
        assert_eq!(self.ahead.values().sum::<u64>(), self.ahead_count);
        assert!(!self.eligible.is_empty());
        let all = self.eligible.iter().chain(&self.later);
        all.map(|(&(_, insertion), ready)| (ready.tags, insertion))
    }
}
