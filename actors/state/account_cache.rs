//! Cache of the accounts that recent blocks changed. Submissions are validated against it.

use ledger_crypto::map::GenerationalMap;
use ledger_execution::AccountSnapshot;
use ledger_store::{Snapshot, StoreError};
use ledger_types::AccountAddress;
use ledger_vm::Chain;

/// Maximum number of accounts in a generation. An account takes about 130 bytes, and the cache
/// holds two generations.
const GENERATION_ACCOUNTS_MAX: usize = 50_000;

/// The accounts that a block changed, each once, with their state after the block.
#[derive(Clone, Debug)]
pub(crate) struct AccountUpdates {
    /// Height of the block.
    pub(crate) height: u64,
    pub(crate) accounts: Vec<(AccountAddress, AccountSnapshot)>,
}

/// A cache of the newest state of recently changed accounts, in two generations.
///
/// A node has two such caches. The executor's cache includes executed blocks that are not durable
/// yet. The other cache is at the Head ([`super::head::HeadReader`]), and is the only published
/// state behind a lock. Both are updated in place, because a persistent map with a snapshot per
/// version would copy and free nodes of 32 accounts for each account of a small block.
#[derive(Debug, Default)]
pub(crate) struct AccountCache {
    accounts: GenerationalMap<AccountAddress, AccountSnapshot>,
    /// Height from which on the younger generation holds all accounts that blocks changed.
    younger_from: u64,
    /// Height from which on the two generations hold all accounts that blocks changed.
    complete_from: u64,
}

impl AccountCache {
    /// Returns the newest state of an account, or `None` if it is not cached.
    pub(crate) fn get(&self, address: &AccountAddress) -> Option<AccountSnapshot> {
        self.accounts.get(address).copied()
    }

    /// Returns the height from which on the cache holds all accounts that blocks changed.
    ///
    /// No block from this height up to the newest one has changed an account that is not cached.
    pub(crate) fn complete_from(&self) -> u64 {
        self.complete_from
    }

    /// Adds the accounts that the next block changed. Evicts the older generation if the younger
    /// one is full.
    pub(crate) fn apply(&mut self, updates: &AccountUpdates) {
        for (address, account) in &updates.accounts {
            if self.accounts.younger().len() >= GENERATION_ACCOUNTS_MAX {
                self.accounts.rotate();
                self.complete_from = self.younger_from;
                // This block has accounts in both generations, so the younger one lacks some of
                // them.
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
/// Returns the error of the store if the account cannot be read, and [`StoreError::Inconsistent`]
/// if it does not decode.
pub(crate) fn read_account_snapshot(
    chain: &Chain,
    snapshot: &Snapshot,
    address: &AccountAddress,
) -> Result<AccountSnapshot, StoreError> {
    snapshot.read_state(snapshot.ledger_info().version, |state| {
        AccountSnapshot::read(chain, state, address)
    })
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
            store: AccountAddress::ZERO,
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
    fn returns_the_newest_state_and_evicts_old_accounts() {
        let mut cache = AccountCache::default();
        let address = |n: usize| AccountAddress::from_low_u64(n as u64);
        cache.apply(&updates(
            1,
            (0..=GENERATION_ACCOUNTS_MAX).map(|n| (address(n), 1)),
        ));
        cache.apply(&updates(2, [(address(0), 2)].into_iter()));
        assert_eq!(cache.get(&address(0)), Some(account(2)));
        let others = (0..2 * GENERATION_ACCOUNTS_MAX).map(|n| (address(1_000_000 + n), 1));
        cache.apply(&updates(3, others));
        assert_eq!(cache.get(&address(0)), None);
        assert!(
            cache.accounts.younger().len() + cache.accounts.older().len()
                <= 2 * GENERATION_ACCOUNTS_MAX
        );
    }

    #[test]
    fn holds_every_account_of_the_blocks_from_which_it_is_complete() {
        let mut cache = AccountCache::default();
        let address = |height: u64, n: u64| AccountAddress::from_low_u64(height << 32 | n);
        const BLOCKS: u64 = 5;
        // No divisor of the size of a generation, so that a block has accounts in two generations.
        let accounts_per_block = GENERATION_ACCOUNTS_MAX as u64 * 2 / 3;
        for height in 1..=BLOCKS {
            cache.apply(&updates(
                height,
                (0..accounts_per_block).map(|n| (address(height, n), 1)),
            ));
            for block in cache.complete_from().max(1)..=height {
                let is_cached = |n: u64| cache.get(&address(block, n)).is_some();
                assert!(
                    (0..accounts_per_block).all(is_cached),
                    "block {block} after {height}"
                );
            }
        }
        assert_eq!(
            cache.complete_from(),
            BLOCKS,
            "the cache has evicted accounts of the fourth block"
        );
    }
}
