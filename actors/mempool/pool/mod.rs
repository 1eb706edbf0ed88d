//! The pool of pending transactions: order, limits, replacement and expiration.
//!
//! The rules follow the reference node (docs/reference/reference-node.md#r33). Differences include:
//! accounts take turns at equal gas prices, an account at its limit can fill its gap
//! (docs/use/interface.md#full-accounts), and the same transaction with another signature is
//! rejected (docs/use/interface.md#repeated-submissions).
//!
//! A transaction is identified by its sender and its sequence number or nonce. The pool has several
//! indices over its accounts. Every change of an account goes through [`Pool::change`], which
//! updates the indices over accounts. [`Pool::index_waiting`] and [`Pool::unindex_waiting`] update
//! those over waiting transactions.

mod account;
mod account_queue;
mod admission;
mod commit;
mod costs;
mod entry;
mod groups;
mod price_level;
mod sequence_queue;
mod small_sorted_map;
#[cfg(test)]
mod turn_log;

use super::{meter::PoolMeter, persistence::file, removal_log::RemovalLog};
use crate::{
    MempoolConfig, RemovalReason,
    protocol::mempool::{BatchLimits, Pending, PoolKey, Removed},
};
use account::Account;
use account_queue::AccountQueue;
pub use costs::BlockTimes;
use costs::Costs;
use entry::{Amount, Entry, ExpiryKey, admission_ticks};
use groups::Groups;
pub use groups::{AGE_STEPS_SECS, GROUPS, PRICE_STEPS};
use ledger_crypto::{HashValue, map::HashMap};
use ledger_limits::CostModel;
use ledger_metrics::Gauge;
use ledger_types::{AccountAddress, CheckedTransaction, ReplayProtector::Nonce};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
#[cfg(test)]
pub(crate) use {
    account_queue::DEBT_MIN_USECS,
    turn_log::{AccountTurn, TurnLog},
};

/// Number by which the time limit of a batch is divided to get the cost above which a transaction
/// is long.
///
/// A long transaction is the first of its batch, so that the ones before it are committed without
/// waiting for it. With a tenth, 1 ms by default, the fixed cost of a block stays small beside it.
const LONG_SHARE: u64 = 10;

/// Pending transactions. The mempool actor owns the pool of a node.
#[derive(Debug)]
pub struct Pool {
    limits: MempoolConfig,
    accounts: HashMap<AccountAddress, Account>,
    by_hash: HashMap<HashValue, Arc<CheckedTransaction>>,
    /// Transactions that clients submitted at this node, by insertion, if a relay offers them to
    /// other nodes.
    from_clients: BTreeMap<u64, Arc<CheckedTransaction>>,
    /// Transactions that no block has taken, by expiration.
    expiries: BTreeMap<ExpiryKey, Arc<CheckedTransaction>>,
    /// Accounts that have parked transactions.
    accounts_with_parked: BTreeSet<AccountAddress>,
    /// Account whose parked transaction was evicted last. The search for the next one starts after
    /// it.
    evicted_last: AccountAddress,
    /// Transactions that a block can take next: the head of each account's sequence and all waiting
    /// orderless transactions.
    account_queue: AccountQueue,
    costs: Costs,
    /// Insertion number of the next submitted transaction.
    next_insertion: u64,
    /// The newest time that [`Self::observe_time`] was called with.
    now_ticks: u32,
    /// All transactions in the pool.
    total: Amount,
    parked: Amount,
    groups: Groups,
    removal_log: RemovalLog,
    /// Transactions that were removed unexecuted since the last [`Self::drain_removed`].
    removed: Vec<Removed>,
    #[cfg(test)]
    turn_log: Option<TurnLog>,
}

impl Pool {
    /// Creates an empty pool with a cost model of its own.
    pub fn new(limits: MempoolConfig) -> Self {
        Self {
            limits,
            accounts: HashMap::default(),
            by_hash: HashMap::default(),
            from_clients: BTreeMap::new(),
            expiries: BTreeMap::new(),
            accounts_with_parked: BTreeSet::new(),
            evicted_last: AccountAddress::new([0; 32]),
            account_queue: AccountQueue::default(),
            costs: Costs::default(),
            next_insertion: 0,
            now_ticks: 0,
            total: Amount::default(),
            parked: Amount::default(),
            groups: Groups::default(),
            removal_log: RemovalLog::default(),
            removed: Vec::new(),
            #[cfg(test)]
            turn_log: None,
        }
    }

    /// Returns a log that receives the turns of all accounts from now on.
    #[cfg(test)]
    pub(crate) fn log_turns(&mut self) -> TurnLog {
        Arc::clone(self.turn_log.get_or_insert_default())
    }

    #[cfg(test)]
    fn log_turn(&self, turn: AccountTurn) {
        if let Some(log) = &self.turn_log {
            log.lock().expect("no test panics with it").push(turn);
        }
    }

    /// Returns the cost model of the pool's estimates.
    pub(crate) fn cost_model(&self) -> &Arc<CostModel> {
        self.costs.model()
    }

    /// Sets the time of later admissions and commits, in microseconds. It decides nothing, and
    /// serves only the latency that [`Self::record_times`] records.
    pub(super) fn observe_time(&mut self, now_usecs: u64) {
        self.now_ticks = admission_ticks(now_usecs);
    }

    /// Returns the number of transactions in the pool, including those of blocks that are not
    /// durable yet.
    pub(crate) fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Sets the gauges of the pool's content.
    pub(super) fn update_gauges(&self, meter: &PoolMeter) {
        meter.transactions.set(self.len());
        meter.bytes.set(self.total.bytes);
        meter
            .usecs
            .set(usize::try_from(self.total.usecs).unwrap_or(usize::MAX));
        meter.parked.set(self.parked.count);
        meter.parked_bytes.set(self.parked.bytes);
    }

    /// Sets the gauges of ages and gas prices, as of `now_secs` in Unix seconds.
    pub(super) fn update_groups(&self, meter: &PoolMeter, now_secs: u64) {
        let set = |gauges: &[Gauge], counts: [usize; GROUPS]| {
            for (gauge, count) in gauges.iter().zip(counts) {
                gauge.set(count);
            }
        };
        set(&meter.by_age, self.groups.by_age(now_secs));
        set(&meter.by_price, self.groups.by_price());
        let oldest_secs = self.groups.oldest_secs(now_secs);
        meter
            .oldest_secs
            .set(usize::try_from(oldest_secs).unwrap_or(usize::MAX));
    }

    /// Returns the size of the file that a stop would save the pool in now, in bytes.
    pub(super) fn saved_bytes(&self) -> u64 {
        file::file_bytes_bound(self.len(), self.total.bytes)
    }

    /// Returns whether a block can take a transaction.
    pub fn has_ready(&self) -> bool {
        self.account_queue.first().is_some()
    }

    /// Returns the transaction with this hash, if the pool holds it.
    pub fn get(&self, hash: &HashValue) -> Option<&Arc<CheckedTransaction>> {
        self.by_hash.get(hash)
    }

    /// Returns the insertion number of the next submitted transaction.
    pub(super) fn next_insertion(&self) -> u64 {
        self.next_insertion
    }

    /// Records that a client submitted a transaction of the pool at this node. Returns whether that
    /// is new.
    pub(super) fn track_client(&mut self, transaction: &CheckedTransaction) -> bool {
        let PoolKey { sender, protector } = PoolKey::of(transaction.raw());
        let account = self.accounts.get(&sender);
        let Some(entry) = account.and_then(|account| account.get(protector)) else {
            return false;
        };
        let tracked = Arc::clone(&entry.transaction);
        self.from_clients.insert(entry.insertion, tracked).is_none()
    }

    /// Returns the transactions that [`Self::track_client`] recorded, from the insertion number
    /// `start` up to `end`, with their numbers.
    pub(super) fn of_clients(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, &Arc<CheckedTransaction>)> {
        let range = start.min(end)..end;
        let tracked = self.from_clients.range(range);
        tracked.map(|(insertion, transaction)| (*insertion, transaction))
    }

    /// Returns why the transaction with this hash was removed, if the pool still has the reason.
    pub fn removal_reason(&self, hash: &HashValue) -> Option<&RemovalReason> {
        self.removal_log.get(hash)
    }

    /// Returns the transactions that were removed unexecuted since the last call, in order.
    pub fn drain_removed(&mut self) -> Vec<Removed> {
        std::mem::take(&mut self.removed)
    }

    /// Returns the next transactions for a block, in order.
    ///
    /// The transactions remain in the pool until the block is durable. A first transaction above
    /// `bytes_max` or `usecs_max` is returned alone. A batch ends before a long transaction: the
    /// ones before it would be committed only after its execution.
    pub fn take_batch(&mut self, limits: BatchLimits) -> Vec<Arc<CheckedTransaction>> {
        let mut batch = Vec::new();
        let mut taken = Amount::default();
        while batch.len() < limits.transactions_max {
            let Some(next) = self.account_queue.first() else {
                break;
            };
            let cost_usecs = next.tags.end - next.tags.start;
            let PoolKey { sender, protector } = PoolKey::of(next.transaction.raw());
            taken.add(Amount {
                count: 1,
                bytes: next.transaction.size_bytes(),
                usecs: cost_usecs,
            });
            let is_long = cost_usecs > limits.usecs_max / LONG_SHARE;
            let fits = taken.bytes <= limits.bytes_max && taken.usecs <= limits.usecs_max;
            if !batch.is_empty() && (is_long || !fits) {
                break;
            }
            self.account_queue.take_first();
            let Some(entry) = self.change(sender, |account| account.take(protector)) else {
                break;
            };
            self.unindex_waiting(&entry);
            #[cfg(test)]
            self.log_turn(AccountTurn::Taken {
                sender,
                cost_usecs: entry.cost_usecs,
            });
            batch.push(entry.transaction);
        }
        batch
    }

    /// Removes the waiting transactions that have expired at `now_secs`, in Unix seconds.
    pub fn expire(&mut self, now_secs: u64) {
        while let Some((&(at_secs, _), transaction)) = self.expiries.first_key_value() {
            if at_secs > now_secs {
                break;
            }
            let key = PoolKey::of(transaction.raw());
            self.remove_entry(key, RemovalReason::Expired { at_secs });
        }
    }

    /// Returns all transactions of the pool in the order of their insertion.
    pub fn contents(&self) -> Vec<Pending> {
        let mut entries: Vec<&Entry> = Vec::with_capacity(self.len());
        for account in self.accounts.values() {
            entries.extend(account.entries());
        }
        entries.sort_unstable_by_key(|entry| entry.insertion);
        let pending = entries.into_iter().map(|entry| Pending {
            transaction: Arc::clone(&entry.transaction),
            inserted_at_secs: entry.inserted_at_secs,
        });
        pending.collect()
    }

    /// Records why a transaction was removed or could not be restored.
    pub(crate) fn record_removal(&mut self, hash: HashValue, reason: RemovalReason) {
        self.removal_log.record(hash, reason.clone());
        self.removed.push(Removed { hash, reason });
    }

    /// Inserts an entry into its account and all indices. Returns the entry that it replaces, if
    /// any.
    fn insert_entry(
        &mut self,
        PoolKey { sender, protector }: PoolKey,
        entry: Entry,
    ) -> Option<Entry> {
        #[cfg(test)]
        self.log_turn(AccountTurn::Admitted {
            sender,
            cost_usecs: entry.cost_usecs,
        });
        let hash = entry.transaction.hash();
        self.total.add(Amount::of(&entry));
        self.groups.add(&entry);
        self.by_hash.insert(hash, Arc::clone(&entry.transaction));
        self.removal_log.remove(&hash);
        self.index_waiting(&entry);
        let old = self.change(sender, |account| account.insert(protector, entry));
        if let Some(old) = &old {
            self.unindex(old);
        }
        old
    }

    /// Removes an entry from the pool and records the reason.
    fn remove_entry(&mut self, PoolKey { sender, protector }: PoolKey, reason: RemovalReason) {
        if let Some(entry) = self.change(sender, |account| account.remove(protector)) {
            self.unindex(&entry);
            self.record_removal(entry.transaction.hash(), reason);
        }
    }

    /// Removes an entry that is no longer in its account from the other indices.
    fn unindex(&mut self, entry: &Entry) {
        self.total.remove(Amount::of(entry));
        self.groups.remove(entry);
        self.by_hash.remove(&entry.transaction.hash());
        self.from_clients.remove(&entry.insertion);
        if !entry.is_taken {
            self.unindex_waiting(entry);
        }
    }

    /// Adds an entry to the indices of waiting transactions: it is new, or its block returned it.
    fn index_waiting(&mut self, entry: &Entry) {
        self.expiries
            .insert(entry.expiry_key(), Arc::clone(&entry.transaction));
        if is_orderless(entry) {
            self.account_queue
                .insert(entry.ready_key(), &entry.transaction);
        }
    }

    /// Removes an entry from the indices of waiting transactions: a block took it, or it was
    /// removed.
    fn unindex_waiting(&mut self, entry: &Entry) {
        self.expiries.remove(&entry.expiry_key());
        if is_orderless(entry) {
            let sender = entry.transaction.raw().sender;
            self.account_queue.remove(sender, entry.ready_key());
        }
    }

    /// Changes an account and updates the indices over accounts.
    ///
    /// A new head of the sequence gets a start tag that has not passed. An account that is empty
    /// after the change is removed. If the pool does not hold the account, the function does
    /// nothing and returns the default value.
    fn change<R: Default>(
        &mut self,
        address: AccountAddress,
        change: impl FnOnce(&mut Account) -> R,
    ) -> R {
        let Some(account) = self.accounts.get_mut(&address) else {
            return R::default();
        };
        let (head, parked_before) = account.head_and_parked();
        let key_before = head.map(Entry::ready_key);
        let result = change(account);
        account.retag_new_head(&self.account_queue);
        let (head, parked) = account.head_and_parked();
        let key = head.map(Entry::ready_key);
        if key != key_before {
            // The insertion precedes the removal, so that the account does not leave its price.
            if let Some(head) = head {
                self.account_queue
                    .insert(head.ready_key(), &head.transaction);
            }
            if let Some(before) = key_before {
                self.account_queue.remove(address, before);
            }
        }
        if parked != parked_before {
            self.parked.remove(parked_before);
            self.parked.add(parked);
            if parked.count == 0 {
                self.accounts_with_parked.remove(&address);
            } else if parked_before.count == 0 {
                self.accounts_with_parked.insert(address);
            }
        }
        if account.is_empty() {
            self.accounts.remove(&address);
        }
        result
    }
}

/// Returns whether the transaction has a nonce and is therefore ready without its predecessors.
fn is_orderless(entry: &Entry) -> bool {
    matches!(entry.transaction.raw().replay_protector(), Nonce(_))
}

#[cfg(test)]
mod history;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod model;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
