//! Counters and gauges, and the declaration of a struct of metrics with its snapshot.

use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

/// A value that threads update concurrently and that is read as a plain one.
pub trait Metric {
    /// Plain value of the metric.
    type Snapshot;

    /// Returns the current value.
    fn snapshot(&self) -> Self::Snapshot;
}

/// A number that only rises until the node restarts.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `amount`.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }
}

impl Metric for Counter {
    type Snapshot = u64;

    fn snapshot(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// An amount that rises and falls.
#[derive(Debug, Default)]
pub struct Gauge(AtomicUsize);

impl Gauge {
    /// Replaces the amount.
    pub fn set(&self, amount: usize) {
        self.0.store(amount, Relaxed);
    }

    /// Replaces the amount if it is lower than `amount`.
    pub fn raise_to(&self, amount: usize) {
        self.0.fetch_max(amount, Relaxed);
    }
}

impl Metric for Gauge {
    type Snapshot = usize;

    fn snapshot(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl<M: Metric, const N: usize> Metric for [M; N] {
    type Snapshot = [M::Snapshot; N];

    fn snapshot(&self) -> [M::Snapshot; N] {
        self.each_ref().map(Metric::snapshot)
    }
}

/// A field of a snapshot that no metric stores, such as a name, a limit or a sum.
///
/// The struct of metrics spends no memory on it. [`Metric::snapshot`] returns its default value,
/// which the caller replaces: `Snapshot { name, ..metrics.snapshot() }`.
#[derive(Debug, Default)]
pub struct Computed<T>(PhantomData<fn() -> T>);

impl<T: Default> Metric for Computed<T> {
    type Snapshot = T;

    fn snapshot(&self) -> T {
        T::default()
    }
}

/// Declares a struct of metrics and the struct of their plain values.
///
/// Each field names the type of its [`Metric`]. The snapshot has the same fields with the types of
/// [`Metric::Snapshot`], in the same order, with their visibility and attributes. The struct of
/// metrics implements `Debug`, `Default` and [`Metric`]; all its fields have its own visibility.
///
/// ```
/// use ledger_metrics::{Computed, Counter, Metric, SizeRecorder, counters};
///
/// counters! {
///     /// Metrics of a cache, updated by all threads.
///     struct CacheMetrics;
///
///     /// Snapshot of a cache.
///     #[derive(Debug)]
///     pub struct CacheStatus {
///         /// Maximum number of entries.
///         pub capacity: Computed<usize>,
///         /// Look-ups that found an entry.
///         pub hits: Counter,
///         /// Size of each inserted entry, in bytes.
///         pub entry_bytes: SizeRecorder,
///     }
/// }
///
/// let metrics = CacheMetrics::default();
/// metrics.hits.increment();
/// let status = CacheStatus { capacity: 10, ..metrics.snapshot() };
/// assert_eq!((status.capacity, status.hits, status.entry_bytes.count()), (10, 1, 0));
/// ```
#[macro_export]
macro_rules! counters {
    (
        $(#[$metrics_attribute:meta])*
        $metrics_visibility:vis struct $metrics:ident;

        $(#[$snapshot_attribute:meta])*
        $snapshot_visibility:vis struct $snapshot:ident {
            $(
                $(#[$field_attribute:meta])*
                $field_visibility:vis $field:ident: $metric:ty,
            )+
        }
    ) => {
        $(#[$metrics_attribute])*
        #[derive(Debug, Default)]
        $metrics_visibility struct $metrics {
            $(
                #[doc = concat!("See [`", stringify!($snapshot), "::", stringify!($field), "`].")]
                $metrics_visibility $field: $metric,
            )+
        }

        $(#[$snapshot_attribute])*
        $snapshot_visibility struct $snapshot {
            $(
                $(#[$field_attribute])*
                $field_visibility $field: <$metric as $crate::Metric>::Snapshot,
            )+
        }

        impl $crate::Metric for $metrics {
            type Snapshot = $snapshot;

            fn snapshot(&self) -> $snapshot {
                $snapshot {
                    $($field: $crate::Metric::snapshot(&self.$field),)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeRecorder;
    use serde::Serialize;
    use std::mem::size_of;

    counters! {
        /// Metrics of a cache.
        pub(super) struct CacheMetrics;

        /// Snapshot of a cache.
        #[derive(Debug, Serialize)]
        pub struct CacheStatus {
            /// Name of the cache.
            pub name: Computed<&'static str>,
            /// Look-ups that found an entry.
            pub hits: Counter,
            /// Number of entries.
            pub entries: Gauge,
            /// Size of each inserted entry, in bytes.
            #[serde(rename = "bytes")]
            pub entry_bytes: SizeRecorder,
        }
    }

    #[test]
    fn snapshots_each_metric_in_the_order_of_the_declaration() {
        let metrics = CacheMetrics::default();
        metrics.hits.increment();
        metrics.hits.add(2);
        metrics.entries.set(5);
        metrics.entry_bytes.record(3);
        let status = CacheStatus {
            name: "blocks",
            ..metrics.snapshot()
        };
        assert_eq!(
            serde_json::to_string(&status).unwrap(),
            r#"{"name":"blocks","hits":3,"entries":5,"bytes":[{"at_most":4,"count":1}]}"#
        );
    }

    #[test]
    fn raises_a_gauge_but_does_not_lower_it() {
        let gauge = Gauge::default();
        for (amount, expected) in [(2, 2), (1, 2), (3, 3)] {
            gauge.raise_to(amount);
            assert_eq!(gauge.snapshot(), expected);
        }
        gauge.set(1);
        assert_eq!(gauge.snapshot(), 1);
    }

    #[test]
    fn stores_nothing_for_a_computed_field() {
        assert_eq!(size_of::<Computed<String>>(), 0);
        assert_eq!(Computed::<usize>::default().snapshot(), 0);
    }
}
