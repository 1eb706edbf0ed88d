//! How often something took how long, or had which size: counted in buckets whose bounds double, so that
//! finding the bucket is one instruction and none has to be chosen for a machine.

use crate::nanos;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// How many buckets have a bound: 1, 2, 4, ... 2^24. In microseconds that reaches 16.8 s. One more takes all
/// that is larger.
const BOUNDED_BUCKETS: usize = 25;

/// The counters.
#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BOUNDED_BUCKETS + 1],
    sum: AtomicU64,
}

impl Buckets {
    fn record(&self, units: u64, sum: u64) {
        let bits = u64::BITS - units.saturating_sub(1).leading_zeros();
        let bucket = (bits as usize).min(BOUNDED_BUCKETS);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum.fetch_add(sum, Relaxed);
    }

    fn read(&self) -> Histogram {
        Histogram {
            counts: self.counts.each_ref().map(|count| count.load(Relaxed)),
            sum: self.sum.load(Relaxed),
        }
    }
}

/// Counts how long something took, each time; its distribution has bounds in microseconds and its sum in
/// nanoseconds.
#[derive(Debug, Default)]
pub struct DurationRecorder(Buckets);

impl DurationRecorder {
    /// One more.
    pub fn record(&self, took: Duration) {
        let nanos = nanos(took);
        self.0.record(nanos.div_ceil(1_000), nanos);
    }

    /// What was counted until now.
    pub fn read(&self) -> Histogram {
        self.0.read()
    }
}

/// Counts sizes, each time one.
#[derive(Debug, Default)]
pub struct SizeRecorder(Buckets);

impl SizeRecorder {
    /// One more.
    pub fn record(&self, size: usize) {
        let size = size as u64;
        self.0.record(size, size);
    }

    /// What was counted until now.
    pub fn read(&self) -> Histogram {
        self.0.read()
    }
}

/// What was counted in buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BOUNDED_BUCKETS + 1],
    sum: u64,
}

impl Histogram {
    /// How often.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all; of times in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The buckets with a bound, from the lowest on: the bound, and how many were at most that. Bounds of times
    /// are in microseconds.
    pub fn cumulative_counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut below = 0;
        self.counts[..BOUNDED_BUCKETS]
            .iter()
            .enumerate()
            .map(move |(bucket, count)| {
                below += count;
                (1 << bucket, below)
            })
    }
}

impl Serialize for Histogram {
    /// The buckets that are not empty, each with its own count; `at_most` is null in the last.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Bucket {
            at_most: Option<u64>,
            count: u64,
        }
        let mut buckets = serializer.serialize_seq(None)?;
        for (bucket, &count) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let at_most = (bucket < BOUNDED_BUCKETS).then(|| 1 << bucket);
            buckets.serialize_element(&Bucket { at_most, count })?;
        }
        buckets.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lies_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        for (size, bound) in [
            (0, 1),
            (1, 1),
            (2, 2),
            (3, 4),
            (4, 4),
            (5, 8),
            (1 << 24, 1 << 24),
        ] {
            let sizes = SizeRecorder::default();
            sizes.record(size);
            let at_most: Vec<_> = sizes
                .read()
                .cumulative_counts()
                .filter(|(_, count)| *count == 1)
                .collect();
            assert_eq!(at_most.first(), Some(&(bound, 1)), "{size}");
            assert_eq!(
                at_most.last(),
                Some(&(1 << 24, 1)),
                "{size}: counts go on upwards"
            );
            assert_eq!((sizes.read().count(), sizes.read().sum()), (1, size as u64));
        }
        let beyond = SizeRecorder::default();
        beyond.record((1 << 24) + 1);
        assert!(
            beyond
                .read()
                .cumulative_counts()
                .all(|(_, count)| count == 0)
        );
        assert_eq!(beyond.read().count(), 1);
    }

    #[test]
    fn times_are_rounded_up_to_bounds_and_summed_exactly() {
        let times = DurationRecorder::default();
        for nanos in [999, 1_000, 1_001, 2_000] {
            times.record(Duration::from_nanos(nanos));
        }
        times.record(Duration::MAX);
        let read = times.read();
        let counts: Vec<_> = read.cumulative_counts().take(3).collect();
        assert_eq!(counts, [(1, 2), (2, 4), (4, 4)]);
        assert_eq!(read.count(), 5);
        let exact = DurationRecorder::default();
        exact.record(Duration::from_nanos(1_001));
        exact.record(Duration::from_nanos(1));
        assert_eq!(exact.read().sum(), 1_002);
    }

    #[test]
    fn it_is_shown_without_empty_buckets() {
        let sizes = SizeRecorder::default();
        for size in [3, 4, 1 << 25] {
            sizes.record(size);
        }
        assert_eq!(
            serde_json::to_string(&sizes.read()).unwrap(),
            r#"[{"at_most":4,"count":2},{"at_most":null,"count":1}]"#
        );
    }
}
