//! Observers of a node during an overload, such as one that requests the health check.

use ledger_client::load::{LatencyHistogram, LatencySummary};
use ledger_test_support::http::HttpClient;
use reqwest::Method;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Pause between two requests of an observer.
const REQUEST_PAUSE: Duration = Duration::from_millis(20);

/// The observations of one observer.
#[derive(Debug)]
pub struct Series {
    name: &'static str,
    /// Latencies of responses with status 200.
    latencies: LatencyHistogram,
    /// Number of requests without a response of status 200.
    failed_count: u64,
}

/// Sends requests until `is_over`. Each request opens a new connection, as the health check of a
/// supervisor does.
pub async fn observe(name: &'static str, url: String, is_over: &Cell<bool>) -> Series {
    let mut series = Series {
        name,
        latencies: LatencyHistogram::default(),
        failed_count: 0,
    };
    while !is_over.get() {
        let http = HttpClient::new();
        let start = Instant::now();
        match http.try_send(http.request(Method::GET, &url)).await {
            Some(response) if response.status == 200 => series.latencies.record(start.elapsed()),
            _ => series.failed_count += 1,
        }
        tokio::time::sleep(REQUEST_PAUSE).await;
    }
    series
}

impl Series {
    /// Returns whether every request got status 200.
    pub fn all_succeeded(&self) -> bool {
        self.failed_count == 0 && LatencySummary::from(&self.latencies).count > 0
    }

    /// Returns the latency of the slowest response, or 0 if there is none.
    pub fn slowest_ms(&self) -> f64 {
        LatencySummary::from(&self.latencies).max_ms
    }

    /// Returns one line with the number of requests and the maximum latency.
    pub fn line(&self) -> String {
        let LatencySummary { count, max_ms, .. } = (&self.latencies).into();
        let requests = count + self.failed_count;
        let name = self.name;
        format!("{name}: {count} of {requests} requests answered, slowest {max_ms:.0} ms")
    }
}
