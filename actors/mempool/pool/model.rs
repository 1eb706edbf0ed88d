//! A model of the pool: the same rules over a plain list, computed without indices.

mod levels;

use super::{LONG_SHARE, Removed};
use crate::{
    MempoolConfig, RemovalReason, SubmitError,
    protocol::mempool::{BatchLimits, PoolKey},
};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard,
    ReplayProtector::{Nonce, SequenceNumber},
    ValidationStatus,
};
use levels::Level;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A transaction in the model.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) transaction: Arc<CheckedTransaction>,
    pub(super) inserted_at_secs: u64,
    pub(super) expires_at_secs: u64,
    pub(super) is_taken: bool,
    insertion: u64,
    start_tag: u64,
    /// Estimate of the pool at the admission, in microseconds.
    pub(super) cost_usecs: u64,
}

/// Returns the key of a transaction with a sequence number.
fn key(sender: AccountAddress, number: u64) -> PoolKey {
    PoolKey {
        sender,
        protector: SequenceNumber(number),
    }
}

impl Item {
    fn key(&self) -> PoolKey {
        PoolKey::of(self.transaction.raw())
    }

    pub(super) fn hash(&self) -> HashValue {
        self.transaction.hash()
    }

    fn price(&self) -> u64 {
        self.transaction.raw().gas_unit_price
    }

    fn size(&self) -> usize {
        self.transaction.size_bytes()
    }

    fn end_tag(&self) -> u64 {
        self.start_tag + self.cost_usecs
    }
}

/// A simple model of the pool, in which each operation searches all transactions.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) limits: MempoolConfig,
    pub(super) items: Vec<Item>,
    /// Next sequence number of each account on the ledger. A missing entry means 0.
    pub(super) numbers: BTreeMap<AccountAddress, u64>,
    pub(super) removed: Vec<Removed>,
    insertions: u64,
    evicted_last: AccountAddress,
    /// Highest tag of the prices that no longer have ready transactions.
    highest_tag: u64,
    /// Prices with ready transactions.
    levels: BTreeMap<u64, Level>,
    /// Highest end tag of each account at each price at which it has waiting transactions.
    last_end_tags: BTreeMap<(AccountAddress, u64), u64>,
    /// Highest end tag of each account at each price that was taken while the account had
    /// transactions waiting there.
    taken_end_tags: BTreeMap<(AccountAddress, u64), u64>,
    /// End tags with which accounts left prices, if they were far ahead.
    debts: BTreeMap<(AccountAddress, u64), u64>,
    /// Sequence number after the highest former head of each account, at most its first gap.
    head_ends: BTreeMap<AccountAddress, u64>,
}

impl Model {
    pub(super) fn new(limits: MempoolConfig) -> Self {
        Self {
            limits,
            items: Vec::new(),
            numbers: BTreeMap::new(),
            removed: Vec::new(),
            insertions: 0,
            evicted_last: AccountAddress::new([0; 32]),
            highest_tag: 0,
            levels: BTreeMap::new(),
            last_end_tags: BTreeMap::new(),
            taken_end_tags: BTreeMap::new(),
            debts: BTreeMap::new(),
            head_ends: BTreeMap::new(),
        }
    }

    pub(super) fn number(&self, sender: AccountAddress) -> u64 {
        self.numbers.get(&sender).copied().unwrap_or(0)
    }

    pub(super) fn find(&self, key: PoolKey) -> Option<&Item> {
        self.items.iter().find(|item| item.key() == key)
    }

    fn bytes(&self) -> usize {
        self.items.iter().map(Item::size).sum()
    }

    fn usecs(&self) -> u64 {
        self.items.iter().map(|item| item.cost_usecs).sum()
    }

    /// Returns the first missing number of an account.
    fn gap(&self, sender: AccountAddress) -> u64 {
        let mut numbers = self.number(sender)..;
        let missing = numbers.find(|&number| self.find(key(sender, number)).is_none());
        missing.expect("the list is finite")
    }

    fn is_parked(&self, item: &Item) -> bool {
        let PoolKey { sender, protector } = item.key();
        matches!(protector, SequenceNumber(number) if !item.is_taken && number > self.gap(sender))
    }

    /// Returns whether a block could take the transaction now, because all before it are taken.
    fn is_next(&self, item: &Item) -> bool {
        let PoolKey { sender, protector } = item.key();
        let is_taken = |number| {
            let before = self.find(key(sender, number));
            before.is_some_and(|before| before.is_taken)
        };
        !item.is_taken
            && match protector {
                Nonce(_) => true,
                SequenceNumber(number) => (self.number(sender)..number).all(is_taken),
            }
    }

    pub(super) fn has_ready(&self) -> bool {
        self.items.iter().any(|item| self.is_next(item))
    }

    /// Returns the hash of the transaction that the pool then holds under the key, or the error.
    ///
    /// `cost_usecs` is the estimate of the pool.
    pub(super) fn submit(
        &mut self,
        transaction: &Arc<CheckedTransaction>,
        cost_usecs: u64,
        inserted_at_secs: u64,
        now_secs: u64,
    ) -> Result<HashValue, SubmitError> {
        let raw = transaction.raw();
        let key = PoolKey::of(transaction.raw());
        if let SequenceNumber(number) = key.protector
            && number < self.number(key.sender)
        {
            return Err(Discard::from(ValidationStatus::SequenceNumberTooOld).into());
        }
        let expires_at_secs = raw
            .expiration_timestamp_secs
            .min(inserted_at_secs + self.limits.ttl_secs);
        if expires_at_secs <= now_secs {
            return Err(Discard::from(ValidationStatus::TransactionExpired).into());
        }
        self.insertions += 1;
        let price = raw.gas_unit_price;
        let reached_tag = self.reached_tag(price);
        let share = (key.sender, price);
        let own_end_tag = self.last_end_tags.get(&share).max(self.debts.get(&share));
        let item = Item {
            transaction: Arc::clone(transaction),
            inserted_at_secs,
            expires_at_secs,
            is_taken: false,
            insertion: self.insertions,
            start_tag: reached_tag.max(own_end_tag.copied().unwrap_or(0)),
            cost_usecs,
        };
        match self.find(key).cloned() {
            Some(old) => self.resubmit(&old, item),
            None => self.add(item),
        }
    }

    fn resubmit(&mut self, old: &Item, new: Item) -> Result<HashValue, SubmitError> {
        let (before, after) = (old.transaction.raw(), new.transaction.raw());
        let differences = [
            (
                before.payload != after.payload,
                "Transaction already in mempool with a different payload",
            ),
            (
                before.expiration_timestamp_secs != after.expiration_timestamp_secs,
                "Transaction already in mempool with a different expiration timestamp",
            ),
            (
                before.max_gas_amount != after.max_gas_amount,
                "Transaction already in mempool with a different max gas amount",
            ),
        ];
        let difference = differences.iter().find(|(differs, _)| *differs);
        if old.hash() == new.hash() {
            return Ok(old.hash());
        }
        if difference.is_none() && old.price() == new.price() {
            return Err(SubmitError::OtherSignature {
                pending: old.hash(),
            });
        }
        if old.is_taken {
            let PoolKey { sender, protector } = old.key();
            return Err(match protector {
                Nonce(_) => Discard::from(ValidationStatus::NonceAlreadyUsed)
                    .used_by(old.hash())
                    .into(),
                SequenceNumber(given) => {
                    let is_taken = |number: &u64| {
                        let item = self.find(key(sender, *number));
                        item.is_some_and(|item| item.is_taken)
                    };
                    let current = (self.number(sender)..).find(|number| !is_taken(number));
                    let current = current.expect("the list is finite");
                    let current = current.max(given + 1);
                    SubmitError::SequenceNumberTooOld {
                        given,
                        current,
                        used_by: old.hash(),
                    }
                }
            });
        }
        if let Some((_, text)) = difference {
            return Err(SubmitError::InvalidUpdate(text));
        }
        if old.price() > new.price() {
            let text = "Transaction already in mempool with a higher gas price";
            return Err(SubmitError::InvalidUpdate(text));
        }
        let mut after = self.clone();
        after.items.retain(|item| item.hash() != old.hash());
        after.items.push(new.clone());
        if !after.fits() {
            return Err(self.full_error(&after));
        }
        let hash = new.hash();
        self.push(new);
        self.remove_item(old.hash(), Some(RemovalReason::Replaced(hash)));
        Ok(hash)
    }

    fn add(&mut self, new: Item) -> Result<HashValue, SubmitError> {
        let PoolKey { sender, protector } = new.key();
        let is_orderless = |item: &Item| matches!(item.key().protector, Nonce(_));
        let of_account = self.items.iter().filter(|item| item.key().sender == sender);
        let account_len = of_account
            .filter(|item| is_orderless(item) == is_orderless(&new))
            .count();
        let is_ready = match protector {
            Nonce(_) => true,
            SequenceNumber(number) => number == self.gap(sender),
        };
        let (kind, capacity) = match protector {
            Nonce(_) => (
                "orderless transactions",
                self.limits.capacity_per_account_orderless,
            ),
            SequenceNumber(_) => ("transactions", self.limits.capacity_per_account),
        };
        let mut after = self.clone();
        let hash = new.hash();
        let mut account_victim = None;
        if account_len >= capacity {
            let victim = self.highest_parked(sender);
            let fills_gap = is_ready && matches!(protector, SequenceNumber(_));
            let Some(victim) = victim.filter(|_| fills_gap) else {
                let reason = format!(
                    "Mempool over capacity for account. Number of {kind} from account: {account_len}, Capacity: {capacity}"
                );
                return Err(SubmitError::AccountFull { reason });
            };
            account_victim = Some(victim);
        }
        after.push(new);
        if let Some(victim) = account_victim {
            let explanation = "to make room for an earlier transaction of its account".to_owned();
            after.remove_item(victim, Some(RemovalReason::Evicted(explanation)));
        }
        while !after.fits() {
            if !is_ready || !after.evict() {
                return Err(self.full_error(&after));
            }
        }
        *self = after;
        Ok(hash)
    }

    fn fits(&self) -> bool {
        self.items.len() <= self.limits.capacity_transactions
            && self.bytes() <= self.limits.capacity_bytes
            && self.usecs() <= self.limits.capacity_time_ms * 1_000
    }

    /// Returns the error of a submission after which the content would be `after`, which does not
    /// fit.
    fn full_error(&self, after: &Self) -> SubmitError {
        let (count, bytes) = (self.items.len(), self.bytes());
        let reason = if after.items.len() > self.limits.capacity_transactions {
            let capacity = self.limits.capacity_transactions;
            format!("Mempool is full. Mempool size: {count}, Capacity: {capacity}")
        } else if after.bytes() > self.limits.capacity_bytes {
            let capacity = self.limits.capacity_bytes;
            format!("Mempool is full. Mempool size: {bytes} bytes, Capacity: {capacity} bytes")
        } else {
            let (size, capacity) = (self.usecs() / 1_000, self.limits.capacity_time_ms);
            format!(
                "Mempool is full. Mempool size: {size} ms of estimated execution, Capacity: \
                 {capacity} ms of estimated execution"
            )
        };
        SubmitError::Full { reason }
    }

    fn highest_parked(&self, sender: AccountAddress) -> Option<HashValue> {
        let items = self.items.iter();
        let parked = items.filter(|item| item.key().sender == sender && self.is_parked(item));
        parked
            .max_by_key(|item| item.transaction.raw().sequence_number)
            .map(Item::hash)
    }

    /// Evicts the highest parked transaction of the next account, in address order, that has one.
    fn evict(&mut self) -> bool {
        let parked = self.items.iter().filter(|item| self.is_parked(item));
        let accounts: BTreeSet<_> = parked.map(|item| item.key().sender).collect();
        let later = accounts
            .iter()
            .find(|&&account| account > self.evicted_last);
        let Some(&account) = later.or_else(|| accounts.first()) else {
            return false;
        };
        self.evicted_last = account;
        let victim = self.highest_parked(account).expect("the account has one");
        let explanation = "to make room in a full mempool for a ready transaction".to_owned();
        self.remove_item(victim, Some(RemovalReason::Evicted(explanation)));
        true
    }

    pub(super) fn batch(&mut self, limits: BatchLimits) -> Vec<HashValue> {
        let mut batch = Vec::new();
        let (mut bytes, mut usecs) = (0, 0);
        while batch.len() < limits.transactions_max {
            let next = self.items.iter().filter(|item| self.is_next(item));
            let eligible = next.filter(|item| item.start_tag <= self.reached_tag(item.price()));
            let best =
                eligible.min_by_key(|item| (Reverse(item.price()), item.end_tag(), item.insertion));
            let Some(best) = best.cloned() else { break };
            bytes += best.size();
            usecs += best.cost_usecs;
            let fits = bytes <= limits.bytes_max && usecs <= limits.usecs_max;
            let is_long = best.cost_usecs > limits.usecs_max / LONG_SHARE;
            if !batch.is_empty() && (!fits || is_long) {
                break;
            }
            batch.push(best.hash());
            self.give(&best);
            self.record_taken(&best);
        }
        batch
    }

    /// Takes a transaction for a block of another validator, if all before it are taken. Returns
    /// whether it was.
    pub(super) fn take(&mut self, hash: HashValue) -> bool {
        let item = self.items.iter().find(|item| item.hash() == hash);
        let Some(item) = item.filter(|item| self.is_next(item)).cloned() else {
            return false;
        };
        self.record_taken(&item);
        true
    }

    /// Marks a transaction as taken, which advances the tags of its account.
    fn record_taken(&mut self, item: &Item) {
        let key = (item.key().sender, item.price());
        for tags in [&mut self.taken_end_tags, &mut self.last_end_tags] {
            let last = tags.entry(key).or_default();
            *last = (*last).max(item.end_tag());
        }
        self.set_taken(item.hash(), true);
    }

    pub(super) fn expire(&mut self, now_secs: u64) {
        let mut expired: Vec<_> = self
            .items
            .iter()
            .filter(|item| !item.is_taken)
            .cloned()
            .collect();
        expired.retain(|item| item.expires_at_secs <= now_secs);
        expired.sort_by_key(|item| (item.expires_at_secs, item.insertion));
        for item in expired {
            let at_secs = item.expires_at_secs;
            self.remove_item(item.hash(), Some(RemovalReason::Expired { at_secs }));
        }
    }

    pub(super) fn set_taken(&mut self, hash: HashValue, is_taken: bool) {
        if let Some(item) = self.items.iter_mut().find(|item| item.hash() == hash) {
            item.is_taken = is_taken;
            if !is_taken {
                let item = item.clone();
                self.add_waiting(&item);
            }
        }
        self.remove_unused_tags();
        self.retag_new_heads();
    }

    fn push(&mut self, item: Item) {
        self.add_waiting(&item);
        self.items.push(item);
        self.retag_new_heads();
    }

    /// Gives each transaction that has become the head of its account a start tag that has not
    /// passed.
    pub(super) fn retag_new_heads(&mut self) {
        let senders: BTreeSet<_> = self.items.iter().map(|item| item.key().sender).collect();
        self.head_ends.retain(|sender, _| senders.contains(sender));
        for sender in senders {
            let gap = self.gap(sender);
            let end = self.head_ends.get(&sender).map_or(0, |&end| end.min(gap));
            self.head_ends.insert(sender, end);
            let mut numbers = self.number(sender)..gap;
            let waits = |&number: &u64| {
                self.find(key(sender, number))
                    .is_some_and(|item| !item.is_taken)
            };
            let Some(head) = numbers.find(waits).filter(|&head| head >= end) else {
                continue;
            };
            self.head_ends.insert(sender, head + 1);
            let mut items = self.items.iter_mut();
            let item = items
                .find(|item| item.key() == key(sender, head))
                .expect("found above");
            let taken_end_tag = self.taken_end_tags.get(&(sender, item.price()));
            let taken_end_tag = taken_end_tag.copied().unwrap_or(0);
            let level = self.levels.get(&item.price());
            let reached_tag = match level {
                Some(level) if taken_end_tag > 0 && level.accounts.contains_key(&sender) => 0,
                Some(level) => level.reached_tag,
                None => self.highest_tag,
            };
            item.start_tag = item.start_tag.max(reached_tag).max(taken_end_tag);
        }
        self.update_levels();
    }

    /// Records the start tag of a transaction that waits from now on.
    fn add_waiting(&mut self, item: &Item) {
        let key = (item.key().sender, item.price());
        let last = self.last_end_tags.entry(key).or_default();
        *last = (*last).max(item.end_tag());
    }

    /// Removes a transaction from the list. `reason` is `None` if it was executed.
    pub(super) fn remove_item(&mut self, hash: HashValue, reason: Option<RemovalReason>) {
        self.items.retain(|item| item.hash() != hash);
        self.removed
            .extend(reason.map(|reason| Removed { hash, reason }));
        self.remove_unused_tags();
        self.retag_new_heads();
    }

    /// Removes the end tags of accounts without waiting transactions.
    fn remove_unused_tags(&mut self) {
        let waiting: Vec<_> = self.items.iter().filter(|item| !item.is_taken).collect();
        let at_price = |price: u64| waiting.iter().filter(move |item| item.price() == price);
        for tags in [&mut self.last_end_tags, &mut self.taken_end_tags] {
            tags.retain(|&(sender, price), _| {
                at_price(price).any(|item| item.key().sender == sender)
            });
        }
    }
}
