//! Counts of rejected requests, by the limit that rejected them.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Maximum number of limits that are counted, twice the number that the node has. The rejections of
/// further ones are not counted.
const LIMITS_MAX: usize = 64;

/// The rejections of this process.
///
/// They are static because every part of the node rejects requests, and the log, which reports
/// them, is one for the process too.
pub static REJECTIONS: Rejections = Rejections::new();

/// Number of requests that each limit has rejected.
#[derive(Debug)]
pub struct Rejections([Slot; LIMITS_MAX]);

/// A limit with its count. The counts order no other memory, so they are relaxed.
#[derive(Debug)]
struct Slot {
    limit: OnceLock<&'static str>,
    value: AtomicU64,
    count: AtomicU64,
}

/// The rejections of one limit since the start of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectionCount {
    /// Name of the limit: its setting, if it has one.
    pub limit: &'static str,
    /// Value of the limit at the newest rejection, in the unit that its name states.
    pub value: u64,
    /// Number of rejected requests.
    pub count: u64,
}

impl Rejections {
    /// Creates counts without a rejection.
    pub const fn new() -> Self {
        Self(
            [const {
                Slot {
                    limit: OnceLock::new(),
                    value: AtomicU64::new(0),
                    count: AtomicU64::new(0),
                }
            }; LIMITS_MAX],
        )
    }

    /// Counts a request that the limit with this name and value has rejected.
    pub fn record(&self, limit: &'static str, value: u64) {
        // A limit takes the first free slot at its first rejection.
        let slot = self
            .0
            .iter()
            .find(|slot| *slot.limit.get_or_init(|| limit) == limit);
        if let Some(slot) = slot {
            slot.value.store(value, Relaxed);
            slot.count.fetch_add(1, Relaxed);
        }
    }

    /// Returns the counts of the limits that have rejected requests, always in the same order.
    pub fn counts(&self) -> impl Iterator<Item = RejectionCount> {
        self.0.iter().map_while(|slot| {
            Some(RejectionCount {
                limit: slot.limit.get()?,
                value: slot.value.load(Relaxed),
                count: slot.count.load(Relaxed),
            })
        })
    }
}

impl Default for Rejections {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn counts_each_limit_of_concurrent_rejections() {
        let rejections = Rejections::new();
        let names = ["one", "two", "three"];
        thread::scope(|scope| {
            for thread in 0..4 {
                let rejections = &rejections;
                scope.spawn(move || {
                    for number in 0..300 {
                        rejections.record(names[(thread + number) % names.len()], 7);
                    }
                });
            }
        });
        let mut counts: Vec<_> = rejections.counts().collect();
        counts.sort_unstable_by_key(|of| of.limit);
        let of = |limit| RejectionCount {
            limit,
            value: 7,
            count: 400,
        };
        assert_eq!(counts, [of("one"), of("three"), of("two")]);
    }

    #[test]
    fn ignores_limits_beyond_its_capacity() {
        let rejections = Rejections::new();
        for number in 0..2 * LIMITS_MAX {
            rejections.record(Box::leak(number.to_string().into()), 1);
        }
        assert_eq!(rejections.counts().count(), LIMITS_MAX);
    }
}
