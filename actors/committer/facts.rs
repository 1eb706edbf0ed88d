//! What submissions are checked against: the facts of recently touched accounts.

use ledger::{AccountAddress, AccountFacts};

/// How many accounts at least are remembered before the oldest go: about 150 bytes each, and
/// twice as many at most.
const FACTS_KEPT_MIN: usize = 50_000;

/// Facts of the newest accounts, in two generations. A persistent value: a clone is a snapshot that
/// costs nothing, and every [`super::Head`] carries one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    younger: imbl::HashMap<AccountAddress, AccountFacts>,
    older: imbl::HashMap<AccountAddress, AccountFacts>,
}

impl Facts {
    /// The facts of an account, if it is remembered.
    pub(crate) fn get(&self, address: &AccountAddress) -> Option<AccountFacts> {
        self.younger
            .get(address)
            .or_else(|| self.older.get(address))
            .copied()
    }

    /// Notes the newest facts of an account.
    pub(super) fn set(&mut self, address: AccountAddress, facts: AccountFacts) {
        if self.younger.len() >= FACTS_KEPT_MIN {
            self.older = std::mem::take(&mut self.younger);
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
}
