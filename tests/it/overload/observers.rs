//! Observers of a node during an overload: of its health check, and of its actors on the admin
//! listener.

use crate::kit::{HttpClient, TestNode};
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
    is_over: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Series>>,
}

/// The observations of one observer.
#[derive(Debug)]
struct Series {
    name: &'static str,
    latencies: Vec<Duration>,
    /// Number of requests without a response of status 200.
    failed: usize,
}

/// The observations of both observers.
#[derive(Debug)]
pub struct Observations(Vec<Series>);

impl Observers {
    /// Starts both observers.
    pub fn start(node: &TestNode) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let urls = [
            ("health", format!("{}/v1/-/healthy", node.api)),
            ("admin", format!("{}/actors", node.admin)),
        ];
        let tasks = urls.map(|(name, url)| tokio::spawn(observe(name, url, Arc::clone(&is_over))));
        Self {
            is_over,
            tasks: tasks.into(),
        }
    }

    /// Stops both observers and returns their observations.
    pub async fn stop(self) -> Observations {
        self.is_over.store(true, SeqCst);
        let mut all_series = Vec::new();
        for task in self.tasks {
            all_series.push(task.await.unwrap());
        }
        Observations(all_series)
    }
}

/// Sends requests, each over a connection of its own like those of a supervisor.
async fn observe(name: &'static str, url: String, is_over: Arc<AtomicBool>) -> Series {
    let mut series = Series {
        name,
        latencies: Vec::new(),
        failed: 0,
    };
    while !is_over.load(SeqCst) {
        let http = HttpClient::new();
        let start = Instant::now();
        match http.try_send(http.request(Method::GET, &url)).await {
            Some(response) if response.status == 200 => series.latencies.push(start.elapsed()),
            _ => series.failed += 1,
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
            .all(|series| series.failed == 0 && !series.latencies.is_empty())
    }

    /// Returns the latency of the slowest response.
    pub fn slowest(&self) -> Duration {
        let all = self.0.iter().flat_map(|series| &series.latencies);
        all.max().copied().unwrap_or_default()
    }

    /// Returns the figures as text.
    pub fn line(&self) -> String {
        let words = self.0.iter().map(|series| {
            let slowest = series.latencies.iter().max().copied().unwrap_or_default();
            format!(
                "{}: {} of {} requests answered, slowest {} ms",
                series.name,
                series.latencies.len(),
                series.latencies.len() + series.failed,
                slowest.as_millis()
            )
        });
        words.collect::<Vec<_>>().join("; ")
    }
}
