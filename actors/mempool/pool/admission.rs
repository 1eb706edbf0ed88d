//! Who comes into the pool: replacement, limits, and who makes room for whom.

use super::{
    super::account::{Account, Amount, Entry},
    Pending, Pool,
};
use crate::{LeaveReason, SubmitError};
use ledger::{AccountAddress, CheckedTransaction, Discard, ValidationStatus};
use std::{ops::Bound, sync::Arc};

impl Pool {
    /// Takes a transaction in. `sequence_number` is that of its sender's account on the ledger;
    /// gives the transaction that the pool holds: this one, or an earlier one with the same content.
    ///
    /// # Errors
    /// Why it is not in the pool.
    pub(crate) fn submit(
        &mut self,
        pending: Pending,
        sequence_number: u64,
        now_secs: u64,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let raw = pending.transaction.raw();
        let (sender, given) = (raw.sender, raw.sequence_number);
        if sequence_number > 0 && self.accounts.contains_key(&sender) {
            self.advance(sender, sequence_number, None);
        }
        let known = self.accounts.get(&sender).map_or(0, Account::sequence_number);
        if given < sequence_number.max(known) {
            return Err(Discard::from(ValidationStatus::SequenceNumberTooOld).into());
        }
        let expires_at_secs = self.expires_at_secs(&pending);
        if expires_at_secs <= now_secs {
            return Err(Discard::from(ValidationStatus::TransactionExpired).into());
        }
        let entry = Entry {
            insertion: self.insertions,
            inserted_at_secs: pending.inserted_at_secs,
            expires_at_secs,
            taken: false,
            transaction: pending.transaction,
        };
        self.insertions += 1;
        match self.accounts.get(&sender) {
            Some(account) if account.get(given).is_some() => self.resubmit(sender, given, entry),
            Some(_) => self.add(sender, given, entry),
            None => {
                self.accounts.insert(sender, Account::new(sequence_number));
                let outcome = self.add(sender, given, entry);
                self.change(sender, |_| ());
                outcome
            }
        }
    }

    /// When a transaction leaves at the latest, Unix seconds.
    pub(crate) fn expires_at_secs(&self, pending: &Pending) -> u64 {
        let ttl_end = pending.inserted_at_secs.saturating_add(self.limits.ttl_secs);
        pending.transaction.raw().expiration_timestamp_secs.min(ttl_end)
    }

    /// A transaction came for a number that is in the pool already.
    fn resubmit(
        &mut self,
        sender: AccountAddress,
        number: u64,
        new: Entry,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let update = |reason| Err(SubmitError::InvalidUpdate(reason));
        let account = &self.accounts[&sender];
        let Some(old) = account.get(number) else {
            return update("Transaction already in mempool");
        };
        let (old_raw, new_raw) = (old.transaction.raw(), new.transaction.raw());
        if old_raw == new_raw {
            return Ok(Arc::clone(&old.transaction));
        }
        if old.taken {
            return Err(SubmitError::SequenceNumberTooOld {
                given: number,
                current: account.next(),
            });
        }
        if old_raw.payload != new_raw.payload {
            return update("Transaction already in mempool with a different payload");
        }
        if old_raw.expiration_timestamp_secs != new_raw.expiration_timestamp_secs {
            return update("Transaction already in mempool with a different expiration timestamp");
        }
        if old_raw.max_gas_amount != new_raw.max_gas_amount {
            return update("Transaction already in mempool with a different max gas amount");
        }
        if old_raw.gas_unit_price > new_raw.gas_unit_price {
            return update("Transaction already in mempool with a higher gas price");
        }
        let grows_by = new.transaction.size_bytes();
        if self.bytes - old.transaction.size_bytes() + grows_by > self.limits.capacity_bytes {
            return Err(self.full());
        }
        let transaction = Arc::clone(&new.transaction);
        if let Some(old) = self.put(sender, number, new) {
            self.note_left(old.transaction.hash(), LeaveReason::Replaced(transaction.hash()));
        }
        Ok(transaction)
    }

    /// A transaction came for a free number: finds room for it.
    fn add(
        &mut self,
        sender: AccountAddress,
        number: u64,
        entry: Entry,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let account = &self.accounts[&sender];
        let fills_gap = number == account.first_gap();
        let mut own_victim = None;
        if account.len() >= self.limits.capacity_per_account {
            own_victim = account
                .highest_parked()
                .filter(|&parked| fills_gap && parked > number);
            if own_victim.is_none() {
                let (size, capacity) = (account.len(), self.limits.capacity_per_account);
                return Err(SubmitError::Full {
                    reason: format!(
                        "Mempool over capacity for account. Number of transactions from account: {size}, Capacity: {capacity}"
                    ),
                });
            }
        }
        let mut after = self.amount();
        after.add(Amount::of(&entry));
        let mut evictable = self.parked;
        if let Some(victim) = own_victim.and_then(|victim| account.get(victim)) {
            after.remove(Amount::of(victim));
            evictable.remove(Amount::of(victim));
        }
        if !self.fits(after) {
            evictable.remove(account.promoted_by_gap(own_victim));
            after.remove(evictable);
            if !fills_gap || !self.fits(after) {
                return Err(self.full());
            }
        }
        let transaction = Arc::clone(&entry.transaction);
        self.put(sender, number, entry);
        if let Some(victim) = own_victim {
            let why = "to make room for an earlier transaction of its account";
            self.drop_entry(sender, victim, LeaveReason::Evicted(why.to_owned()));
        }
        while !self.fits(self.amount()) && self.evict_parked() {}
        Ok(transaction)
    }

    /// Everything in the pool.
    fn amount(&self) -> Amount {
        Amount {
            count: self.len(),
            bytes: self.bytes,
        }
    }

    fn fits(&self, amount: Amount) -> bool {
        amount.count <= self.limits.capacity_transactions && amount.bytes <= self.limits.capacity_bytes
    }

    fn full(&self) -> SubmitError {
        let (size, capacity) = (self.len(), self.limits.capacity_transactions);
        let reason = if size >= capacity {
            format!("Mempool is full. Mempool size: {size}, Capacity: {capacity}")
        } else {
            let (size, capacity) = (self.bytes, self.limits.capacity_bytes);
            format!("Mempool is full. Mempool size: {size} bytes, Capacity: {capacity} bytes")
        };
        SubmitError::Full { reason }
    }

    /// Evicts the highest parked transaction of the next account that has one.
    fn evict_parked(&mut self) -> bool {
        let after = (Bound::Excluded(self.evicted_last), Bound::Unbounded);
        let account = self.parking.range(after).next().or_else(|| self.parking.first());
        let Some(&address) = account else { return false };
        self.evicted_last = address;
        let Some(number) = self.accounts.get(&address).and_then(Account::highest_parked) else {
            return false;
        };
        let why = "to make room in a full pool for a transaction that could be executed at once";
        self.drop_entry(address, number, LeaveReason::Evicted(why.to_owned()));
        true
    }
}
