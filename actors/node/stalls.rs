//! The monitor that names actors and threads without progress.
//!
//! A thread of its own samples every [`Watch`], so a blocked runtime does not block it. An actor or
//! thread is *stalled* if work waits or has begun, and no unit of work has begun or ended for
//! `process.stall_secs`. A unit of work that takes longer than this limit is a stall as well.
//!
//! The monitor measures time by its own samples, of which each counts at most [`SAMPLE_TIME_MAX`].
//! So nothing is named because the process was stopped (SIGSTOP) or the machine was suspended.

use crate::{
    committer::{Committer, executor},
    engine::{ACTORS, HEIGHTS, NETWORK},
    mempool::Mempool,
    runtime::{
        actor::Actor as _,
        fatal::FatalErrorReporter,
        progress::{Activity, Progress, Sample, Watch, Watches},
    },
    sequencer::{Sequencer, bft::worker},
    storage::writer,
};
use arc_swap::ArcSwap;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt, io,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::time::{MissedTickBehavior, interval};

/// Name of the monitor's thread.
const THREAD: &str = "stall-monitor";

/// Time between two samples. A stall is named within two of them after its limit.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum time that a sample counts. If the monitor was not scheduled for longer, the other
/// threads may not have been either.
const SAMPLE_TIME_MAX: Duration = Duration::from_millis(500);

/// Time between two ticks of an event loop, see [`Stalls::watch_event_loop`].
const TICK_INTERVAL: Duration = Duration::from_millis(250);

/// Names of the actors and threads without which no block is committed.
const COMMIT_PATH: [&str; 9] = [
    Mempool::NAME,
    Sequencer::NAME,
    Committer::NAME,
    executor::THREAD,
    writer::THREAD,
    worker::THREAD,
    HEIGHTS,
    ACTORS,
    NETWORK,
];

/// An actor or thread that makes no progress while work waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Name of the actor or thread.
    pub thread: Arc<str>,
    /// Time without progress.
    pub duration: Duration,
    /// Label of the message that an actor handles. `None` for a thread, and for an actor whose
    /// messages wait.
    pub message: Option<&'static str>,
}

impl Stall {
    /// Returns whether no block is committed without the actor or thread.
    pub fn is_on_commit_path(&self) -> bool {
        COMMIT_PATH.contains(&&*self.thread)
    }

    /// Returns whether progress needs other validators, so that a restart of this node does not
    /// cause any.
    pub fn waits_for_peers(&self) -> bool {
        &*self.thread == HEIGHTS
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.duration.as_secs();
        write!(f, "{} has made no progress for {secs} s", self.thread)?;
        match self.message {
            Some(message) => write!(f, " while it handles the message {message}"),
            None => f.write_str(" while work waits"),
        }
    }
}

/// The watched actors and threads, and those that are stalled. Clones share both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalls {
    watches: Watches,
    stalled: Arc<ArcSwap<Vec<Stall>>>,
}

impl Stalls {
    /// Watches an actor, a thread or a task, in addition to the present ones.
    pub(crate) fn watch(&self, watch: &Watch) {
        self.watches.add(watch);
    }

    /// Returns the list of watches.
    pub(crate) fn watches(&self) -> &Watches {
        &self.watches
    }

    /// Moves the watches of another list to this one.
    pub(crate) fn watch_all(&self, watches: &Watches) {
        self.watches.extend(&watches.take());
    }

    /// Watches a thread that counts its own units of work, until the count is dropped. The thread
    /// has no queue: it is stalled only within a unit.
    pub(crate) fn watch_thread(&self, name: &'static str) -> Arc<Progress> {
        let progress = Arc::<Progress>::default();
        let watched = Arc::downgrade(&progress);
        let sample = move || Some(watched.upgrade()?.sample(false, 0));
        self.watch(&Watch::new(name, sample));
        progress
    }

    /// Watches an event loop, on whose thread the caller must run the returned task. The event loop
    /// is stalled if the task does not run at its ticks. It is watched from the first run of the
    /// task on, which precedes the tasks that are spawned after it.
    pub(crate) fn watch_event_loop(&self, name: Arc<str>) -> impl Future<Output = ()> + use<> {
        let ticks = Arc::<Progress>::default();
        let watched = Arc::downgrade(&ticks);
        self.watch(&Watch::new(name, move || {
            let activity = match watched.upgrade()?.steps() {
                0 => Sample::new(0, Activity::Idle),
                // The next tick is always work that waits.
                steps => Sample::new(steps, Activity::Working(None)),
            };
            Some(activity)
        }));
        async move {
            let mut interval = interval(TICK_INTERVAL);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                // Not after the first tick of the timer, which passes up to a millisecond later:
                // the event loop may hang in its first connection.
                ticks.tick();
                interval.tick().await;
            }
        }
    }

    /// Returns the actors and threads that are stalled.
    pub(crate) fn stalled(&self) -> Arc<Vec<Stall>> {
        self.stalled.load_full()
    }

    /// Returns the number of stalled ones by the name of each watched actor and thread.
    pub(crate) fn count_by_name(&self) -> BTreeMap<Arc<str>, usize> {
        let watches = self.watches.load();
        let names = watches.iter().map(|watch| (Arc::clone(watch.name()), 0));
        let mut counts: BTreeMap<_, _> = names.collect();
        for stall in &*self.stalled() {
            *counts.entry(Arc::clone(&stall.thread)).or_default() += 1;
        }
        counts
    }
}

/// The thread of the monitor. Dropping this ends it asynchronously.
#[derive(Debug)]
pub(crate) struct StallMonitor {
    thread: JoinHandle<()>,
    /// Never carries a message. Its disconnection is the signal.
    _running: Sender<Infallible>,
}

impl StallMonitor {
    /// Starts the thread, which names what makes no progress for `limit`.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the thread cannot be started.
    pub(crate) fn start(
        stalls: Stalls,
        limit: Duration,
        reporter: &FatalErrorReporter,
    ) -> io::Result<Self> {
        let (running, stopped) = crossbeam_channel::bounded(0);
        let thread = reporter.spawn(THREAD, move || run(&stalls, limit, &stopped))?;
        Ok(Self {
            thread,
            _running: running,
        })
    }

    /// Ends the thread, and returns the handle to join it.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        self.thread
    }
}

/// Samples until the sender of `stopped` is dropped.
fn run(stalls: &Stalls, limit: Duration, stopped: &Receiver<Infallible>) {
    let mut observations = Vec::new();
    let mut last = Instant::now();
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(SAMPLE_INTERVAL) {
        let now = Instant::now();
        let elapsed = sample_time(now - last);
        last = now;
        observations = observe(observations, &stalls.watches.load(), elapsed, limit);
        let stalled: Vec<_> = observations.iter().filter_map(Observation::stall).collect();
        if !stalled.is_empty() || !stalls.stalled.load().is_empty() {
            stalls.stalled.store(Arc::new(stalled));
        }
    }
    // The watches refer to queues, whose jobs must be dropped with the node.
    drop(stalls.watches.take());
    stalls.stalled.store(Arc::default());
}

/// Returns the time that a sample counts, which was taken `elapsed` after the last one.
fn sample_time(elapsed: Duration) -> Duration {
    elapsed.min(SAMPLE_TIME_MAX)
}

/// Takes a sample of each watch, logs the stalls that begin or end, and returns the observations
/// until the next sample.
fn observe(
    before: Vec<Observation>,
    watches: &[Watch],
    elapsed: Duration,
    limit: Duration,
) -> Vec<Observation> {
    let mut before = before.into_iter();
    let mut next = before.next();
    let mut observations = Vec::with_capacity(watches.len());
    for watch in watches {
        // Watches are appended and removed, and keep their order.
        while next.as_ref().is_some_and(|next| !next.watch.is(watch)) {
            next = before.next();
        }
        let mut observation = next
            .take()
            .unwrap_or_else(|| Observation::new(watch.clone()));
        next = before.next();
        let sample = watch.sample();
        log(observation.update(sample, elapsed, limit), &observation);
        observations.push(observation);
    }
    observations
}

/// The change that a sample shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// The limit was reached.
    Began,
    /// There is progress after so long, or no work waits any more.
    Ended(Duration),
}

/// What the monitor has observed of one actor or thread.
#[derive(Debug)]
struct Observation {
    watch: Watch,
    /// The last sample, if work waited or had begun.
    last: Option<Sample>,
    /// Time for which the samples have been equal.
    unchanged: Duration,
    is_stalled: bool,
}

impl Observation {
    fn new(watch: Watch) -> Self {
        Self {
            watch,
            last: None,
            unchanged: Duration::ZERO,
            is_stalled: false,
        }
    }

    /// Adds a sample, which was taken `elapsed` after the last one.
    fn update(&mut self, sample: Option<Sample>, elapsed: Duration, limit: Duration) -> Change {
        let working = sample.filter(|sample| sample.activity() != Activity::Idle);
        if working.is_some() && working == self.last {
            self.unchanged = self.unchanged.saturating_add(elapsed);
            if self.is_stalled || self.unchanged < limit {
                return Change::None;
            }
            self.is_stalled = true;
            return Change::Began;
        }
        let unchanged = std::mem::take(&mut self.unchanged);
        self.last = working;
        match std::mem::take(&mut self.is_stalled) {
            true => Change::Ended(unchanged),
            false => Change::None,
        }
    }

    /// Returns the stall, if there is one.
    fn stall(&self) -> Option<Stall> {
        let message = match self.last?.activity() {
            Activity::Working(message) => message,
            Activity::Idle | Activity::Waiting => None,
        };
        self.is_stalled.then(|| Stall {
            thread: Arc::clone(self.watch.name()),
            duration: self.unchanged,
            message,
        })
    }
}

/// Logs the begin or the end of a stall.
fn log(change: Change, observation: &Observation) {
    let thread = &**observation.watch.name();
    match change {
        Change::None => {}
        Change::Began => {
            let secs = observation.unchanged.as_secs();
            let message = observation.stall().and_then(|stall| stall.message);
            tracing::error!(
                thread,
                secs,
                message,
                "stalled: no progress while work waits"
            );
        }
        Change::Ended(duration) => {
            let secs = duration.as_secs();
            tracing::warn!(thread, secs, "the stall has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn observation() -> Observation {
        Observation::new(Watch::new("thread", || None))
    }

    proptest! {
        /// The oracle is the time for which the present sample was repeated.
        #[test]
        fn names_what_repeats_a_sample_with_work_for_the_limit(
            samples in prop::collection::vec((0u64..3, 0u8..4, 0u64..500, 1usize..60), 1..20),
        ) {
            let mut observation = observation();
            let (mut last, mut repeated, mut was_stalled) = (None, Duration::ZERO, false);
            for (progress, activity, elapsed_ms, count) in samples {
                let sample = match activity {
                    0 => None,
                    1 => Some(Sample::new(progress, Activity::Idle)),
                    2 => Some(Sample::new(progress, Activity::Waiting)),
                    _ => Some(Sample::new(progress, Activity::Working(Some("message")))),
                };
                let elapsed = Duration::from_millis(elapsed_ms);
                for _ in 0..count {
                    repeated = match sample == last {
                        true => repeated + elapsed,
                        false => Duration::ZERO,
                    };
                    last = sample;
                    let is_stalled = activity >= 2 && repeated >= LIMIT;
                    let change = observation.update(sample, elapsed, LIMIT);
                    prop_assert_eq!(change == Change::Began, is_stalled && !was_stalled);
                    prop_assert_eq!(matches!(change, Change::Ended(_)), was_stalled && !is_stalled);
                    let stall = observation.stall();
                    prop_assert_eq!(stall.is_some(), is_stalled);
                    if let Some(stall) = stall {
                        prop_assert_eq!(stall.duration, repeated);
                        prop_assert_eq!(stall.message.is_some(), activity == 3);
                    }
                    was_stalled = is_stalled;
                }
            }
        }

        #[test]
        fn keeps_the_observations_of_the_watches_that_remain(removed in 0usize..5) {
            let idle = Sample::new(0, Activity::Working(None));
            let name = |index: usize| format!("thread-{index}");
            let mut watches: Vec<_> =
                (0..5).map(|index| Watch::new(name(index), move || Some(idle))).collect();
            let second = Duration::from_secs(1);
            let mut observations = Vec::new();
            for _ in 0..3 {
                observations = observe(observations, &watches, second, LIMIT);
            }
            watches.remove(removed);
            watches.push(Watch::new("new", move || Some(idle)));
            observations = observe(observations, &watches, second, LIMIT);
            let unchanged: Vec<_> = observations
                .iter()
                .map(|observation| observation.unchanged.as_secs())
                .collect();
            prop_assert_eq!(unchanged, [3, 3, 3, 3, 0]);
            let order = observations.iter().zip(&watches);
            prop_assert!(order.into_iter().all(|(observation, watch)| observation.watch.is(watch)));
        }
    }

    #[test]
    fn counts_a_pause_of_the_monitor_as_one_sample() {
        let hour = Duration::from_secs(3_600);
        assert_eq!(sample_time(hour), SAMPLE_TIME_MAX);
        assert_eq!(sample_time(SAMPLE_INTERVAL), SAMPLE_INTERVAL);
    }

    #[test]
    fn commit_path_includes_no_reader_and_no_http_worker() {
        let stall = |thread: &str| Stall {
            thread: thread.into(),
            duration: LIMIT,
            message: None,
        };
        for thread in [
            "mempool",
            "sequencer",
            "committer",
            "executor",
            "store-writer",
            "consensus",
            "consensus-engine",
            "consensus-network",
            "consensus-log",
        ] {
            assert!(stall(thread).is_on_commit_path(), "{thread}");
        }
        for thread in ["storage", "pruner", "store-reader", "http-api", "notifier"] {
            assert!(!stall(thread).is_on_commit_path(), "{thread}");
        }
    }
}
