//! What submissions are checked against: the facts of recently touched accounts.

use imbl::{GenericHashMap, shared_ptr::DefaultSharedPtr};
use ledger::{AccountAddress, AccountFacts, map::HashState};

/// How many accounts at least are remembered before the oldest go: about 150 bytes each, and
/// twice as many at most.
const FACTS_KEPT_MIN: usize = 50_000;

/// Whose clone shares what does not change.
type ByAddress = GenericHashMap<AccountAddress, AccountFacts, HashState, DefaultSharedPtr>;

/// Facts of the newest accounts, in two generations. A persistent value: a clone is a snapshot that
/// costs nothing, and every [`super::Head`] carries one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    younger: ByAddress,
    older: ByAddress,
    /// The block whose accounts are being noted.
    height: u64,
    /// The first block of which the younger generation has all accounts.
    younger_from: u64,
    /// The first block of which both together have all accounts.
    complete_from: u64,
}

impl Facts {
    /// The facts of an account, if it is remembered.
    pub(crate) fn get(&self, address: &AccountAddress) -> Option<AccountFacts> {
        self.younger
            .get(address)
            .or_else(|| self.older.get(address))
            .copied()
    }

    /// The height of the first block from which on all accounts that blocks have changed are here. One that is not has
    /// been the same since before it.
    pub(super) fn complete_from(&self) -> u64 {
        self.complete_from
    }

    /// What is noted from now on is of the block of that height.
    pub(super) fn begin(&mut self, height: u64) {
        self.height = height;
    }

    /// Notes the newest facts of an account.
    pub(super) fn set(&mut self, address: AccountAddress, facts: AccountFacts) {
        if self.younger.len() >= FACTS_KEPT_MIN {
            self.older = std::mem::take(&mut self.younger);
            self.complete_from = self.younger_from;
            // Accounts of this block are in both.
            self.younger_from = self.height + 1;
        }
        self.younger.insert(address, facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::HashValue;

    fn facts(sequence_number: u64) -> AccountFacts {
        AccountFacts {
            sequence_number,
            authentication_key: HashValue::ZERO,
            balance: 0,
        }
    }

    #[test]
    fn the_newest_fact_counts_and_old_accounts_go() {
        let mut all = Facts::default();
        let address = |n: usize| AccountAddress::from_low_u64(n as u64);
        all.set(address(0), facts(1));
        for n in 1..=FACTS_KEPT_MIN {
            all.set(address(n), facts(1));
        }
        let before = all.clone();
        all.set(address(0), facts(2));
        assert_eq!(all.get(&address(0)), Some(facts(2)));
        assert_eq!(
            before.get(&address(0)),
            Some(facts(1)),
            "a snapshot does not change"
        );
        for n in 0..2 * FACTS_KEPT_MIN {
            all.set(address(1_000_000 + n), facts(1));
        }
        assert_eq!(all.get(&address(0)), None);
        assert!(all.younger.len() + all.older.len() <= 2 * FACTS_KEPT_MIN);
    }

    #[test]
    fn all_accounts_of_the_blocks_from_which_on_it_is_complete_are_there() {
        let mut all = Facts::default();
        let address = |height: u64, n: u64| AccountAddress::from_low_u64(height << 32 | n);
        let blocks = 5;
        // No divisor of the size of a generation, so that one ends within a block.
        let each = FACTS_KEPT_MIN as u64 * 2 / 3;
        for height in 1..=blocks {
            all.begin(height);
            (0..each).for_each(|n| all.set(address(height, n), facts(1)));
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
