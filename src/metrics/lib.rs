//! Metrics of a running node, which are always on.
//!
//! | metric | plain value |
//! |---|---|
//! | [`Counter`] | total since the start |
//! | [`Gauge`] | amount that rises and falls |
//! | [`DurationRecorder`], [`SizeRecorder`] | [`Histogram`] |
//! | [`BusyRatio`] | share of the last 8.6 s that was spent on work |
//!
//! [`counters!`] declares a struct of metrics together with the struct of their values.
//!
//! An update is at most a few relaxed atomic operations: it takes no lock and allocates nothing.
//! Metrics order no other memory. A snapshot reads one metric after another, so it may contain part
//! of an update that is in progress.

mod busy_ratio;
mod counters;
mod histogram;

pub use busy_ratio::BusyRatio;
pub use counters::{Computed, Counter, Gauge, Metric};
pub use histogram::{DurationRecorder, Histogram, SizeRecorder};
