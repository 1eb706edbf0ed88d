//! The order of ready transactions in the model: the tags of prices, advanced step by step.

use super::{Item, Model};
use crate::mempool::pool::account_queue::DEBT_MIN_USECS;
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use std::collections::BTreeMap;

/// A price with ready transactions.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) reached_tag: u64,
    rest_usecs: u64,
    /// Start and end tag of the last turn of each account with ready transactions.
    pub(super) accounts: BTreeMap<AccountAddress, (u64, u64)>,
    /// End tags above the reached one of accounts that have left.
    ahead: Vec<u64>,
}

impl Model {
    pub(super) fn reached_tag(&self, price: u64) -> u64 {
        let level = self.levels.get(&price);
        level.map_or(self.highest_tag, |level| level.reached_tag)
    }

    /// Returns the tags of the ready transactions at a price except one.
    fn ready_tags(&self, price: u64, except: Option<HashValue>) -> Vec<(u64, u64)> {
        let items = self.items.iter();
        let ready = items.filter(|item| item.price() == price && self.is_next(item));
        let ready = ready.filter(|item| Some(item.hash()) != except);
        ready.map(|item| (item.start_tag, item.end_tag())).collect()
    }

    /// Gives the time of a transaction to its account, microsecond by microsecond of the tag.
    pub(super) fn give(&mut self, taken: &Item) {
        let others = self.ready_tags(taken.price(), Some(taken.hash()));
        let level = self.levels.get_mut(&taken.price()).expect("ready");
        let turn = level.accounts.get_mut(&taken.key().sender).expect("ready");
        if taken.end_tag() > turn.1 {
            *turn = (taken.start_tag, taken.end_tag());
        }
        level.rest_usecs += taken.cost_usecs;
        loop {
            let parts = (level.accounts.len() + level.ahead.len()) as u64;
            let has_reached = |end| end <= level.reached_tag;
            let has_reached_end = has_reached(taken.end_tag())
                || others
                    .iter()
                    .any(|&(start, end)| has_reached(start) && has_reached(end));
            if level.rest_usecs < parts {
                break;
            }
            if has_reached_end {
                level.rest_usecs = 0;
                break;
            }
            level.rest_usecs -= parts;
            level.reached_tag += 1;
            level.ahead.retain(|&end| end > level.reached_tag);
        }
    }

    /// Advances the tag to the lowest start tag if none is reached.
    fn advance_to_ready(&mut self, price: u64, ready: &[(u64, u64)]) {
        let Some(level) = self.levels.get_mut(&price) else {
            return;
        };
        let lowest = ready.iter().map(|&(start, _)| start).min();
        if let Some(lowest) = lowest.filter(|&lowest| lowest > level.reached_tag) {
            level.rest_usecs = 0;
            level.reached_tag = lowest;
            level.ahead.retain(|&end| end > lowest);
        }
    }

    /// Updates the accounts of each price.
    pub(super) fn update_levels(&mut self) {
        let ready = self.items.iter().filter(|item| self.is_next(item));
        let mut ready: Vec<_> = ready
            .map(|item| (item.price(), item.key().sender, item.start_tag))
            .collect();
        ready.sort_unstable();
        for &(price, sender, start_tag) in &ready {
            let new = Level {
                reached_tag: self.highest_tag,
                ..Level::default()
            };
            let level = self.levels.entry(price).or_insert(new);
            if level.accounts.contains_key(&sender) {
                continue;
            }
            let debt = self.debts.get(&(sender, price)).copied().unwrap_or(0);
            let has_debt = debt > level.reached_tag && start_tag > level.reached_tag;
            if has_debt && let Some(index) = level.ahead.iter().position(|&end| end == debt) {
                level.ahead.swap_remove(index);
            }
            level
                .accounts
                .insert(sender, (0, if has_debt { debt } else { 0 }));
        }
        let prices: Vec<_> = self.levels.keys().copied().collect();
        for price in prices {
            let level = self.levels.get_mut(&price).expect("listed above");
            let is_ready = |sender| ready.iter().any(|&(at, by, _)| (at, by) == (price, sender));
            let mut left = level.accounts.clone();
            left.retain(|&sender, _| !is_ready(sender));
            level.accounts.retain(|&sender, _| is_ready(sender));
            if level.accounts.is_empty() {
                let ends = left.values().map(|&(_, end)| end);
                let ends = ends.chain(level.ahead.iter().copied());
                let highest_tag = ends.max().unwrap_or(0).max(level.reached_tag);
                self.highest_tag = self.highest_tag.max(highest_tag);
                self.levels.remove(&price);
                continue;
            }
            for (sender, (start_tag, end_tag)) in left {
                if end_tag > level.reached_tag + DEBT_MIN_USECS {
                    self.debts.insert((sender, price), end_tag);
                }
                if end_tag > level.reached_tag && end_tag - start_tag > DEBT_MIN_USECS {
                    level.ahead.push(end_tag);
                }
            }
            let tags = self.ready_tags(price, None);
            self.advance_to_ready(price, &tags);
        }
    }
}
