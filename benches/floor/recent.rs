//! Numbers of the newest transactions in the log, by hash.
//!
//! Two generations of bounded size suffice for a wait that follows its submission.

use ledger_crypto::HashValue;
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    mem,
};

/// Maximum number of transactions in a generation: seconds of the fastest load.
const GENERATION_TRANSACTIONS_MAX: usize = 1 << 17;

/// The numbers of the newest transactions.
#[derive(Debug, Default)]
pub struct Recent {
    young: Numbers,
    old: Numbers,
}

type Numbers = HashMap<HashValue, u64, BuildHasherDefault<FirstBytes>>;

impl Recent {
    /// Adds a transaction. A full younger generation replaces the older one.
    pub fn insert(&mut self, hash: HashValue, number: u64) {
        if self.young.len() >= GENERATION_TRANSACTIONS_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(hash, number);
    }

    /// Returns the number of a transaction, or `None` if it is not among the newest.
    pub fn number(&self, hash: &HashValue) -> Option<u64> {
        self.young.get(hash).or_else(|| self.old.get(hash)).copied()
    }
}

/// A hasher that returns the first bytes of its input, which is a hash itself.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut first = [0; 8];
        for (to, from) in first.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.0 = u64::from_le_bytes(first);
    }

    /// Ignores the length of an array, which is the same for all keys.
    fn write_usize(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_newest_and_drops_the_oldest() {
        let hash = |number: u64| HashValue::sha3_of(&[&number.to_le_bytes()]);
        let mut recent = Recent::default();
        let total = 3 * GENERATION_TRANSACTIONS_MAX as u64;
        for number in 0..total {
            recent.insert(hash(number), number);
        }
        for number in [total - 1, total - GENERATION_TRANSACTIONS_MAX as u64] {
            assert_eq!(recent.number(&hash(number)), Some(number));
        }
        assert_eq!(recent.number(&hash(0)), None);
        assert!(recent.young.len() + recent.old.len() <= 2 * GENERATION_TRANSACTIONS_MAX);
    }
}
