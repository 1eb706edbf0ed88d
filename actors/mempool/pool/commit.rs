//! What a durable block does to the pool.

use super::{Account, Entry, Pool, PoolKey, pool_key};
use crate::RemovalReason;
use ledger_crypto::{HashValue, map::HashMap};
use ledger_types::{
    AccountAddress, Discard, ExecutedBlock,
    ReplayProtector::{self, Nonce, SequenceNumber},
    ValidationStatus,
};

impl Pool {
    /// A block is durable: its transactions leave, the refused ones with their reason. Those that
    /// came too early or for which it had no room go back. Gives how many it took out that were executed.
    ///
    /// # Panics
    /// When the block names a validation status that does not exist.
    pub fn commit(&mut self, block: &ExecutedBlock) -> usize {
        let (held, unexecuted_before) = (self.len(), self.left.len());
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
        let mut unexecuted: HashMap<AccountAddress, Vec<ReplayProtector>> = HashMap::default();
        for discarded in &block.discarded {
            let Some(transaction) = self.by_hash.get(&discarded.hash) else {
                continue;
            };
            let key = pool_key(transaction);
            if discarded.is_not_included() {
                unexecuted.entry(key.0).or_default().push(key.1);
                continue;
            }
            let status = ValidationStatus::from_code(discarded.status_code);
            match status.expect("execution refuses with statuses of this ledger") {
                // It came too early: what it follows went back or was refused.
                ValidationStatus::SequenceNumberTooNew => {
                    unexecuted.entry(key.0).or_default().push(key.1);
                }
                status => self.discard(key, status),
            }
        }
        for (address, protectors) in unexecuted {
            self.put_back(address, &protectors);
        }
        // Who left is named in `left`, except for those that were executed.
        let unexecuted = self.left.len() - unexecuted_before;
        (held - self.len()).saturating_sub(unexecuted)
    }

    /// The account has executed all below `sequence_number`, the last of them by `executed`.
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
            self.forget(&entry);
            let is_last =
                entry.transaction.raw().sequence_number.saturating_add(1) == sequence_number;
            let was_executed = match executed {
                Some(executed) if is_last => executed == hash,
                _ => entry.taken,
            };
            if !was_executed {
                let too_old = Discard::from(ValidationStatus::SequenceNumberTooOld);
                self.record_removal(hash, RemovalReason::Rejected(too_old));
            }
        }
    }

    /// The account has executed `executed`, which had this nonce.
    fn use_nonce(&mut self, address: AccountAddress, nonce: u64, executed: HashValue) {
        let Some(entry) = self.change(address, |account| account.remove(Nonce(nonce))) else {
            return;
        };
        self.forget(&entry);
        let hash = entry.transaction.hash();
        if hash != executed {
            let used = Discard::from(ValidationStatus::NonceAlreadyUsed);
            self.record_removal(hash, RemovalReason::Rejected(used));
        }
    }

    /// A block's prologue refused a transaction.
    fn discard(&mut self, key: PoolKey, status: ValidationStatus) {
        let account = self.accounts.get(&key.0);
        let reason = match account.and_then(|account| account.get(key.1)) {
            Some(entry) if status == ValidationStatus::TransactionExpired => {
                RemovalReason::Expired {
                    at_secs: entry.expires_at_secs,
                }
            }
            _ => RemovalReason::Rejected(status.into()),
        };
        self.drop_entry(key, reason);
    }

    /// A block did not execute these, which says nothing against them: a later one may take them.
    fn put_back(&mut self, address: AccountAddress, protectors: &[ReplayProtector]) {
        let back: Vec<Entry> =
            self.change(address, |account: &mut Account| account.untake(protectors));
        for entry in &back {
            self.index_waiting(entry);
        }
    }
}
