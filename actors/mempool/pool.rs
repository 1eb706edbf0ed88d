//! The pool of pending transactions: order, limits, replacement and expiry.
//!
//! The rules follow the reference node (docs/reference/reference-node.md#r33). Differences include:
//! accounts take turns at equal gas prices, an account at its limit can fill its gap
//! (docs/interface.md#rule-17), and the same transaction with another signature is rejected
//! (docs/interface.md#rule-19).
//!
//! A transaction is identified by its sender and its sequence number or nonce. Several indices lie over
//! the accounts; [`Pool::change`] is the one place where an account changes, so that those over accounts
//! agree, and [`Pool::index_waiting`] with its counterpart keeps those over waiting transactions.

mod admission;
mod commit;

use super::{
    account::Account,
    entry::{Amount, Entry, ExpiryKey, PoolKey, ReadyKey, pool_key},
    reasons::RemovalLog,
    saved,
    turns::FairQueue,
};
use crate::{MempoolConfig, RemovalReason, meters::PoolMeter};
use ledger_crypto::{HashValue, map::HashMap};
use ledger_types::{AccountAddress, CheckedTransaction, ReplayProtector::Nonce};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A transaction that left unexecuted.
pub type Removed = (HashValue, RemovalReason);

/// Pending transactions. The mempool actor owns the one of a node.
#[derive(Debug)]
pub struct Pool {
    limits: MempoolConfig,
    accounts: HashMap<AccountAddress, Account>,
    by_hash: HashMap<HashValue, Arc<CheckedTransaction>>,
    /// What a block could take next: of each account the head of its sequence and all orderless ones.
    ready: BTreeMap<ReadyKey, Arc<CheckedTransaction>>,
    /// What no block has, by the time at which it leaves.
    expiries: BTreeMap<ExpiryKey, Arc<CheckedTransaction>>,
    /// The accounts that have parked transactions.
    parking: BTreeSet<AccountAddress>,
    /// Whose transaction was evicted last: the next account in order is next.
    evicted_last: AccountAddress,
    fair_queue: FairQueue,
    insertions: u64,
    bytes: usize,
    parked: Amount,
    reasons: RemovalLog,
    left: Vec<Removed>,
}

/// What may be given to a block.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// The most transactions.
    pub transactions_max: usize,
    /// The most bytes; a single larger transaction comes alone.
    pub bytes_max: usize,
}

/// A transaction of the pool and when it came in, for the file of a graceful stop.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The transaction.
    pub transaction: Arc<CheckedTransaction>,
    /// Unix seconds.
    pub inserted_at_secs: u64,
}

impl Pool {
    /// An empty pool.
    pub fn new(limits: MempoolConfig) -> Self {
        Self {
            limits,
            accounts: HashMap::default(),
            by_hash: HashMap::default(),
            ready: BTreeMap::new(),
            expiries: BTreeMap::new(),
            parking: BTreeSet::new(),
            evicted_last: AccountAddress::new([0; 32]),
            fair_queue: FairQueue::default(),
            insertions: 0,
            bytes: 0,
            parked: Amount::default(),
            reasons: RemovalLog::default(),
            left: Vec::new(),
        }
    }

    /// How many transactions are in the pool, those of blocks that are not durable included.
    pub(crate) fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Sets the gauges of the pool's content.
    pub(super) fn update_gauges(&self, meter: &PoolMeter) {
        meter.transactions.set(self.len());
        meter.bytes.set(self.bytes);
        meter.parked.set(self.parked.count);
        meter.parked_bytes.set(self.parked.bytes);
    }

    /// In how many bytes a stop would save it now.
    pub(super) fn saved_bytes(&self) -> u64 {
        saved::file_bytes(self.len(), self.bytes)
    }

    /// Whether a block could be made.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The transaction `hash`, if it is in the pool.
    pub fn get(&self, hash: &HashValue) -> Option<&Arc<CheckedTransaction>> {
        self.by_hash.get(hash)
    }

    /// Why the transaction `hash` left, if that is still known.
    pub fn removal_reason(&self, hash: &HashValue) -> Option<&RemovalReason> {
        self.reasons.get(hash)
    }

    /// Who left since the last call, in order.
    pub fn drain_removed(&mut self) -> Vec<Removed> {
        std::mem::take(&mut self.left)
    }

    /// The next transactions for a block, in order; they stay in the pool until the block is durable.
    pub fn take_batch(&mut self, limits: BatchLimits) -> Vec<Arc<CheckedTransaction>> {
        let mut batch = Vec::new();
        let mut bytes = 0usize;
        while batch.len() < limits.transactions_max {
            let Some((_, next)) = self.ready.first_key_value() else {
                break;
            };
            let size = next.size_bytes();
            if !batch.is_empty() && bytes.saturating_add(size) > limits.bytes_max {
                break;
            }
            let (address, protector) = pool_key(next);
            let Some(entry) = self.change(address, |account| account.take(protector)) else {
                break;
            };
            self.fair_queue.take(entry.price(), entry.start_tag);
            self.unindex_waiting(&entry);
            bytes = bytes.saturating_add(size);
            batch.push(entry.transaction);
        }
        batch
    }

    /// Whose time has come leaves.
    pub fn expire(&mut self, now_secs: u64) {
        while let Some((&(at_secs, _), transaction)) = self.expiries.first_key_value() {
            if at_secs > now_secs {
                break;
            }
            let key = pool_key(transaction);
            self.drop_entry(key, RemovalReason::Expired { at_secs });
        }
    }

    /// Everything in the pool, in the order in which it came in.
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

    /// Remembers why a transaction left or never came in again.
    pub(crate) fn record_removal(&mut self, hash: HashValue, reason: RemovalReason) {
        self.reasons.record(hash, reason.clone());
        self.left.push((hash, reason));
    }

    /// Puts an entry into its account and all indices; gives the one whose place it took.
    fn put(&mut self, (address, protector): PoolKey, entry: Entry) -> Option<Entry> {
        let hash = entry.transaction.hash();
        self.bytes += entry.transaction.size_bytes();
        self.by_hash.insert(hash, Arc::clone(&entry.transaction));
        self.reasons.forget(&hash);
        self.index_waiting(&entry);
        let old = self.change(address, |account| account.insert(protector, entry));
        if let Some(old) = &old {
            self.forget(old);
        }
        old
    }

    /// Takes an entry out of its account, with a reason.
    fn drop_entry(&mut self, (address, protector): PoolKey, reason: RemovalReason) {
        if let Some(entry) = self.change(address, |account| account.remove(protector)) {
            self.forget(&entry);
            self.record_removal(entry.transaction.hash(), reason);
        }
    }

    /// Takes an entry that has left its account out of the other indices.
    fn forget(&mut self, entry: &Entry) {
        self.bytes -= entry.transaction.size_bytes();
        self.by_hash.remove(&entry.transaction.hash());
        if !entry.taken {
            self.unindex_waiting(entry);
        }
    }

    /// An entry waits from now on: it came in, or its block gave it back.
    fn index_waiting(&mut self, entry: &Entry) {
        self.fair_queue.wait(entry.price());
        self.expiries
            .insert(entry.expiry_key(), Arc::clone(&entry.transaction));
        if is_orderless(entry) {
            self.ready
                .insert(entry.ready_key(), Arc::clone(&entry.transaction));
        }
    }

    /// An entry waits no longer: a block has it, or it left.
    fn unindex_waiting(&mut self, entry: &Entry) {
        self.fair_queue.stop_waiting(entry.price());
        self.expiries.remove(&entry.expiry_key());
        if is_orderless(entry) {
            self.ready.remove(&entry.ready_key());
        }
    }

    /// Changes an account and brings the indices over accounts after it. The account must be there;
    /// it goes when it is empty afterwards. A head that is new gets a turn that has not passed.
    fn change<R: Default>(
        &mut self,
        address: AccountAddress,
        change: impl FnOnce(&mut Account) -> R,
    ) -> R {
        let Some(account) = self.accounts.get_mut(&address) else {
            return R::default();
        };
        let (head, parked_before) = account.face();
        let key_before = head.map(Entry::ready_key);
        let result = change(account);
        account.expose_head(&self.fair_queue);
        let (head, parked) = account.face();
        let key = head.map(Entry::ready_key);
        if key != key_before {
            if let Some(before) = key_before {
                self.ready.remove(&before);
            }
            self.ready
                .extend(head.map(|head| (head.ready_key(), Arc::clone(&head.transaction))));
        }
        if parked != parked_before {
            self.parked.remove(parked_before);
            self.parked.add(parked);
            if parked.count == 0 {
                self.parking.remove(&address);
            } else if parked_before.count == 0 {
                self.parking.insert(address);
            }
        }
        if account.is_empty() {
            self.accounts.remove(&address);
        }
        result
    }
}

/// Whether it is ready by itself.
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
