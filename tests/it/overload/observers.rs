//! Observers of a node during an overload. One requests the health check, the other the state of
//! the actors on the admin listener.

use ledger_test_support::{http::HttpClient, node::TestNode};
use reqwest::Method;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Pause between two requests of an observer.
const REQUEST_PAUSE: Duration = Duration::from_millis(20);

/// Two running observers.
pub struct Observers {
    is_stopped: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Series>>,
}

/// The observations of one observer.
#[derive(Debug)]
struct Series {
    name: &'static str,
    /// Latencies of responses with status 200, in the order of their requests.
    latencies: Vec<Duration>,
    /// Number of requests without a response of status 200.
    failed_count: usize,
}

/// The observations of both observers.
#[derive(Debug)]
pub struct Observations(Vec<Series>);

impl Observers {
    /// Starts both observers.
    pub fn start(node: &TestNode) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let urls = [
            ("health", format!("{}/v1/-/healthy", node.api)),
            ("admin", format!("{}/actors", node.admin)),
        ];
        let tasks =
            urls.map(|(name, url)| tokio::spawn(observe(name, url, Arc::clone(&is_stopped))));
        Self {
            is_stopped,
            tasks: tasks.into(),
        }
    }

    /// Stops both observers and returns their observations.
    pub async fn stop(self) -> Observations {
        self.is_stopped.store(true, SeqCst);
        let mut all_series = Vec::new();
        for task in self.tasks {
            all_series.push(task.await.unwrap());
        }
        Observations(all_series)
    }
}

/// Sends requests until the observers are stopped. Each request opens a new connection, as the
/// health check of a supervisor does.
async fn observe(name: &'static str, url: String, is_stopped: Arc<AtomicBool>) -> Series {
    let mut series = Series {
        name,
        latencies: Vec::new(),
        failed_count: 0,
    };
    while !is_stopped.load(SeqCst) {
        let http = HttpClient::new();
        let start = Instant::now();
        match http.try_send(http.request(Method::GET, &url)).await {
            Some(response) if response.status == 200 => series.latencies.push(start.elapsed()),
            _ => series.failed_count += 1,
        }
        tokio::time::sleep(REQUEST_PAUSE).await;
    }
    series
}

impl Observations {
    /// Returns whether every request of both observers got status 200.
    pub fn all_succeeded(&self) -> bool {
        self.0
            .iter()
            .all(|series| series.failed_count == 0 && !series.latencies.is_empty())
    }

    /// Returns the latency of the slowest response, or 0 if there is none.
    pub fn slowest(&self) -> Duration {
        let all = self.0.iter().flat_map(|series| &series.latencies);
        all.max().copied().unwrap_or_default()
    }

    /// Returns one line with the number of requests and the maximum latency of each observer.
    pub fn line(&self) -> String {
        let parts = self.0.iter().map(|series| {
            let slowest = series.latencies.iter().max().copied().unwrap_or_default();
            format!(
                "{}: {} of {} requests answered, slowest {} ms",
                series.name,
                series.latencies.len(),
                series.latencies.len() + series.failed_count,
                slowest.as_millis()
            )
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}
