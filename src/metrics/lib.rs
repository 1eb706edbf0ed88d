//! Metrics of a running node, which are always on.
//!
//! | module | metric | plain value |
//! |---|---|---|
//! | `counters` | [`Counter`] | total since the start |
//! | | [`Gauge`] | amount that rises and falls |
//! | | [`Computed`] | value that the caller adds to a snapshot |
//! | `histogram` | [`DurationRecorder`], [`SizeRecorder`] | [`Histogram`] |
//! | `busy_ratio` | [`BusyRatio`] | share of the last 8.6 s that was spent on work |
//! | `heavy_hitters` | [`HeavyHitters`] | the keys with the most work in the last seconds |
//!
//! [`counters!`] declares a struct of metrics and the struct of their values. The trait [`Metric`]
//! returns the values. `config/metrics.md` lists the metrics of a node.
//!
//! # Rules
//!
//! * An update is at most a few relaxed atomic operations: it takes no lock and allocates nothing.
//!   [`HeavyHitters`] has an owner, which updates it for a sample of the requests only.
//! * Metrics order no other memory.
//! * A snapshot reads one metric after another, so it may contain part of an update that is in
//!   progress.
//!
//! # Example
//!
//! ```
//! use ledger_metrics::{Counter, DurationRecorder, Metric, counters};
//! use std::time::Duration;
//!
//! counters! {
//!     /// Metrics of a queue, updated by all threads.
//!     struct QueueMetrics;
//!
//!     /// Snapshot of a queue.
//!     pub struct QueueStatus {
//!         /// Jobs that ended.
//!         pub ended: Counter,
//!         /// Duration of each job.
//!         pub duration: DurationRecorder,
//!     }
//! }
//!
//! let metrics = QueueMetrics::default();
//! metrics.ended.increment();
//! metrics.duration.record(Duration::from_micros(250));
//! let status: QueueStatus = metrics.snapshot();
//! assert_eq!((status.ended, status.duration.count()), (1, 1));
//! ```

mod busy_ratio;
mod counters;
mod heavy_hitters;
mod histogram;

pub use busy_ratio::BusyRatio;
pub use counters::{Computed, Counter, Gauge, Metric};
pub use heavy_hitters::{Heaviest, HeavyHitters, Traffic};
pub use histogram::{DurationRecorder, Histogram, SizeRecorder};
