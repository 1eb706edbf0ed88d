//! Latencies, and the summary of them that reports show.

use hdrhistogram::Histogram;
use serde::Serialize;
use std::time::Duration;

/// Maximum latency that is distinguished, in microseconds: ten minutes.
const LATENCY_MAX_MICROS: u64 = 600_000_000;

/// Significant decimal digits of a recorded latency.
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of latencies.
#[derive(Debug)]
pub struct LatencyHistogram(Histogram<u64>);

impl Default for LatencyHistogram {
    fn default() -> Self {
        let histogram = Histogram::new_with_max(LATENCY_MAX_MICROS, SIGNIFICANT_DIGITS);
        Self(histogram.expect("the bounds are valid"))
    }
}

impl LatencyHistogram {
    /// Records a latency. Those above the maximum count as the maximum.
    pub fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros);
    }

    /// Adds the latencies of another histogram.
    pub(super) fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// Returns the latency, in milliseconds, that this share of all latencies does not exceed.
    fn quantile_ms(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1e3
    }
}

/// A summary of a histogram, as reports show it. Latencies are in milliseconds.
#[derive(Debug, Serialize)]
pub struct LatencySummary {
    /// Number of latencies.
    pub count: u64,
    /// The mean.
    pub mean_ms: f64,
    /// The median.
    pub p50_ms: f64,
    /// The 90th percentile.
    pub p90_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The 99.9th percentile.
    pub p999_ms: f64,
    /// The maximum.
    pub max_ms: f64,
}

impl From<&LatencyHistogram> for LatencySummary {
    fn from(latencies: &LatencyHistogram) -> Self {
        Self {
            count: latencies.0.len(),
            mean_ms: latencies.0.mean() / 1e3,
            p50_ms: latencies.quantile_ms(0.5),
            p90_ms: latencies.quantile_ms(0.9),
            p99_ms: latencies.quantile_ms(0.99),
            p999_ms: latencies.quantile_ms(0.999),
            max_ms: latencies.0.max() as f64 / 1e3,
        }
    }
}
