//! Histograms of durations and sizes.
//!
//! The bounds of the buckets are powers of two. One instruction finds the bucket of a value, and
//! the range suits any machine without a choice of bounds.

use crate::Metric;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Number of buckets with an upper bound: 1, 2, 4, ... 2^24, which is 16.8 s in microseconds. One
/// more bucket counts all larger values.
const BOUNDED_BUCKETS: usize = 25;

/// The atomic counts behind a [`Histogram`].
#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BOUNDED_BUCKETS + 1],
    sum: AtomicU64,
}

impl Buckets {
    /// Counts a value. `units` is the value in the unit of the bounds, `sum` in the unit of the
    /// sum.
    fn record(&self, units: u64, sum: u64) {
        let bits = u64::BITS - units.saturating_sub(1).leading_zeros();
        let bucket = (bits as usize).min(BOUNDED_BUCKETS);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum.fetch_add(sum, Relaxed);
    }
}

impl Metric for Buckets {
    type Snapshot = Histogram;

    fn snapshot(&self) -> Histogram {
        Histogram {
            counts: self.counts.each_ref().map(|count| count.load(Relaxed)),
            sum: self.sum.load(Relaxed),
        }
    }
}

/// A recorder of durations. Its [`Histogram`] has bounds in microseconds and a sum in nanoseconds.
#[derive(Debug, Default)]
pub struct DurationRecorder(Buckets);

impl DurationRecorder {
    /// Records a duration.
    pub fn record(&self, duration: Duration) {
        let nanos = nanos(duration);
        self.0.record(nanos.div_ceil(1_000), nanos);
    }
}

impl Metric for DurationRecorder {
    type Snapshot = Histogram;

    fn snapshot(&self) -> Histogram {
        self.0.snapshot()
    }
}

/// A recorder of sizes, such as the number of transactions in a block.
#[derive(Debug, Default)]
pub struct SizeRecorder(Buckets);

impl SizeRecorder {
    /// Records a size.
    pub fn record(&self, size: usize) {
        let size = size as u64;
        self.0.record(size, size);
    }
}

impl Metric for SizeRecorder {
    type Snapshot = Histogram;

    fn snapshot(&self) -> Histogram {
        self.0.snapshot()
    }
}

/// The recorded values: their number by bucket, and their sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BOUNDED_BUCKETS + 1],
    sum: u64,
}

impl Histogram {
    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of all values, in nanoseconds if they are durations.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns the values that were recorded after `earlier`, a snapshot of the same recorder.
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = std::array::from_fn(|bucket| {
            // Counts that a snapshot reads while they rise may be behind by a few.
            self.counts[bucket].saturating_sub(earlier.counts[bucket])
        });
        Self {
            counts,
            sum: self.sum.saturating_sub(earlier.sum),
        }
    }

    /// Returns the value that a share of `permille` thousandths of the values does not exceed, or
    /// `None` without values.
    ///
    /// The values of a bucket count as evenly spread over it, so the result is within a factor of
    /// two. Values above all bounds count as the largest bound.
    pub fn quantile(&self, permille: u64) -> Option<u64> {
        let count = self.count();
        let rank = count.saturating_mul(permille).div_ceil(1_000).max(1);
        let mut below = (0, 0);
        for (bound, cumulative) in self.cumulative_counts() {
            let (lower, before) = below;
            if cumulative >= rank {
                let part = (rank - before) as f64 / (cumulative - before) as f64;
                return Some(lower + ((bound - lower) as f64 * part).round() as u64);
            }
            below = (bound, cumulative);
        }
        (count > 0).then_some(below.0)
    }

    /// Returns each bound in ascending order, with the number of values that do not exceed it.
    /// Bounds of durations are in microseconds.
    pub fn cumulative_counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut cumulative = 0;
        self.counts[..BOUNDED_BUCKETS]
            .iter()
            .enumerate()
            .map(move |(bucket, count)| {
                cumulative += count;
                (1 << bucket, cumulative)
            })
    }
}

impl Serialize for Histogram {
    /// Serializes the buckets that are not empty, each with its own count. `at_most` is the bound,
    /// or null for the bucket without one.
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

/// Returns a duration in nanoseconds, or `u64::MAX` if it is longer.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the histogram of `sizes`.
    fn histogram_of(sizes: &[usize]) -> Histogram {
        let recorder = SizeRecorder::default();
        for &size in sizes {
            recorder.record(size);
        }
        recorder.snapshot()
    }

    #[test]
    fn counts_a_value_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        for (size, bound) in [
            (0, 1),
            (1, 1),
            (2, 2),
            (3, 4),
            (4, 4),
            (5, 8),
            (1 << 24, 1 << 24),
        ] {
            let histogram = histogram_of(&[size]);
            let counted: Vec<_> = histogram
                .cumulative_counts()
                .filter(|(_, count)| *count == 1)
                .collect();
            assert_eq!(counted.first(), Some(&(bound, 1)), "{size}");
            assert_eq!(
                counted.last(),
                Some(&(1 << 24, 1)),
                "{size}: counts are cumulative"
            );
            assert_eq!((histogram.count(), histogram.sum()), (1, size as u64));
        }
        let above_all_bounds = histogram_of(&[(1 << 24) + 1]);
        assert!(
            above_all_bounds
                .cumulative_counts()
                .all(|(_, count)| count == 0)
        );
        assert_eq!(above_all_bounds.count(), 1);
    }

    #[test]
    fn rounds_durations_up_to_bounds_and_sums_them_exactly() {
        let recorder = DurationRecorder::default();
        for nanos in [999, 1_000, 1_001, 2_000] {
            recorder.record(Duration::from_nanos(nanos));
        }
        assert_eq!(recorder.snapshot().sum(), 5_000);
        recorder.record(Duration::MAX);
        let histogram = recorder.snapshot();
        let counts: Vec<_> = histogram.cumulative_counts().take(3).collect();
        assert_eq!(counts, [(1, 2), (2, 4), (4, 4)]);
        assert_eq!(histogram.count(), 5);
    }

    #[test]
    fn subtracts_the_values_of_an_earlier_snapshot() {
        let recorder = SizeRecorder::default();
        for size in [1, 4] {
            recorder.record(size);
        }
        let earlier = recorder.snapshot();
        for size in [4, 100] {
            recorder.record(size);
        }
        assert_eq!(recorder.snapshot().since(&earlier), histogram_of(&[4, 100]));
        assert_eq!(earlier.since(&recorder.snapshot()).count(), 0);
    }

    #[test]
    fn finds_quantiles_within_their_buckets() {
        assert_eq!(histogram_of(&[]).quantile(500), None);
        let spread = histogram_of(&(1..=1_000).collect::<Vec<_>>());
        for (permille, exact) in [(0, 1), (500, 500), (990, 990), (1_000, 1_000)] {
            let found = spread.quantile(permille).unwrap();
            assert!(
                found.abs_diff(exact) <= exact / 20 + 1,
                "{permille}: {found}"
            );
        }
        let above_all_bounds = histogram_of(&[1 << 30]);
        assert_eq!(above_all_bounds.quantile(500), Some(1 << 24));
    }

    #[test]
    fn serializes_buckets_that_are_not_empty() {
        assert_eq!(
            serde_json::to_string(&histogram_of(&[3, 4, 1 << 25])).unwrap(),
            r#"[{"at_most":4,"count":2},{"at_most":null,"count":1}]"#
        );
    }
}
