//! The task that takes a snapshot once per second, and the handle to its results.
//!
//! It runs on the thread `main`, which has little else to do, always: a chart shows the time
//! before it was opened. A snapshot is serialized at the first request for it, once for all.

use super::{
    edges,
    executions::Executions,
    history,
    history::{Rejected, Ring},
    limit::{self, Window},
    reading::{Reading, Sources},
    series,
    snapshot::{History, Limit, Rejection, Snapshot},
    stages::{Interval, rounded},
};
use actix_web::web::Bytes;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Time between two snapshots.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Number of snapshots in the window of the limiting stage. So the name follows a change of the
/// load within seconds, and not every pause of a client.
const WINDOW_SNAPSHOTS: usize = 5;

/// First and last bytes of a server-sent event, around the JSON, which has no line end.
const EVENT_START: &[u8] = b"event: snapshot\ndata: ";
const EVENT_END: &[u8] = b"\n\n";

/// A snapshot that was published, with its JSON.
#[derive(Debug)]
pub struct Published {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The JSON within an event, once a client has requested it.
    event: OnceLock<Bytes>,
}

impl Published {
    fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            event: OnceLock::new(),
        }
    }

    /// Returns the snapshot as a server-sent event. All clients share its memory.
    pub fn event(&self) -> Bytes {
        let event = self.event.get_or_init(|| {
            // No value of a snapshot can fail to be serialized.
            let json = serde_json::to_vec(&self.snapshot).unwrap_or_default();
            [EVENT_START, &json, EVENT_END].concat().into()
        });
        event.clone()
    }

    /// Returns the snapshot in JSON.
    pub fn json(&self) -> Bytes {
        let event = self.event();
        event.slice(EVENT_START.len()..event.len() - EVENT_END.len())
    }
}

/// The handle to the snapshots of a node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Observer {
    published: watch::Receiver<Arc<Published>>,
    history: Arc<Mutex<Ring>>,
}

impl Observer {
    /// Returns the newest snapshot.
    pub fn newest(&self) -> Arc<Published> {
        Arc::clone(&self.published.borrow())
    }

    /// Returns a receiver that is notified of each snapshot.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Published>> {
        self.published.clone()
    }

    /// Returns the snapshots that are younger than `since_ms` of uptime, in at most `points_max`
    /// points.
    pub fn history(&self, since_ms: u64, points_max: usize) -> History {
        let ring = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        ring.since(since_ms, points_max.min(history::SNAPSHOTS_MAX))
    }

    /// Returns what a run-time setting has rejected in the newest 15 minutes, in the snapshots that
    /// began after a time of the system clock. `stages` are those whose threads are behind it.
    pub fn rejected(&self, limit: &str, since_unix_ms: u64, stages: &[&str]) -> Option<Rejected> {
        let ring = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        // The snapshot during which the setting changed has rejections of the old value.
        let began_ms = since_unix_ms.saturating_add(2 * millis(SAMPLE_INTERVAL));
        ring.rejected(limit, began_ms, stages)
    }
}

/// The task that takes the snapshots. It ends when this is dropped.
#[derive(Debug)]
pub struct Sampler(JoinHandle<()>);

impl Sampler {
    /// Starts the task on the calling thread. The first snapshot, which exists when this returns,
    /// has no rates.
    pub fn start(sources: Sources) -> (Self, Observer) {
        let mut samples = Samples::new(sources);
        let mut ring = Ring::new();
        let first = samples.take();
        ring.push(&first);
        let (sender, published) = watch::channel(Arc::new(Published::new(first)));
        let history = Arc::new(Mutex::new(ring));
        let observer = Observer {
            published,
            history: Arc::clone(&history),
        };
        let task = actix_web::rt::spawn(async move {
            let mut ticks = interval(SAMPLE_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            // The first tick is immediate.
            ticks.tick().await;
            loop {
                ticks.tick().await;
                let snapshot = samples.take();
                let mut ring = history.lock().unwrap_or_else(PoisonError::into_inner);
                ring.push(&snapshot);
                drop(ring);
                sender.send_replace(Arc::new(Published::new(snapshot)));
            }
        });
        (Self(task), observer)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The readings of a window, the oldest first, and what was decided from the earlier ones.
struct Samples {
    sources: Sources,
    started: Instant,
    sequence: u64,
    /// As many as the snapshots of a window: the newest reading ends the last one.
    readings: VecDeque<Reading>,
    limit: Option<NamedLimit>,
    executions: Executions,
}

/// A limit, and since when it is named.
struct NamedLimit {
    limit: Limit,
    since: Instant,
}

impl Samples {
    fn new(sources: Sources) -> Self {
        Self {
            executions: Executions::new(&sources),
            sources,
            started: Instant::now(),
            sequence: 0,
            readings: VecDeque::with_capacity(WINDOW_SNAPSHOTS),
            limit: None,
        }
    }

    /// Takes a reading, and returns the snapshot since the one before, or since itself for the
    /// first one.
    fn take(&mut self) -> Snapshot {
        let now = Reading::take(&self.sources);
        self.executions.record(&self.sources);
        let limit = self.find_limit(&now);
        let before = self.readings.back().unwrap_or(&now);
        let interval = Interval::new(&self.sources, before, &now);
        let stages = interval.stages();
        self.sequence += 1;
        let snapshot = Snapshot {
            sequence: self.sequence,
            uptime_ms: millis(now.at.duration_since(self.started)),
            unix_ms: now.unix_ms,
            interval_ms: millis(interval.length),
            height: now.height,
            version: now.version,
            limit: Limit {
                since_ms: millis(now.at.duration_since(limit.since)),
                ..limit.limit.clone()
            },
            processor: interval.processor(),
            edges: edges::edges(&interval, &stages),
            series: series::values(&interval),
            rejections: rejections(&interval),
            stages,
            threads: interval.groups,
        };
        self.limit = Some(limit);
        if self.readings.len() == WINDOW_SNAPSHOTS {
            self.readings.pop_front();
        }
        self.readings.push_back(now);
        snapshot
    }

    /// Returns the limit of the window that ends with the reading `now`.
    fn find_limit(&self, now: &Reading) -> NamedLimit {
        let oldest = self.readings.front().unwrap_or(now);
        let interval = Interval::new(&self.sources, oldest, now);
        let mut stages = interval.stages();
        // An actor's queue counts as never empty if no reading of the window found it empty.
        for stage in &mut stages {
            let was_empty = |reading: &Reading| {
                let mut all = reading.mailboxes.iter();
                all.any(|of| of.actor == stage.name && of.depth == 0)
            };
            if let Some(queue) = &mut stage.queue {
                queue.was_never_empty &= !self.readings.iter().chain([now]).any(was_empty);
            }
        }
        let window = Window {
            stages: &stages,
            processor: interval.processor(),
            threads: &interval.groups,
            rejections: &rejections(&interval),
        };
        let named = self.limit.as_ref();
        let limit = limit::find(window, named.map(|named| &named.limit));
        let is_same = |named: &&NamedLimit| {
            (named.limit.kind, named.limit.stage) == (limit.kind, limit.stage)
        };
        let since = named.filter(is_same).map_or(now.at, |named| named.since);
        NamedLimit { limit, since }
    }
}

/// Returns the limits that have rejected requests, with their rates in the interval.
fn rejections(interval: &Interval<'_>) -> Vec<Rejection> {
    let before = |limit: &str| {
        let mut all = interval.before.rejections.iter();
        all.find(|of| of.limit == limit).map_or(0, |of| of.count)
    };
    let all = interval.now.rejections.iter();
    all.map(|of| {
        let rejected = of.count.saturating_sub(before(of.limit)) as f64;
        Rejection {
            limit: of.limit,
            value: of.value,
            per_s: rounded(rejected / interval.length.as_secs_f64().max(1e-9)),
            total: of.count,
        }
    })
    .collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
