//! What submissions are checked against: the facts of recently touched accounts.

use ledger_crypto::map::GenerationalMap;
use ledger_execution::AccountSnapshot;
use ledger_store::{Snapshot, StoreError};
use ledger_types::AccountAddress;
use ledger_vm::Chain;

/// How many accounts at least are remembered before the oldest go: about 100 bytes each, and
/// twice as many at most.
const GENERATION_ACCOUNTS_MAX: usize = 50_000;

/// What a block says of the accounts that it changed; each is named once.
#[derive(Clone, Debug)]
pub(crate) struct AccountUpdates {
    pub(crate) height: u64,
    pub(crate) accounts: Vec<(AccountAddress, AccountSnapshot)>,
}

/// Facts of the newest accounts, in two generations.
///
/// There are two of them: the executor's, which is ahead by the blocks that are not durable yet, and that of the
/// newest moment ([`super::head::HeadReader`]). Each is changed in place: of a persistent map, of which each moment has a snapshot,
/// nodes of 32 accounts would be copied and freed again for each account of a small block.
#[derive(Debug, Default)]
pub(crate) struct AccountCache {
    accounts: GenerationalMap<AccountAddress, AccountSnapshot>,
    /// The first block of which the younger generation has all accounts.
    younger_from: u64,
    /// The first block of which both together have all accounts.
    complete_from: u64,
}

impl AccountCache {
    /// The facts of an account, if it is remembered.
    pub(crate) fn get(&self, address: &AccountAddress) -> Option<AccountSnapshot> {
        self.accounts.get(address).copied()
    }

    /// The height of the first block from which on all accounts that blocks have changed are here. One that is not has
    /// been the same since before it.
    pub(crate) fn complete_from(&self) -> u64 {
        self.complete_from
    }

    /// Notes what the next block says.
    pub(crate) fn apply(&mut self, changed: &AccountUpdates) {
        for (address, facts) in &changed.accounts {
            if self.accounts.younger().len() >= GENERATION_ACCOUNTS_MAX {
                self.accounts.rotate();
                self.complete_from = self.younger_from;
                // Accounts of this block are in both.
                self.younger_from = changed.height + 1;
            }
            self.accounts.insert(*address, *facts);
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

    fn facts(sequence_number: u64) -> AccountSnapshot {
        AccountSnapshot {
            sequence_number,
            authentication_key: HashValue::ZERO,
            balance: 0,
        }
    }

    fn changed(
        height: u64,
        accounts: impl Iterator<Item = (AccountAddress, u64)>,
    ) -> AccountUpdates {
        let accounts = accounts.map(|(address, sequence_number)| (address, facts(sequence_number)));
        AccountUpdates {
            height,
            accounts: accounts.collect(),
        }
    }

    #[test]
    fn the_newest_fact_counts_and_old_accounts_go() {
        let mut all = AccountCache::default();
        let address = |n: usize| AccountAddress::from_low_u64(n as u64);
        all.apply(&changed(
            1,
            (0..=GENERATION_ACCOUNTS_MAX).map(|n| (address(n), 1)),
        ));
        all.apply(&changed(2, [(address(0), 2)].into_iter()));
        assert_eq!(all.get(&address(0)), Some(facts(2)));
        let others = (0..2 * GENERATION_ACCOUNTS_MAX).map(|n| (address(1_000_000 + n), 1));
        all.apply(&changed(3, others));
        assert_eq!(all.get(&address(0)), None);
        assert!(
            all.accounts.younger().len() + all.accounts.older().len()
                <= 2 * GENERATION_ACCOUNTS_MAX
        );
    }

    #[test]
    fn all_accounts_of_the_blocks_from_which_on_it_is_complete_are_there() {
        let mut all = AccountCache::default();
        let address = |height: u64, n: u64| AccountAddress::from_low_u64(height << 32 | n);
        let blocks = 5;
        // No divisor of the size of a generation, so that one ends within a block.
        let each = GENERATION_ACCOUNTS_MAX as u64 * 2 / 3;
        for height in 1..=blocks {
            all.apply(&changed(height, (0..each).map(|n| (address(height, n), 1))));
            for block in all.complete_from().max(1)..=height {
                let is_here = |n: u64| all.get(&address(block, n)).is_some();
                assert!((0..each).all(is_here), "block {block} after {height}");
            }
        }
        assert_eq!(
            all.complete_from(),
            blocks,
            "the first account of the fourth is gone"
        );
    }
}
