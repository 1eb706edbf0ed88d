//! The pool of pending transactions: order, limits, replacement, expiry
//! (rest-behaviour section 7, design section 8).
//!
//! A transaction is identified by its sender and sequence number. Several indices lie over the
//! accounts; [`Pool::change`] is the one place where an account changes, so that they agree.

mod admission;

use super::{
    account::{Account, Amount, Entry},
    reasons::Reasons,
};
use crate::{LeaveReason, MempoolConfig};
use ledger::{AccountAddress, CheckedTransaction, Discard, ExecutedBlock, HashValue, ValidationStatus};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// The order in which blocks take transactions: the best price, then who came first.
type ReadyKey = (Reverse<u64>, u64, AccountAddress);

/// A transaction that left unexecuted.
pub(crate) type Left = (HashValue, LeaveReason);

/// Pending transactions.
#[derive(Debug)]
pub(crate) struct Pool {
    limits: MempoolConfig,
    accounts: HashMap<AccountAddress, Account>,
    by_hash: HashMap<HashValue, (AccountAddress, u64)>,
    /// The head of each account that has a ready transaction.
    ready: BTreeSet<ReadyKey>,
    /// What no block has, by the time at which it leaves.
    expiries: BTreeSet<(u64, AccountAddress, u64)>,
    /// The accounts that have parked transactions.
    parking: BTreeSet<AccountAddress>,
    /// Whose transaction was evicted last: the next account in order is next.
    evicted_last: AccountAddress,
    insertions: u64,
    bytes: usize,
    parked: Amount,
    reasons: Reasons,
    left: Vec<Left>,
}

/// What may be given to a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimits {
    /// The most transactions.
    pub(crate) transactions_max: usize,
    /// The most bytes; a single larger transaction comes alone.
    pub(crate) bytes_max: usize,
}

/// A transaction of the pool and when it came in, for the file of a graceful stop.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) transaction: Arc<CheckedTransaction>,
    /// Unix seconds.
    pub(crate) inserted_at_secs: u64,
}

impl Pool {
    pub(crate) fn new(limits: MempoolConfig) -> Self {
        Self {
            limits,
            accounts: HashMap::new(),
            by_hash: HashMap::new(),
            ready: BTreeSet::new(),
            expiries: BTreeSet::new(),
            parking: BTreeSet::new(),
            evicted_last: AccountAddress::new([0; 32]),
            insertions: 0,
            bytes: 0,
            parked: Amount::default(),
            reasons: Reasons::default(),
            left: Vec::new(),
        }
    }

    /// How many transactions are in the pool, those of blocks that are not durable included.
    pub(crate) fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Whether a block could be made.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The transaction `hash`, if it is in the pool.
    pub(crate) fn get(&self, hash: &HashValue) -> Option<&Arc<CheckedTransaction>> {
        let (sender, sequence_number) = self.by_hash.get(hash)?;
        let entry = self.accounts.get(sender)?.get(*sequence_number)?;
        Some(&entry.transaction)
    }

    /// Why the transaction `hash` left, if that is still known.
    pub(crate) fn left_reason(&self, hash: &HashValue) -> Option<&LeaveReason> {
        self.reasons.get(hash)
    }

    /// Who left since the last call, in order.
    pub(crate) fn drain_left(&mut self) -> Vec<Left> {
        std::mem::take(&mut self.left)
    }

    /// The next transactions for a block, in order; they stay in the pool until the block is durable.
    pub(crate) fn take_batch(&mut self, limits: BatchLimits) -> Vec<Arc<CheckedTransaction>> {
        let mut batch = Vec::new();
        let mut bytes = 0usize;
        while batch.len() < limits.transactions_max {
            let Some(&(_, _, address)) = self.ready.first() else {
                break;
            };
            let head = self.accounts.get(&address).and_then(Account::head);
            let size = head.map_or(0, |head| head.transaction.size_bytes());
            if !batch.is_empty() && bytes.saturating_add(size) > limits.bytes_max {
                break;
            }
            let Some(entry) = self.change(address, Account::take) else {
                break;
            };
            let number = entry.transaction.raw().sequence_number;
            self.expiries.remove(&(entry.expires_at_secs, address, number));
            bytes = bytes.saturating_add(size);
            batch.push(entry.transaction);
        }
        batch
    }

    /// A block is durable: its transactions leave, the refused ones with their reason. Those that
    /// came too early or for which it had no room go back.
    ///
    /// # Panics
    /// When the block names a validation status that does not exist.
    pub(crate) fn commit(&mut self, block: &ExecutedBlock) {
        for executed in &block.transactions {
            if let Some(user) = executed.transaction.as_user() {
                let next = user.raw.sequence_number.saturating_add(1);
                self.advance(user.raw.sender, next, Some(executed.hash));
            }
        }
        let mut unexecuted: HashMap<AccountAddress, Vec<u64>> = HashMap::new();
        for discarded in &block.discarded {
            let Some(&(address, number)) = self.by_hash.get(&discarded.hash) else {
                continue;
            };
            if discarded.is_left_out() {
                unexecuted.entry(address).or_default().push(number);
                continue;
            }
            let status = ValidationStatus::from_code(discarded.status_code);
            match status.expect("execution refuses with statuses of this ledger") {
                // It came too early: what it follows went back or was refused.
                ValidationStatus::SequenceNumberTooNew => {
                    unexecuted.entry(address).or_default().push(number);
                }
                status => self.discard(address, number, status),
            }
        }
        for (address, numbers) in unexecuted {
            self.put_back(address, &numbers);
        }
    }

    /// The account has executed all below `sequence_number`, the last of them by `executed`.
    fn advance(&mut self, address: AccountAddress, sequence_number: u64, executed: Option<HashValue>) {
        if !self.accounts.contains_key(&address) {
            return;
        }
        for entry in self.change(address, |account| account.advance(sequence_number)) {
            let hash = entry.transaction.hash();
            self.forget(address, &entry);
            let is_last = entry.transaction.raw().sequence_number + 1 == sequence_number;
            let was_executed = match executed {
                Some(executed) if is_last => executed == hash,
                _ => entry.taken,
            };
            if !was_executed {
                let too_old = Discard::from(ValidationStatus::SequenceNumberTooOld);
                self.note_left(hash, LeaveReason::Rejected(too_old));
            }
        }
    }

    /// A block's prologue refused a transaction.
    fn discard(&mut self, address: AccountAddress, number: u64, status: ValidationStatus) {
        let entry = self
            .accounts
            .get(&address)
            .and_then(|account| account.get(number));
        let reason = match entry {
            Some(entry) if status == ValidationStatus::TransactionExpired => LeaveReason::Expired {
                at_secs: entry.expires_at_secs,
            },
            _ => LeaveReason::Rejected(status.into()),
        };
        self.drop_entry(address, number, reason);
    }

    /// A block did not execute these, which says nothing against them: a later one may take them.
    fn put_back(&mut self, address: AccountAddress, numbers: &[u64]) {
        self.change(address, |account| account.untake(numbers));
        let Some(account) = self.accounts.get(&address) else {
            return;
        };
        let entries = numbers.iter().filter_map(|&number| account.get(number));
        self.expiries.extend(entries.map(|entry| {
            (
                entry.expires_at_secs,
                address,
                entry.transaction.raw().sequence_number,
            )
        }));
    }

    /// Whose time has come leaves.
    pub(crate) fn expire(&mut self, now_secs: u64) {
        while let Some(&(at_secs, address, number)) = self.expiries.first() {
            if at_secs > now_secs {
                break;
            }
            self.drop_entry(address, number, LeaveReason::Expired { at_secs });
        }
    }

    /// Everything in the pool, in the order in which it came in.
    pub(crate) fn contents(&self) -> Vec<Pending> {
        let mut entries: Vec<&Entry> = Vec::with_capacity(self.len());
        for account in self.accounts.values() {
            entries.extend(account.entries().map(|(_, entry)| entry));
        }
        entries.sort_unstable_by_key(|entry| entry.insertion);
        let pending = entries.into_iter().map(|entry| Pending {
            transaction: Arc::clone(&entry.transaction),
            inserted_at_secs: entry.inserted_at_secs,
        });
        pending.collect()
    }

    /// Remembers why a transaction left or never came in again.
    pub(crate) fn note_left(&mut self, hash: HashValue, reason: LeaveReason) {
        self.reasons.record(hash, reason.clone());
        self.left.push((hash, reason));
    }

    /// Puts an entry into its account and all indices; gives the one whose place it took.
    fn put(&mut self, address: AccountAddress, number: u64, entry: Entry) -> Option<Entry> {
        let hash = entry.transaction.hash();
        self.bytes += entry.transaction.size_bytes();
        self.by_hash.insert(hash, (address, number));
        self.expiries.insert((entry.expires_at_secs, address, number));
        self.reasons.forget(&hash);
        let old = self.change(address, |account| account.insert(number, entry));
        if let Some(old) = &old {
            self.bytes -= old.transaction.size_bytes();
            self.by_hash.remove(&old.transaction.hash());
            let new_expiry = self.accounts[&address].get(number).map(|e| e.expires_at_secs);
            if new_expiry != Some(old.expires_at_secs) {
                self.expiries.remove(&(old.expires_at_secs, address, number));
            }
        }
        old
    }

    /// Takes an entry out of its account, with a reason.
    fn drop_entry(&mut self, address: AccountAddress, number: u64, reason: LeaveReason) {
        if let Some(entry) = self.change(address, |account| account.remove(number)) {
            self.forget(address, &entry);
            self.note_left(entry.transaction.hash(), reason);
        }
    }

    /// Takes an entry that has left its account out of the other indices.
    fn forget(&mut self, address: AccountAddress, entry: &Entry) {
        let number = entry.transaction.raw().sequence_number;
        self.bytes -= entry.transaction.size_bytes();
        self.by_hash.remove(&entry.transaction.hash());
        self.expiries.remove(&(entry.expires_at_secs, address, number));
    }

    /// Changes an account and brings the indices over accounts after it. The account must be there;
    /// it goes when it is empty afterwards.
    fn change<R: Default>(&mut self, address: AccountAddress, change: impl FnOnce(&mut Account) -> R) -> R {
        let key = |head: &Entry| {
            (
                Reverse(head.transaction.raw().gas_unit_price),
                head.insertion,
                address,
            )
        };
        let Some(account) = self.accounts.get_mut(&address) else {
            return R::default();
        };
        let (head_before, parked_before) = (account.head().map(key), account.parked());
        let result = change(account);
        let (head, parked) = (account.head().map(key), account.parked());
        if head != head_before {
            if let Some(before) = head_before {
                self.ready.remove(&before);
            }
            self.ready.extend(head);
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

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
