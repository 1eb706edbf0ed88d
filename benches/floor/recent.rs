//! Where each of the newest transactions stands in the log: two generations of bounded size, so that a
//! wait finds what was submitted a moment ago and nothing grows.

use ledger_crypto::HashValue;
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    mem,
};

/// So many transactions are in a generation: seconds of the fastest load.
const GENERATION: usize = 1 << 17;

/// The numbers of the newest transactions.
#[derive(Debug, Default)]
pub struct Recent {
    young: Numbers,
    old: Numbers,
}

type Numbers = HashMap<HashValue, u64, BuildHasherDefault<FirstBytes>>;

impl Recent {
    /// Adds a transaction.
    pub fn insert(&mut self, hash: HashValue, number: u64) {
        if self.young.len() >= GENERATION {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(hash, number);
    }

    /// The number of a transaction, if it is among the newest.
    pub fn number(&self, hash: &HashValue) -> Option<u64> {
        self.young.get(hash).or_else(|| self.old.get(hash)).copied()
    }
}

/// The first bytes of what is a hash already.
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

    /// The length of an array, which is the same for all.
    fn write_usize(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_found_and_the_oldest_are_dropped() {
        let hash = |number: u64| HashValue::sha3_of(&[&number.to_le_bytes()]);
        let mut recent = Recent::default();
        let total = 3 * GENERATION as u64;
        for number in 0..total {
            recent.insert(hash(number), number);
        }
        for number in [total - 1, total - GENERATION as u64] {
            assert_eq!(recent.number(&hash(number)), Some(number));
        }
        assert_eq!(recent.number(&hash(0)), None);
        assert!(recent.young.len() + recent.old.len() <= 2 * GENERATION);
    }
}
