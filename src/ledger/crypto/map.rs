//! Hash maps for keys that clients choose, and a bounded cache made of two of them.
//!
//! Each map has a random seed of its own, which no response reveals. The hashes of the standard
//! library are safe even if they are observed, but took 2 % of the time of a loaded node.

use std::{borrow::Borrow, hash::Hash, mem};

/// The hasher of the maps.
pub type HashState = foldhash::quality::RandomState;

/// A hash map, created with `default`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, HashState>;

/// A hash set, created with `default`.
pub type HashSet<V> = std::collections::HashSet<V, HashState>;

/// A bounded cache in two generations.
///
/// Entries are inserted into the younger generation. The caller decides when it is full and
/// rotates: the younger generation becomes the older one, and the entries that were older are
/// evicted. An entry that is used again can be moved to the younger generation, so that it
/// survives. This approximates an eviction of the least recently used entries without a list of
/// them.
///
/// If a key is in both generations, the younger entry counts.
#[derive(Clone, Debug)]
pub struct GenerationalMap<K, V> {
    younger: HashMap<K, V>,
    older: HashMap<K, V>,
}

impl<K, V> Default for GenerationalMap<K, V> {
    fn default() -> Self {
        Self {
            younger: HashMap::default(),
            older: HashMap::default(),
        }
    }
}

impl<K: Eq + Hash, V> GenerationalMap<K, V> {
    /// Returns the younger generation.
    pub fn younger(&self) -> &HashMap<K, V> {
        &self.younger
    }

    /// Returns the older generation.
    pub fn older(&self) -> &HashMap<K, V> {
        &self.older
    }

    /// Returns the value of a key, from either generation.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.younger.get(key).or_else(|| self.older.get(key))
    }

    /// Inserts an entry into the younger generation, and returns the value that it replaces there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.younger.insert(key, value)
    }

    /// Removes an entry of the older generation, for example to insert it again.
    pub fn remove_older<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.older.remove_entry(key)
    }

    /// Removes a key from both generations.
    pub fn remove<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.younger.remove(key);
        self.older.remove(key);
    }

    /// Makes the younger generation the older one, and evicts the entries that were older. The
    /// memory of the evicted generation is used again.
    pub fn rotate(&mut self) {
        mem::swap(&mut self.older, &mut self.younger);
        self.younger.clear();
    }

    /// Makes the younger generation the older one, and evicts the entries that were older, except
    /// those for which `is_kept` returns true: they become the younger generation.
    ///
    /// A kept entry must not be in the other generation as well, because the older value would
    /// count.
    pub fn rotate_keeping(&mut self, mut is_kept: impl FnMut(&V) -> bool) {
        mem::swap(&mut self.older, &mut self.younger);
        self.younger.retain(|_, value| is_kept(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(u8, u8)]) -> GenerationalMap<u8, u8> {
        let mut map = GenerationalMap::default();
        for (key, value) in entries {
            map.insert(*key, *value);
        }
        map
    }

    #[test]
    fn evicts_an_entry_at_the_second_rotation_after_its_insertion() {
        let mut map = map(&[(1, 10)]);
        map.rotate();
        assert_eq!(map.get(&1), Some(&10));
        map.rotate();
        assert_eq!(map.get(&1), None);
    }

    #[test]
    fn keeps_an_entry_that_is_moved_to_the_younger_generation() {
        let mut map = map(&[(1, 10), (2, 20)]);
        map.rotate();
        let (key, value) = map.remove_older(&1).unwrap();
        map.insert(key, value);
        map.rotate();
        assert_eq!((map.get(&1), map.get(&2)), (Some(&10), None));
    }

    #[test]
    fn the_younger_of_two_entries_counts() {
        let mut map = map(&[(1, 10)]);
        map.rotate();
        assert_eq!(map.insert(1, 11), None);
        assert_eq!(map.get(&1), Some(&11));
        map.remove(&1);
        assert_eq!(map.get(&1), None);
    }

    #[test]
    fn a_rotation_keeps_the_entries_that_it_is_told_to() {
        let mut map = map(&[(1, 10), (2, 20)]);
        map.rotate();
        map.insert(3, 30);
        map.rotate_keeping(|value| *value > 10);
        assert_eq!(map.younger().len(), 1);
        assert_eq!(
            (map.get(&1), map.get(&2), map.get(&3)),
            (None, Some(&20), Some(&30))
        );
    }
}
