//! Hash maps for keys that clients choose, and a bounded cache made of two of them.
//!
//! Each map has its own random seed, and no response reveals it. The standard library's hashes are
//! safe even if an attacker observes them, but took 2 % of the time of a loaded node.

use std::{borrow::Borrow, hash::Hash, mem};

/// The source of seeded hashers for [`HashMap`] and [`HashSet`].
pub type HashState = foldhash::quality::RandomState;

/// A hash map, created with `default`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, HashState>;

/// A hash set, created with `default`.
pub type HashSet<V> = std::collections::HashSet<V, HashState>;

/// A bounded cache in two generations.
///
/// [`insert`](Self::insert) adds entries to the younger generation. The caller decides when that
/// generation is full and calls [`rotate`](Self::rotate), which evicts the older generation. A
/// caller can move a reused entry to the younger generation, so that it survives the next rotation.
/// This approximates the eviction of the least recently used entries without a list of them.
///
/// If both generations have an entry for a key, the younger entry takes precedence.
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

    /// Returns the value of a key from either generation.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.younger.get(key).or_else(|| self.older.get(key))
    }

    /// Inserts an entry into the younger generation, and returns the value that it replaces in that
    /// generation.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.younger.insert(key, value)
    }

    /// Removes and returns an entry of the older generation, for example to insert it again.
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

    /// Evicts the older generation and makes the younger generation the older one.
    ///
    /// The new younger generation is empty and reuses the memory of the evicted one.
    pub fn rotate(&mut self) {
        mem::swap(&mut self.older, &mut self.younger);
        self.younger.clear();
    }

    /// Rotates as [`Self::rotate`] does, but retains the older entries that `is_retained` accepts.
    ///
    /// The retained entries form the new younger generation. The previous younger generation must
    /// not have an entry with the same key, because the older value would take precedence over it.
    pub fn rotate_retaining(&mut self, mut is_retained: impl FnMut(&V) -> bool) {
        mem::swap(&mut self.older, &mut self.younger);
        self.younger.retain(|_, value| is_retained(value));
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
    fn retains_an_entry_that_is_moved_to_the_younger_generation() {
        let mut map = map(&[(1, 10), (2, 20)]);
        map.rotate();
        let (key, value) = map.remove_older(&1).unwrap();
        map.insert(key, value);
        map.rotate();
        assert_eq!((map.get(&1), map.get(&2)), (Some(&10), None));
    }

    #[test]
    fn returns_the_younger_of_two_entries() {
        let mut map = map(&[(1, 10)]);
        map.rotate();
        assert_eq!(map.insert(1, 11), None);
        assert_eq!(map.get(&1), Some(&11));
        map.remove(&1);
        assert_eq!(map.get(&1), None);
    }

    #[test]
    fn rotation_retains_accepted_entries() {
        let mut map = map(&[(1, 10), (2, 20)]);
        map.rotate();
        map.insert(3, 30);
        map.rotate_retaining(|value| *value > 10);
        assert_eq!(map.younger().len(), 1);
        assert_eq!(
            (map.get(&1), map.get(&2), map.get(&3)),
            (None, Some(&20), Some(&30))
        );
    }
}
