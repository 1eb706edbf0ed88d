//! A sorted map with integer keys that uses little memory for few entries.
//!
//! Most accounts of a large pool have one pending transaction, but a node of a B-tree has capacity
//! for eleven. A few accounts have thousands, and a sorted list would move too many entries for
//! them.

use std::collections::BTreeMap;

/// Maximum number of entries in the list. Search and insertion in a list of this size are as fast
/// as in a tree.
const LIST_LEN_MAX: usize = 8;

/// A sorted map that is a list up to [`LIST_LEN_MAX`] entries and a tree above.
#[derive(Debug)]
pub(super) enum SmallSortedMap<V> {
    /// Entries in ascending order of their keys.
    List(Vec<(u64, V)>),
    Tree(BTreeMap<u64, V>),
}

impl<V> Default for SmallSortedMap<V> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<V> SmallSortedMap<V> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tree(tree) => tree.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        match self {
            Self::List(list) => position(list, key).ok().map(|index| &list[index].1),
            Self::Tree(tree) => tree.get(&key),
        }
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        match self {
            Self::List(list) => position(list, key).ok().map(|index| &mut list[index].1),
            Self::Tree(tree) => tree.get_mut(&key),
        }
    }

    /// Inserts a value and returns the value that it replaces, if any.
    pub(super) fn insert(&mut self, key: u64, value: V) -> Option<V> {
        if let Self::List(list) = self {
            let index = match position(list, key) {
                Ok(index) => return Some(std::mem::replace(&mut list[index].1, value)),
                Err(index) => index,
            };
            if list.len() < LIST_LEN_MAX {
                if list.len() == list.capacity() {
                    // Capacities of one, two, four and eight: `Vec` itself would begin with four.
                    list.reserve_exact(list.len().max(1));
                }
                list.insert(index, (key, value));
                return None;
            }
            *self = Self::Tree(std::mem::take(list).into_iter().collect());
        }
        match self {
            Self::List(_) => None,
            Self::Tree(tree) => tree.insert(key, value),
        }
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        let (value, is_empty) = match self {
            Self::List(list) => {
                let value = position(list, key).ok().map(|index| list.remove(index).1);
                (value, list.is_empty())
            }
            Self::Tree(tree) => (tree.remove(&key), tree.is_empty()),
        };
        if is_empty {
            *self = Self::default();
        }
        value
    }

    /// Returns the lowest key.
    pub(super) fn first_key(&self) -> Option<u64> {
        self.iter().next().map(|(key, _)| key)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &V)> {
        self.range_from(0)
    }

    /// Returns the entries with keys of at least `first`, in ascending order.
    pub(super) fn range_from(&self, first: u64) -> impl DoubleEndedIterator<Item = (u64, &V)> {
        let (list, tree) = match self {
            Self::List(list) => {
                let index = position(list, first).unwrap_or_else(|index| index);
                (Some(list[index..].iter()), None)
            }
            Self::Tree(tree) => (None, Some(tree.range(first..))),
        };
        let list = list.into_iter().flatten().map(|(key, value)| (*key, value));
        list.chain(tree.into_iter().flatten().map(|(key, value)| (*key, value)))
    }
}

/// Returns the index of `key` in the list, or the index at which to insert it.
fn position<V>(list: &[(u64, V)], key: u64) -> Result<usize, usize> {
    list.binary_search_by_key(&key, |(key, _)| *key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_btree_map_at_any_size(
            steps in prop::collection::vec((any::<bool>(), 0..24u64, any::<u8>()), 0..200)
        ) {
            let (mut map, mut model) = (SmallSortedMap::default(), BTreeMap::new());
            for (is_insert, key, value) in steps {
                if is_insert {
                    prop_assert_eq!(map.insert(key, value), model.insert(key, value));
                } else {
                    prop_assert_eq!(map.remove(key), model.remove(&key));
                }
                if let (Some(value), Some(in_model)) = (map.get_mut(key), model.get_mut(&key)) {
                    *value = value.wrapping_add(1);
                    *in_model = in_model.wrapping_add(1);
                }
                prop_assert_eq!(map.get(key), model.get(&key));
                prop_assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!(map.first_key(), model.keys().next().copied());
                let expected: Vec<_> = model.range(key..).map(|(key, value)| (*key, value)).collect();
                prop_assert_eq!(map.range_from(key).collect::<Vec<_>>(), expected.clone());
                let reversed: Vec<_> = expected.into_iter().rev().collect();
                prop_assert_eq!(map.range_from(key).rev().collect::<Vec<_>>(), reversed);
            }
        }
    }

    #[test]
    fn allocates_capacity_for_one_entry_only() {
        let mut map = SmallSortedMap::default();
        map.insert(7, 7);
        assert!(matches!(&map, SmallSortedMap::List(list) if list.capacity() == 1));
    }
}
