//! Cache of the newest state: writes of executed blocks, and values read from the store.
//!
//! The cache retains the writes of blocks that are not durable, because the store does not hold
//! them yet. It may evict all other entries. Entries are in two generations: when the younger
//! generation is full, the cache evicts the older one, except for entries that it must retain.

use bytes::Bytes;
use ledger_crypto::map::GenerationalMap;
use ledger_types::{ExecutedBlock, StateKey};

/// Maximum size of a generation in bytes, including keys and bookkeeping. Writes that are not
/// durable may exceed it.
const GENERATION_BYTES_MAX: usize = 48 * 1024 * 1024;

/// Approximate size of an entry in bytes, without its key and value.
const ENTRY_OVERHEAD_BYTES: usize = 128;

/// The newest value of a key.
#[derive(Clone, Debug)]
struct Cached {
    /// `None` if the key has no value.
    value: Option<Bytes>,
    /// Height of the block that wrote the value, or 0 if the value was read from the store.
    height: u64,
}

/// Returns the approximate size of an entry in bytes.
fn entry_bytes(key_bytes: usize, value: &Cached) -> usize {
    key_bytes + value.value.as_ref().map_or(0, Bytes::len) + ENTRY_OVERHEAD_BYTES
}

/// A cache of the newest values of some keys.
#[derive(Debug)]
pub(super) struct StateCache {
    entries: GenerationalMap<StateKey, Cached>,
    /// Approximate size of the younger generation, in bytes.
    younger_bytes: usize,
    generation_bytes_max: usize,
    /// Size of the younger generation, in bytes, above which the generations rotate.
    ///
    /// It exceeds `generation_bytes_max` if a rotation retains more than half of that. A rotation
    /// visits a whole generation. To bound the amortized cost, the next one follows only after as
    /// many bytes were added as the rotation retained.
    rotate_at_bytes: usize,
    /// Height of a durable block. The cache retains the writes of later blocks.
    durable_height: u64,
}

impl StateCache {
    pub(super) fn new() -> Self {
        Self::with_generation_bytes(GENERATION_BYTES_MAX)
    }

    fn with_generation_bytes(generation_bytes_max: usize) -> Self {
        Self {
            entries: GenerationalMap::default(),
            younger_bytes: 0,
            generation_bytes_max,
            rotate_at_bytes: generation_bytes_max,
            durable_height: 0,
        }
    }

    /// Sets the height of the newest durable block. The cache retains the writes of later blocks.
    pub(super) fn set_durable_height(&mut self, height: u64) {
        self.durable_height = height;
    }

    /// Returns the newest value of `key`, `Some(None)` if it has no value, or `None` if it is not
    /// cached.
    pub(super) fn get(&mut self, key: &StateKey) -> Option<Option<Bytes>> {
        if let Some(cached) = self.entries.younger().get(key) {
            return Some(cached.value.clone());
        }
        let (key, cached) = self.entries.remove_older(key)?;
        let value = cached.value.clone();
        self.insert(key, cached);
        Some(value)
    }

    /// Adds a value that was read from a snapshot at or after the durable height.
    pub(super) fn add_read(&mut self, key: StateKey, value: Option<Bytes>) {
        self.insert(key, Cached { value, height: 0 });
    }

    /// Adds the writes of a block.
    pub(super) fn apply(&mut self, block: &ExecutedBlock) {
        let writes = block
            .transactions
            .iter()
            .flat_map(|executed| executed.writes.iter());
        for (key, write) in writes {
            let cached = Cached {
                value: write.value().cloned(),
                height: block.height(),
            };
            self.entries.remove_older(key);
            self.insert(key.clone(), cached);
        }
    }

    fn insert(&mut self, key: StateKey, cached: Cached) {
        let key_bytes = key.as_bytes().len();
        self.younger_bytes += entry_bytes(key_bytes, &cached);
        if let Some(replaced) = self.entries.insert(key, cached) {
            self.younger_bytes -= entry_bytes(key_bytes, &replaced);
        }
        if self.younger_bytes > self.rotate_at_bytes {
            self.rotate();
        }
    }

    /// Evicts the older generation, and makes the younger one the older. Retains writes that are
    /// not durable in the younger generation.
    fn rotate(&mut self) {
        let durable_height = self.durable_height;
        self.entries
            .rotate_retaining(|cached| cached.height > durable_height);
        let younger = self.entries.younger().iter();
        self.younger_bytes = younger
            .map(|(key, cached)| entry_bytes(key.as_bytes().len(), cached))
            .sum();
        self.rotate_at_bytes = self
            .generation_bytes_max
            .max(self.younger_bytes.saturating_mul(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::block::block_writing;

    fn key(n: u64) -> StateKey {
        StateKey::from_encoded(Bytes::copy_from_slice(&n.to_le_bytes()))
    }

    fn value(n: u64) -> Option<Bytes> {
        Some(Bytes::copy_from_slice(&n.to_le_bytes()))
    }

    #[test]
    fn returns_writes_and_deletions_instead_of_values_read_earlier() {
        let mut cache = StateCache::new();
        assert_eq!(cache.get(&key(1)), None);
        cache.add_read(key(1), value(10));
        cache.add_read(key(2), None);
        assert_eq!(cache.get(&key(2)), Some(None));
        cache.apply(&block_writing(1, &[(key(1), None), (key(2), value(20))]));
        assert_eq!(cache.get(&key(1)), Some(None));
        assert_eq!(cache.get(&key(2)), Some(value(20)));
    }

    #[test]
    fn retains_writes_that_are_not_durable_and_bounds_other_entries() {
        const ENTRIES: u64 = 100;
        let generation = ENTRIES as usize * (16 + ENTRY_OVERHEAD_BYTES);
        let mut cache = StateCache::with_generation_bytes(generation);
        cache.apply(&block_writing(
            5,
            &[(key(1), value(51)), (key(2), value(52))],
        ));
        for n in 1_000..10_000 {
            cache.add_read(key(n), value(n));
        }
        assert_eq!(cache.get(&key(1)), Some(value(51)));
        assert_eq!(cache.get(&key(2)), Some(value(52)));
        assert!(
            cache.entries.younger().len() + cache.entries.older().len() <= 2 * ENTRIES as usize + 4
        );
        cache.set_durable_height(5);
        for n in 1_000..10_000 {
            cache.add_read(key(n), value(n));
        }
        assert_eq!(cache.get(&key(1)), None, "a durable value may be evicted");
    }

    #[test]
    fn rotates_rarely_while_it_retains_all_entries() {
        const WRITES: u64 = 4_096;
        let mut cache = StateCache::with_generation_bytes(10 * (16 + ENTRY_OVERHEAD_BYTES));
        let mut rotations = 0;
        for n in 1..=WRITES {
            cache.apply(&block_writing(n, &[(key(n), value(n))]));
            // A rotation moves the newest entry to the older generation.
            rotations += u32::from(cache.entries.older().contains_key(&key(n)));
        }
        assert!(rotations <= 2 * WRITES.ilog2(), "{rotations} rotations");
        cache.set_durable_height(WRITES);
        for n in WRITES..4 * WRITES {
            cache.add_read(key(n), value(n));
        }
        assert!(
            cache.entries.younger().len() + cache.entries.older().len() <= 2 * 10 + 2,
            "the cache shrinks again"
        );
    }

    #[test]
    fn retains_the_newest_of_several_writes_that_are_not_durable() {
        let mut cache = StateCache::with_generation_bytes(200);
        for height in 1..50 {
            cache.apply(&block_writing(height, &[(key(0), value(height))]));
            // Fills generations with reads, so that each write moves to the older generation.
            for n in 1..=100 {
                cache.add_read(key(n), value(n));
                assert_eq!(
                    cache.get(&key(0)),
                    Some(value(height)),
                    "value of the first key after {n} reads"
                );
            }
            // Varies the generation that holds the entry at the next write.
            for n in 0..height % 4 {
                cache.add_read(key(200 + n), value(n));
            }
        }
    }

    #[test]
    fn returns_the_newest_value_if_both_generations_have_held_the_key() {
        let mut cache = StateCache::with_generation_bytes(200);
        for height in 1..50 {
            cache.set_durable_height(height - 1);
            let writes: Vec<_> = (0..3).map(|n| (key(n), value(height * 10 + n))).collect();
            cache.apply(&block_writing(height, &writes));
            for n in 0..3 {
                assert_eq!(cache.get(&key(n)), Some(value(height * 10 + n)));
            }
        }
    }
}
