//! Cache of the accounts that recent blocks changed, against which submissions are validated.

use ledger_crypto::map::GenerationalMap;
use ledger_execution::AccountSnapshot;
use ledger_store::{Snapshot, StoreError};
use ledger_types::AccountAddress;
use ledger_vm::Chain;

/// Maximum number of accounts in a generation, of about 100 bytes each. The cache holds two generations.
const GENERATION_ACCOUNTS_MAX: usize = 50_000;

/// The accounts that a block changed, each once, as they are after the block.
#[derive(Clone, Debug)]
pub(crate) struct AccountUpdates {
    pub(crate) height: u64,
    pub(crate) accounts: Vec<(AccountAddress, AccountSnapshot)>,
}

/// The newest state of recently changed accounts, in two generations.
///
/// A node has two caches: the executor's, which is ahead by the blocks that are not durable yet, and the
/// one at the Head ([`super::head::HeadReader`]), which is the only state behind a lock. Both change in
/// place. A persistent map with a snapshot per version would copy and free nodes of 32 accounts for each
/// account of a small block.
#[derive(Debug, Default)]
pub(crate) struct AccountCache {
    accounts: GenerationalMap<AccountAddress, AccountSnapshot>,
    /// Height of the first block whose accounts are all in the younger generation.
    younger_from: u64,
    /// Height of the first block whose accounts are all in one of the generations.
    complete_from: u64,
}

impl AccountCache {
    /// Returns an account, or `None` if it is not cached.
    pub(crate) fn get(&self, address: &AccountAddress) -> Option<AccountSnapshot> {
        self.accounts.get(address).copied()
    }

    /// Returns the height of the first block from which on every changed account is cached. An account
    /// that is not cached has not changed since before it.
    pub(crate) fn complete_from(&self) -> u64 {
        self.complete_from
    }

    /// Adds the accounts that the next block changed.
    pub(crate) fn apply(&mut self, updates: &AccountUpdates) {
        for (address, account) in &updates.accounts {
            if self.accounts.younger().len() >= GENERATION_ACCOUNTS_MAX {
                self.accounts.rotate();
                self.complete_from = self.younger_from;
                // The accounts of this block are in both generations.
                self.younger_from = updates.height + 1;
            }
            self.accounts.insert(*address, *account);
        }
    }
}

/// Reads an account at the newest version of `snapshot`.
///
/// # Errors
///
/// Returns [`StoreError`] if the store cannot be read, and [`StoreError::Inconsistent`] if the stored
/// account cannot be decoded.
pub(crate) fn read_account_snapshot(
    chain: &Chain,
    snapshot: &Snapshot,
    address: &AccountAddress,
) -> Result<AccountSnapshot, StoreError> {
    let state = snapshot.state_at(snapshot.ledger_info().version);
    AccountSnapshot::read(chain, &state, address).map_err(|error| StoreError::Inconsistent(error.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::HashValue;

    fn account(sequence_number: u64) -> AccountSnapshot {
        AccountSnapshot {
            sequence_number,
            authentication_key: HashValue::ZERO,
            balance: 0,
        }
    }

    fn updates(
        height: u64,
        accounts: impl Iterator<Item = (AccountAddress, u64)>,
    ) -> AccountUpdates {
        let accounts =
            accounts.map(|(address, sequence_number)| (address, account(sequence_number)));
        AccountUpdates {
            height,
            accounts: accounts.collect(),
        }
    }

    #[test]
    fn returns_the_newest_state_and_drops_old_accounts() {
        let mut all = AccountCache::default();
        let address = |n: usize| AccountAddress::from_low_u64(n as u64);
        all.apply(&updates(
            1,
            (0..=GENERATION_ACCOUNTS_MAX).map(|n| (address(n), 1)),
        ));
        all.apply(&updates(2, [(address(0), 2)].into_iter()));
        assert_eq!(all.get(&address(0)), Some(account(2)));
        let others = (0..2 * GENERATION_ACCOUNTS_MAX).map(|n| (address(1_000_000 + n), 1));
        all.apply(&updates(3, others));
        assert_eq!(all.get(&address(0)), None);
        assert!(
            all.accounts.younger().len() + all.accounts.older().len()
                <= 2 * GENERATION_ACCOUNTS_MAX
        );
    }

    #[test]
    fn holds_every_account_of_the_blocks_from_which_it_is_complete() {
        let mut all = AccountCache::default();
        let address = |height: u64, n: u64| AccountAddress::from_low_u64(height << 32 | n);
        let blocks = 5;
        // Not a divisor of the size of a generation, so that a generation ends within a block.
        let each = GENERATION_ACCOUNTS_MAX as u64 * 2 / 3;
        for height in 1..=blocks {
            all.apply(&updates(height, (0..each).map(|n| (address(height, n), 1))));
            for block in all.complete_from().max(1)..=height {
                let is_cached = |n: u64| all.get(&address(block, n)).is_some();
                assert!((0..each).all(is_cached), "block {block} after {height}");
            }
        }
        assert_eq!(
            all.complete_from(),
            blocks,
            "the first account of the fourth block is dropped"
        );
    }
}
