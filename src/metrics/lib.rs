//! What is measured of a running node.

mod busy_ratio;
mod histogram;

pub use busy_ratio::BusyRatio;
pub use histogram::{DurationRecorder, Histogram, SizeRecorder};

use std::time::Duration;

/// Nanoseconds, as many as fit.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
