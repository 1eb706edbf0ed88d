//! The heaviest keys of a stream in bounded memory, such as the clients that cause most of the
//! load.
//!
//! The structure is Space-Saving (Metwally, Agrawal, El Abbadi: "Efficient computation of frequent
//! and top-k elements in data streams", 2005) with weights that decay exponentially (Cormode,
//! Korn, Tirthapura: "Exponentially decayed aggregates on data streams", 2008).

use foldhash::quality::RandomState;
use std::{
    collections::HashMap,
    hash::Hash,
    ops::{Add, Mul},
    time::{Duration, Instant},
};

/// Time after which weights are decayed again. Decaying all of them takes about a microsecond.
const DECAY_EVERY: Duration = Duration::from_millis(250);

/// Weight below which a key is dropped, in microseconds of work.
const NEGLIGIBLE: f64 = 0.01;

/// Requests, and the work that they caused.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Number of requests.
    pub requests: f64,
    /// Number of these requests that were rejected.
    pub rejected: f64,
    /// Time of the work, in microseconds. Keys are ranked by it.
    pub work_usecs: f64,
}

impl Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            rejected: self.rejected + other.rejected,
            work_usecs: self.work_usecs + other.work_usecs,
        }
    }
}

impl Mul<f64> for Traffic {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self {
            requests: self.requests * factor,
            rejected: self.rejected * factor,
            work_usecs: self.work_usecs * factor,
        }
    }
}

/// The traffic of a second.
#[derive(Clone, Debug)]
pub struct Heaviest<K> {
    /// Traffic of all keys.
    pub total: Traffic,
    /// The keys with the most work, each with its traffic.
    pub keys: Vec<(K, Traffic)>,
}

impl<K: Hash + Ord> Heaviest<K> {
    /// Returns the sum of parts of the traffic, with at most `count` keys, the heaviest first.
    pub fn sum(parts: impl IntoIterator<Item = Self>, count: usize) -> Self {
        let mut total = Traffic::default();
        let mut sums: HashMap<K, Traffic, RandomState> = HashMap::default();
        for part in parts {
            total = total + part.total;
            for (key, traffic) in part.keys {
                let sum = sums.entry(key).or_default();
                *sum = *sum + traffic;
            }
        }
        let mut keys: Vec<_> = sums.into_iter().collect();
        keys.sort_unstable_by(|(key, one), (other_key, other)| {
            let by_work = other.work_usecs.total_cmp(&one.work_usecs);
            by_work.then_with(|| key.cmp(other_key))
        });
        keys.truncate(count);
        Self { total, keys }
    }
}

/// The keys with the most work in the last seconds, in at most `capacity` slots.
///
/// Let T be the work of all keys. A key with more than T / `capacity` has a slot, and the work that
/// its slot has seen is at most T / `capacity` below its real one.
#[derive(Debug)]
pub struct HeavyHitters<K> {
    capacity: usize,
    /// Time in which the weight of a request falls to 1/e.
    memory: Duration,
    slots: HashMap<K, Slot, RandomState>,
    total: Traffic,
    decayed_at: Instant,
}

/// The traffic of a key since it has its slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    seen: Traffic,
    /// Work of the key that had the slot before, in microseconds. The key of the slot may have had
    /// as much before it was in it.
    inherited_usecs: f64,
}

impl Slot {
    /// Returns an upper bound of the work of the key, in microseconds.
    fn weight(&self) -> f64 {
        self.seen.work_usecs + self.inherited_usecs
    }
}

impl<K: Hash + Eq + Clone> HeavyHitters<K> {
    /// Creates a structure of `capacity` slots. The weight of a request falls to 1/e in the time
    /// `memory`.
    pub fn new(capacity: usize, memory: Duration, now: Instant) -> Self {
        Self {
            capacity,
            memory,
            slots: HashMap::with_capacity_and_hasher(capacity, RandomState::default()),
            total: Traffic::default(),
            decayed_at: now,
        }
    }

    /// Adds traffic of a key.
    pub fn add(&mut self, key: &K, traffic: Traffic, now: Instant) {
        self.decay(now);
        self.total = self.total + traffic;
        if let Some(slot) = self.slots.get_mut(key) {
            slot.seen = slot.seen + traffic;
            return;
        }
        let inherited_usecs = match self.slots.len() < self.capacity {
            true => 0.0,
            false => self.evict(),
        };
        let slot = Slot {
            seen: traffic,
            inherited_usecs,
        };
        self.slots.insert(key.clone(), slot);
    }

    /// Removes the key with the least weight, and returns that weight.
    fn evict(&mut self) -> f64 {
        let slots = self.slots.iter();
        let least = slots.min_by(|(_, one), (_, other)| one.weight().total_cmp(&other.weight()));
        let least = least.map(|(key, slot)| (key.clone(), slot.weight()));
        least.map_or(0.0, |(key, weight)| {
            self.slots.remove(&key);
            weight
        })
    }

    /// Returns the traffic in a second, a mean over the last seconds. The traffic of a key is that
    /// in its slot.
    pub fn per_second(&mut self, now: Instant) -> Heaviest<K> {
        self.decay(now);
        let per_second = 1.0 / self.memory.as_secs_f64();
        let slots = self.slots.iter();
        Heaviest {
            total: self.total * per_second,
            keys: slots
                .map(|(key, slot)| (key.clone(), slot.seen * per_second))
                .collect(),
        }
    }

    fn decay(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.decayed_at);
        if elapsed < DECAY_EVERY {
            return;
        }
        self.decayed_at = now;
        let factor = (-elapsed.as_secs_f64() / self.memory.as_secs_f64()).exp();
        self.total = self.total * factor;
        self.slots.retain(|_, slot| {
            slot.seen = slot.seen * factor;
            slot.inherited_usecs *= factor;
            slot.weight() >= NEGLIGIBLE
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MEMORY: Duration = Duration::from_secs(5);
    const CAPACITY: usize = 8;

    fn request(work_usecs: f64) -> Traffic {
        Traffic {
            requests: 1.0,
            rejected: 0.0,
            work_usecs,
        }
    }

    /// Returns the traffic in a second of the keys with a slot.
    fn rates(heavy: &mut HeavyHitters<u32>, now: Instant) -> HashMap<u32, Traffic> {
        heavy.per_second(now).keys.into_iter().collect()
    }

    proptest! {
        /// The bound of Space-Saving, with decay between the requests.
        #[test]
        fn heavy_keys_have_a_slot_that_misses_little_of_their_work(
            requests in prop::collection::vec((0u32..40, 1u32..1_000, 0u64..400), 1..400),
        ) {
            let start = Instant::now();
            let mut heavy = HeavyHitters::new(CAPACITY, MEMORY, start);
            let (mut now, mut decayed_at) = (start, start);
            let mut real: HashMap<u32, f64> = HashMap::new();
            for (key, work, after_ms) in requests {
                now += Duration::from_millis(after_ms);
                if now - decayed_at >= DECAY_EVERY {
                    let factor = (-(now - decayed_at).as_secs_f64() / MEMORY.as_secs_f64()).exp();
                    real.values_mut().for_each(|work| *work *= factor);
                    decayed_at = now;
                }
                heavy.add(&key, request(work.into()), now);
                *real.entry(key).or_default() += f64::from(work);
            }
            let total: f64 = real.values().sum();
            // A dropped key and the rounding of floats.
            let bound = total / CAPACITY as f64 + 40.0 * NEGLIGIBLE;
            let seen = rates(&mut heavy, decayed_at);
            prop_assert!(seen.len() <= CAPACITY);
            for (key, work) in real {
                let seen = seen.get(&key).map(|of| of.work_usecs * MEMORY.as_secs_f64());
                prop_assert!(seen.is_some() || work <= bound, "{key} has {work} of {total}");
                let seen = seen.unwrap_or(0.0);
                prop_assert!(seen <= work + 1e-6, "{key}: {seen} of {work} seen");
                prop_assert!(seen >= work - bound, "{key}: {seen} of {work} seen");
            }
        }
    }

    #[test]
    fn names_the_heavy_key_among_a_million_others_in_constant_memory() {
        let now = Instant::now();
        let mut heavy = HeavyHitters::new(CAPACITY, MEMORY, now);
        for key in 0..1_000_000 {
            heavy.add(&key, request(10.0), now);
            if key % 4 == 0 {
                heavy.add(&u32::MAX, request(10.0), now);
            }
        }
        assert_eq!(heavy.slots.len(), CAPACITY);
        let slots_max = heavy.slots.capacity();
        assert!(slots_max <= 2 * CAPACITY, "room for {slots_max} slots");
        let mut half = || heavy.per_second(now);
        let parts = [half(), half()];
        let requests = parts[0].total.requests;
        let both = Heaviest::sum(parts, 1);
        assert_eq!((both.keys.len(), both.keys[0].0), (1, u32::MAX));
        assert_eq!(both.total.requests, 2.0 * requests);
    }

    #[test]
    fn rates_follow_the_last_seconds() {
        let mut now = Instant::now();
        let mut heavy = HeavyHitters::new(CAPACITY, MEMORY, now);
        for _ in 0..40 * 100 {
            now += Duration::from_millis(10);
            heavy.add(&1, request(20.0), now);
        }
        let total = heavy.per_second(now).total;
        let is_near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.05;
        assert!(is_near(total.requests, 100.0), "{total:?}");
        assert!(is_near(total.work_usecs, 2_000.0), "{total:?}");
        // A new key is the heaviest within a second of twice the load.
        for _ in 0..50 {
            now += Duration::from_millis(10);
            heavy.add(&2, request(400.0), now);
        }
        let seen = rates(&mut heavy, now);
        assert!(seen[&2].work_usecs > seen[&1].work_usecs, "{seen:?}");
        assert!(
            rates(&mut heavy, now + 30 * MEMORY).is_empty(),
            "no traffic"
        );
    }
}
