//! Latencies as they are printed.

use super::tally::Latencies;
use serde::Serialize;

/// A distribution of latencies, in milliseconds.
#[derive(Debug, Serialize)]
pub struct Quantiles {
    pub count: u64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

impl From<&Latencies> for Quantiles {
    fn from(latencies: &Latencies) -> Self {
        Self {
            count: latencies.count(),
            mean_ms: latencies.mean_ms(),
            p50_ms: latencies.quantile_ms(0.5),
            p90_ms: latencies.quantile_ms(0.9),
            p99_ms: latencies.quantile_ms(0.99),
            p999_ms: latencies.quantile_ms(0.999),
            max_ms: latencies.max_ms(),
        }
    }
}
