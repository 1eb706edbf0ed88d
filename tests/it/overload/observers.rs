//! Who looks after a node while it is overloaded: at its health, and at its actors on the operator's listener.

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

/// Between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// Both observers, at work.
pub struct Observers {
    over: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Course>>,
}

/// What one of them saw.
#[derive(Debug)]
struct Course {
    name: &'static str,
    answered: Vec<Duration>,
    /// Looks without an answer of status 200.
    failed: usize,
}

/// What both saw.
#[derive(Debug)]
pub struct Seen(Vec<Course>);

impl Observers {
    pub fn start(node: &TestNode) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let urls = [
            ("health", format!("{}/v1/-/healthy", node.api)),
            ("admin", format!("{}/actors", node.admin)),
        ];
        let tasks = urls.map(|(name, url)| tokio::spawn(look(name, url, Arc::clone(&over))));
        Self {
            over,
            tasks: tasks.into(),
        }
    }

    pub async fn stop(self) -> Seen {
        self.over.store(true, SeqCst);
        let mut courses = Vec::new();
        for task in self.tasks {
            courses.push(task.await.unwrap());
        }
        Seen(courses)
    }
}

/// Each look is a connection of its own, as those of a supervisor are.
async fn look(name: &'static str, url: String, over: Arc<AtomicBool>) -> Course {
    let mut course = Course {
        name,
        answered: Vec::new(),
        failed: 0,
    };
    while !over.load(SeqCst) {
        let http = HttpClient::new();
        let begun = Instant::now();
        match http.try_send(http.request(Method::GET, &url)).await {
            Some(answer) if answer.status == 200 => course.answered.push(begun.elapsed()),
            _ => course.failed += 1,
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    course
}

impl Seen {
    /// Whether both were always answered.
    pub fn all_answered(&self) -> bool {
        self.0
            .iter()
            .all(|course| course.failed == 0 && !course.answered.is_empty())
    }

    /// The slowest answer.
    pub fn slowest(&self) -> Duration {
        let all = self.0.iter().flat_map(|course| &course.answered);
        all.max().copied().unwrap_or_default()
    }

    /// The figures.
    pub fn line(&self) -> String {
        let words = self.0.iter().map(|course| {
            let slowest = course.answered.iter().max().copied().unwrap_or_default();
            format!(
                "{}: {} of {} looks answered, slowest {} ms",
                course.name,
                course.answered.len(),
                course.answered.len() + course.failed,
                slowest.as_millis()
            )
        });
        words.collect::<Vec<_>>().join("; ")
    }
}
