//! Effects of a durable block on the pool.

use super::{
    BlockTimes, Pool,
    account::Account,
    entry::{Entry, time_between},
};
use crate::{RemovalReason, protocol::mempool::PoolKey};
use ledger_crypto::{HashValue, map::HashMap};
use ledger_metrics::DurationRecorder;
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, ExecutedBlock,
    ReplayProtector::{self, Nonce, SequenceNumber},
    ValidationStatus,
};
use std::sync::Arc;

impl Pool {
    /// Records the work of the transactions of a durable block, and its times. Later estimates
    /// follow both. Records in `latency` the time since the admission of each that the pool holds.
    ///
    /// Returns the sum of the estimates with which the pool admitted the executed ones that it
    /// holds, in microseconds.
    pub fn record_times(
        &mut self,
        block: &ExecutedBlock,
        times: BlockTimes,
        latency: &DurationRecorder,
    ) -> u64 {
        let held = |hash: &HashValue| {
            let PoolKey { sender, protector } = PoolKey::of(self.by_hash.get(hash)?.raw());
            let entry = self.accounts.get(&sender)?.get(protector)?;
            latency.record(time_between(entry.admitted_ticks, self.now_ticks));
            Some(entry)
        };
        self.costs.record(block, held, times)
    }

    /// Removes the transactions of a durable block, and records a reason for each rejected one.
    ///
    /// Transactions that ran too early or did not fit into the block wait again. Returns the number
    /// of removed transactions that were executed.
    ///
    /// # Panics
    ///
    /// Panics if the block names a validation status that does not exist.
    pub fn commit(&mut self, block: &ExecutedBlock) -> usize {
        let (len_before, removed_before) = (self.len(), self.removed.len());
        for executed in &block.transactions {
            let Some(user) = executed.transaction.as_user() else {
                continue;
            };
            let sender = user.raw.sender;
            match user.raw.replay_protector() {
                SequenceNumber(number) => {
                    self.advance(sender, number.saturating_add(1), Some(executed.hash));
                }
                Nonce(nonce) => self.use_nonce(sender, nonce, executed.hash),
            }
        }
        let mut not_executed = Vec::new();
        for discarded in &block.discarded {
            let Some(transaction) = self.by_hash.get(&discarded.hash) else {
                continue;
            };
            let key = PoolKey::of(transaction.raw());
            if discarded.is_not_included() {
                not_executed.push(key);
                continue;
            }
            let status = ValidationStatus::from_code(discarded.status_code);
            match status.expect("execution refuses with statuses of this ledger") {
                // The transaction ran too early: its predecessor was omitted or rejected.
                ValidationStatus::SequenceNumberTooNew => not_executed.push(key),
                status => self.discard(key, status),
            }
        }
        self.release_all(not_executed);
        // `removed` names all removed transactions except those that were executed.
        let removed_unexecuted = self.removed.len() - removed_before;
        (len_before - self.len()).saturating_sub(removed_unexecuted)
    }

    /// Sets the account's sequence number to that of the ledger and removes the transactions below
    /// it.
    ///
    /// `executed` is the hash of the ledger's transaction with the last number below
    /// `sequence_number`, if known. The pool's transaction with this number was executed if its
    /// hash is the same. Any other transaction was executed if a block had taken it. A removed
    /// transaction that was not executed gets the reason
    /// [`ValidationStatus::SequenceNumberTooOld`].
    pub(super) fn advance(
        &mut self,
        address: AccountAddress,
        sequence_number: u64,
        executed: Option<HashValue>,
    ) {
        let known = self.accounts.get(&address);
        if known.is_none_or(|account| account.sequence().sequence_number() >= sequence_number) {
            return;
        }
        for entry in self.change(address, |account| account.advance(sequence_number)) {
            let hash = entry.transaction.hash();
            self.unindex(&entry);
            let is_last =
                entry.transaction.raw().sequence_number.saturating_add(1) == sequence_number;
            let was_executed = match executed {
                Some(executed) if is_last => executed == hash,
                _ => entry.is_taken,
            };
            if !was_executed {
                let too_old = Discard::from(ValidationStatus::SequenceNumberTooOld);
                self.record_removal(hash, RemovalReason::Rejected(too_old));
            }
        }
    }

    /// Removes the account's transaction with this nonce, which the ledger has used for `executed`.
    fn use_nonce(&mut self, address: AccountAddress, nonce: u64, executed: HashValue) {
        let Some(entry) = self.change(address, |account| account.remove(Nonce(nonce))) else {
            return;
        };
        self.unindex(&entry);
        let hash = entry.transaction.hash();
        if hash != executed {
            let used = Discard::from(ValidationStatus::NonceAlreadyUsed);
            self.record_removal(hash, RemovalReason::Rejected(used));
        }
    }

    /// Removes a transaction that the prologue of a block rejected.
    fn discard(&mut self, key: PoolKey, status: ValidationStatus) {
        let account = self.accounts.get(&key.sender);
        let reason = match account.and_then(|account| account.get(key.protector)) {
            Some(entry) if status == ValidationStatus::TransactionExpired => {
                RemovalReason::Expired {
                    at_secs: entry.expires_at_secs,
                }
            }
            _ => RemovalReason::Rejected(status.into()),
        };
        self.remove_entry(key, reason);
    }

    /// Takes the transactions of a block of another validator, so that no later batch has them.
    ///
    /// A transaction whose predecessors the pool has not given to a block stays: the block executes
    /// it, or a later batch may have it.
    pub(crate) fn take(&mut self, transactions: &[Arc<CheckedTransaction>]) {
        for transaction in transactions {
            if !self.by_hash.contains_key(&transaction.hash()) {
                continue;
            }
            let PoolKey { sender, protector } = PoolKey::of(transaction.raw());
            let taken = self.change(sender, |account| match protector {
                SequenceNumber(number) if account.sequence().next() != number => None,
                protector => account.take(protector),
            });
            if let Some(entry) = taken {
                self.unindex_waiting(&entry);
            }
        }
    }

    /// Makes the transactions of a batch wait again, because no block has them.
    pub(crate) fn return_batch(&mut self, transactions: &[Arc<CheckedTransaction>]) {
        let held = transactions
            .iter()
            .filter(|transaction| self.by_hash.contains_key(&transaction.hash()));
        let returned = held.map(|transaction| PoolKey::of(transaction.raw()));
        self.release_all(returned.collect());
    }

    /// Makes transactions wait again, those of an account together. The accounts come in the order
    /// of their first transactions, because the first one may set the tag of its price.
    fn release_all(&mut self, keys: Vec<PoolKey>) {
        let mut accounts: Vec<(AccountAddress, Vec<ReplayProtector>)> = Vec::new();
        let mut index: HashMap<AccountAddress, usize> = HashMap::default();
        for PoolKey { sender, protector } in keys {
            let at = *index.entry(sender).or_insert(accounts.len());
            match accounts.get_mut(at) {
                Some((_, protectors)) => protectors.push(protector),
                None => accounts.push((sender, vec![protector])),
            }
        }
        for (address, protectors) in accounts {
            self.release(address, &protectors);
        }
    }

    /// Makes transactions wait again that a block did not execute. They may be valid, so a later
    /// block may take them.
    fn release(&mut self, address: AccountAddress, protectors: &[ReplayProtector]) {
        let released: Vec<Entry> =
            self.change(address, |account: &mut Account| account.release(protectors));
        for entry in &released {
            self.index_waiting(entry);
        }
    }
}
