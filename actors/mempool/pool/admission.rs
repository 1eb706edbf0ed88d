//! Admission to the pool: replacement, limits and eviction.

use super::{
    Pool,
    account::Account,
    entry::{Amount, Entry},
};
use crate::{
    MempoolConfig, RemovalReason, SubmitError,
    protocol::mempool::{Pending, PoolKey},
};
use ledger_limits::REJECTIONS;
use ledger_types::{
    CheckedTransaction, Discard, RawTransaction,
    ReplayProtector::{Nonce, SequenceNumber},
    ValidationStatus,
};
use std::{ops::Bound, sync::Arc};

impl Pool {
    /// Adds a transaction and returns the pool's copy of it.
    ///
    /// A transaction that the pool already holds is returned again. `sequence_number` is the number
    /// of the sender's next transaction on the ledger, `now_secs` the Unix time in seconds.
    ///
    /// # Errors
    ///
    /// The pool is unchanged after an error, except that it removes transactions below
    /// `sequence_number`.
    ///
    /// * [`SubmitError::Invalid`] if the sequence number is used, the transaction has expired, or a
    ///   block holds another transaction with its nonce,
    /// * [`SubmitError::SequenceNumberTooOld`] if a block holds another transaction with its
    ///   number,
    /// * [`SubmitError::OtherSignature`] if the same transaction is pending with a different
    ///   signature,
    /// * [`SubmitError::InvalidUpdate`] if a pending transaction cannot be replaced by this one,
    /// * [`SubmitError::AccountFull`] or [`SubmitError::Full`] if a limit is reached.
    pub fn submit(
        &mut self,
        pending: Pending,
        sequence_number: u64,
        now_secs: u64,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let key = PoolKey::of(pending.transaction.raw());
        let PoolKey { sender, protector } = key;
        self.advance(sender, sequence_number, None);
        if let SequenceNumber(given) = protector {
            let account = self.accounts.get(&sender);
            let known = account.map_or(0, |account| account.sequence().sequence_number());
            if given < sequence_number.max(known) {
                return Err(Discard::from(ValidationStatus::SequenceNumberTooOld).into());
            }
        }
        let expires_at_secs = self.expires_at_secs(&pending);
        if expires_at_secs <= now_secs {
            return Err(Discard::from(ValidationStatus::TransactionExpired).into());
        }
        let account = self.accounts.get(&sender);
        let price = pending.transaction.raw().gas_unit_price;
        let share = account.and_then(|account| account.share(price));
        let entry = Entry {
            insertion: self.next_insertion,
            start_tag: self.account_queue.next_tag(sender, price, share),
            cost_usecs: self.costs.estimate_usecs(&pending.transaction),
            inserted_at_secs: pending.inserted_at_secs,
            expires_at_secs,
            admitted_ticks: self.now_ticks,
            is_taken: false,
            transaction: pending.transaction,
        };
        self.next_insertion += 1;
        match account {
            Some(account) if account.get(protector).is_some() => self.resubmit(key, entry),
            Some(_) => self.add(key, entry),
            None => {
                self.accounts.insert(sender, Account::new(sequence_number));
                let outcome = self.add(key, entry);
                // Removes the account again if the pool rejected the transaction.
                self.change(sender, |_| ());
                outcome
            }
        }
    }

    /// Checks whether the pool has capacity for a transaction of `size_bytes` bytes with this key.
    ///
    /// The check has no access to the transaction itself and is therefore optimistic:
    /// [`Self::submit`] may reject a transaction that passes the check, but would not accept one
    /// that fails it.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::AccountFull`] or [`SubmitError::Full`] if that limit is reached.
    pub(crate) fn check_capacity(
        &self,
        key: PoolKey,
        size_bytes: usize,
    ) -> Result<(), SubmitError> {
        if let Some(account) = self.accounts.get(&key.sender) {
            if account.get(key.protector).is_some() {
                // The transaction may replace the pending one.
                return Ok(());
            }
            self.find_account_victim(account, key)?;
        }
        let mut after = self.total;
        after.add(Amount {
            count: 1,
            bytes: size_bytes,
            usecs: self.costs.least_usecs(size_bytes),
        });
        after.remove(self.parked);
        if self.fits(after) {
            Ok(())
        } else {
            Err(self.full_error(after))
        }
    }

    /// Returns the time at which a transaction expires, in Unix seconds: the earlier of its own
    /// expiration and the end of the pool's time to live.
    pub(crate) fn expires_at_secs(&self, pending: &Pending) -> u64 {
        let ttl_end = pending
            .inserted_at_secs
            .saturating_add(self.limits.ttl_secs);
        pending
            .transaction
            .raw()
            .expiration_timestamp_secs
            .min(ttl_end)
    }

    /// Handles a transaction whose sequence number or nonce is already pending.
    ///
    /// The hash of a transaction covers its signatures, and only the pending hash can be committed.
    /// Any other hash must be rejected, because a client could never look up its outcome.
    fn resubmit(
        &mut self,
        key: PoolKey,
        new: Entry,
    ) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let update = |reason| Err(SubmitError::InvalidUpdate(reason));
        let account = &self.accounts[&key.sender];
        let Some(old) = account.get(key.protector) else {
            return update("Transaction already in mempool");
        };
        let pending = old.transaction.hash();
        if pending == new.transaction.hash() {
            return Ok(Arc::clone(&old.transaction));
        }
        let (old_raw, new_raw) = (old.transaction.raw(), new.transaction.raw());
        if has_same_content(old_raw, new_raw) {
            return Err(SubmitError::OtherSignature { pending });
        }
        if old.is_taken {
            return Err(match key.protector {
                SequenceNumber(given) => SubmitError::SequenceNumberTooOld {
                    given,
                    // A lower number may be free again, if its block left it out while another
                    // block holds this one.
                    current: account.sequence().next().max(given.saturating_add(1)),
                    used_by: pending,
                },
                Nonce(_) => Discard::from(ValidationStatus::NonceAlreadyUsed)
                    .used_by(pending)
                    .into(),
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
        // The prices differ: with equal prices, the two would have the same content.
        if old_raw.gas_unit_price > new_raw.gas_unit_price {
            return update("Transaction already in mempool with a higher gas price");
        }
        let mut after = self.total;
        after.remove(Amount::of(old));
        after.add(Amount::of(&new));
        if !self.fits(after) {
            return Err(self.full_error(after));
        }
        let transaction = Arc::clone(&new.transaction);
        if let Some(old) = self.insert_entry(key, new) {
            self.record_removal(
                old.transaction.hash(),
                RemovalReason::Replaced(transaction.hash()),
            );
        }
        Ok(transaction)
    }

    /// Adds a transaction with a new key, and evicts parked transactions if a limit requires it.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::AccountFull`] or [`SubmitError::Full`] if eviction cannot free enough
    /// capacity. The pool is unchanged.
    fn add(&mut self, key: PoolKey, entry: Entry) -> Result<Arc<CheckedTransaction>, SubmitError> {
        let account = &self.accounts[&key.sender];
        let account_victim = self.find_account_victim(account, key)?;
        let victim = account_victim.and_then(|victim| account.sequence().get(victim));
        let (is_ready, promoted) = match key.protector {
            Nonce(_) => (true, Amount::default()),
            SequenceNumber(number) if number == account.sequence().first_gap() => (
                true,
                account.sequence().amount_promoted_by_gap(account_victim),
            ),
            SequenceNumber(_) => (false, Amount::default()),
        };
        let mut after = self.total;
        after.add(Amount::of(&entry));
        let mut evictable = self.parked;
        if let Some(victim) = victim {
            after.remove(Amount::of(victim));
            evictable.remove(Amount::of(victim));
        }
        if !self.fits(after) {
            if !is_ready {
                return Err(self.full_error(after));
            }
            evictable.remove(promoted);
            after.remove(evictable);
            if !self.fits(after) {
                return Err(self.full_error(after));
            }
        }
        let transaction = Arc::clone(&entry.transaction);
        self.insert_entry(key, entry);
        if let Some(victim) = account_victim {
            let explanation = "to make room for an earlier transaction of its account";
            let reason = RemovalReason::Evicted(explanation.to_owned());
            let protector = SequenceNumber(victim);
            self.remove_entry(PoolKey { protector, ..key }, reason);
        }
        while !self.fits(self.total) && self.evict_parked() {}
        Ok(transaction)
    }

    /// Returns the number of the account's transaction to evict for the new one, or `None` if the
    /// account is below its capacity.
    ///
    /// An account at its capacity may fill its first gap at the cost of its highest parked
    /// transaction.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::AccountFull`] if the account is at its capacity and has no such
    /// transaction, or if the new one does not fill the gap.
    fn find_account_victim(
        &self,
        account: &Account,
        key: PoolKey,
    ) -> Result<Option<u64>, SubmitError> {
        let (kind, size, capacity, setting) = match key.protector {
            SequenceNumber(_) => (
                "transactions",
                account.sequence().len(),
                self.limits.capacity_per_account,
                "mempool.capacity_per_account",
            ),
            Nonce(_) => (
                "orderless transactions",
                account.orderless_len(),
                self.limits.capacity_per_account_orderless,
                "mempool.capacity_per_account_orderless",
            ),
        };
        if size < capacity {
            return Ok(None);
        }
        if let SequenceNumber(number) = key.protector
            && number == account.sequence().first_gap()
            && let Some(parked) = account
                .sequence()
                .highest_parked()
                .filter(|&parked| parked > number)
        {
            return Ok(Some(parked));
        }
        REJECTIONS.record(setting, capacity as u64);
        Err(SubmitError::AccountFull {
            reason: format!(
                "Mempool over capacity for account. Number of {kind} from account: {size}, Capacity: {capacity}"
            ),
        })
    }

    fn fits(&self, amount: Amount) -> bool {
        amount.count <= self.limits.capacity_transactions
            && amount.bytes <= self.limits.capacity_bytes
            && amount.usecs <= self.limits.capacity_time_ms.saturating_mul(1_000)
    }

    /// Returns the error that names the limit that `after`, the content of the pool with the
    /// rejected transaction, exceeds. Counts the rejection.
    fn full_error(&self, after: Amount) -> SubmitError {
        let MempoolConfig {
            capacity_transactions,
            capacity_bytes,
            capacity_time_ms,
            ..
        } = self.limits;
        let (size, unit, capacity, setting) = if after.count > capacity_transactions {
            let setting = "mempool.capacity_transactions";
            (self.len() as u64, "", capacity_transactions as u64, setting)
        } else if after.bytes > capacity_bytes {
            let setting = "mempool.capacity_bytes";
            let size_bytes = self.total.bytes as u64;
            (size_bytes, " bytes", capacity_bytes as u64, setting)
        } else {
            let size_ms = self.total.usecs / 1_000;
            let unit = " ms of estimated execution";
            (size_ms, unit, capacity_time_ms, "mempool.capacity_time_ms")
        };
        REJECTIONS.record(setting, capacity);
        SubmitError::Full {
            reason: format!(
                "Mempool is full. Mempool size: {size}{unit}, Capacity: {capacity}{unit}"
            ),
        }
    }

    /// Evicts the highest parked transaction of the next account, in address order, that has one.
    ///
    /// Returns `false` if no transaction is parked.
    fn evict_parked(&mut self) -> bool {
        let after = (Bound::Excluded(self.evicted_last), Bound::Unbounded);
        let account = self
            .accounts_with_parked
            .range(after)
            .next()
            .or_else(|| self.accounts_with_parked.first());
        let Some(&address) = account else {
            return false;
        };
        self.evicted_last = address;
        let account = self.accounts.get(&address);
        let Some(number) = account.and_then(|account| account.sequence().highest_parked()) else {
            return false;
        };
        let explanation = "to make room in a full mempool for a ready transaction";
        let victim = PoolKey {
            sender: address,
            protector: SequenceNumber(number),
        };
        self.remove_entry(victim, RemovalReason::Evicted(explanation.to_owned()));
        true
    }
}

/// Returns whether two transactions with the same sender and replay protector have the same
/// content.
///
/// The sequence number of an orderless transaction has no meaning and is not compared.
fn has_same_content(one: &RawTransaction, other: &RawTransaction) -> bool {
    let compared_fields = |raw: &RawTransaction| {
        (
            raw.expiration_timestamp_secs,
            raw.max_gas_amount,
            raw.gas_unit_price,
        )
    };
    compared_fields(one) == compared_fields(other) && one.payload == other.payload
}
