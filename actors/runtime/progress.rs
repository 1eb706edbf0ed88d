//! Progress of actors and threads, which the stall monitor samples.
//!
//! A thread or an actor only counts: it stores one or two relaxed atomic values per unit of work. A
//! [`Watch`] reads the counts from another thread, and [`crate::node::stalls`] decides from
//! successive samples whether there is progress.

use arc_swap::ArcSwap;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The number of units of work that one thread has begun and ended.
///
/// Only that thread changes it. The count orders no other memory access, hence relaxed.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Counts the begin and the end of `unit`, and returns its result. A unit must not be part of
    /// another one.
    pub fn count<T>(&self, unit: impl FnOnce() -> T) -> T {
        self.step();
        let result = unit();
        self.step();
        result
    }

    /// Counts the begin or the end of a unit. A load and a store suffice, because the count has one
    /// writer.
    fn step(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Counts a unit that takes no time.
    pub(crate) fn tick(&self) {
        self.step();
        self.step();
    }

    /// Returns the number of begins and ends.
    pub(crate) fn steps(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Returns the sample of the thread if it is within a unit. Otherwise work waits if
    /// `is_waiting`, and `taken` rises when a thread of its pool takes or ends work.
    pub(crate) fn sample(&self, is_waiting: bool, taken: u64) -> Sample {
        let steps = self.steps();
        match (steps % 2 == 1, is_waiting) {
            (true, _) => Sample::new(steps, Activity::Working(None)),
            (false, true) => Sample::new(steps.wrapping_add(taken), Activity::Waiting),
            (false, false) => Sample::new(steps, Activity::Idle),
        }
    }
}

/// The state of an actor or a thread at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// No work waits.
    Idle,
    /// Work waits, and none has begun.
    Waiting,
    /// A unit of work has begun and not ended. Holds the label of the message, if there is one.
    Working(Option<&'static str>),
}

/// A sample of an actor or a thread. Two equal samples with work show that there was no progress
/// between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// A number that changes with each begin and end of a unit of work.
    progress: u64,
    activity: Activity,
}

impl Sample {
    pub(crate) fn new(progress: u64, activity: Activity) -> Self {
        Self { progress, activity }
    }

    /// Returns the state of the actor or thread.
    pub(crate) fn activity(&self) -> Activity {
        self.activity
    }
}

/// The progress of a queue that a thread outside of this crate serves.
#[derive(Clone, Copy, Debug)]
pub struct QueueProgress {
    /// Amount of work that was done, in any unit.
    pub done: u64,
    /// Whether work waits or is being done.
    pub has_work: bool,
}

impl From<QueueProgress> for Sample {
    fn from(queue: QueueProgress) -> Self {
        let activity = match queue.has_work {
            true => Activity::Waiting,
            false => Activity::Idle,
        };
        Self::new(queue.done, activity)
    }
}

/// Takes a sample, or returns `None` if the actor or thread has ended.
type TakeSample = dyn Fn() -> Option<Sample> + Send + Sync;

/// An actor, a thread or a task whose progress is watched. Clones are the same watch.
#[derive(Clone)]
pub(crate) struct Watch {
    name: Arc<str>,
    sample: Arc<TakeSample>,
}

impl Watch {
    /// Creates a watch. Several threads may have the same name.
    pub(crate) fn new(
        name: impl Into<Arc<str>>,
        sample: impl Fn() -> Option<Sample> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            sample: Arc::new(sample),
        }
    }

    /// Returns the name of the actor or thread in the log and in metrics.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Takes a sample, or returns `None` if the actor or thread has ended.
    pub(crate) fn sample(&self) -> Option<Sample> {
        (self.sample)()
    }

    /// Returns whether both are clones of one watch.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.sample, &other.sample)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.name).finish()
    }
}

/// A list of watches that threads extend concurrently. Clones share the list.
///
/// Its bound is the number of actors, threads and tasks that run: those that have ended are removed
/// when a watch is added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches(Arc<ArcSwap<Vec<Watch>>>);

impl Watches {
    /// Adds a watch.
    pub(crate) fn add(&self, watch: &Watch) {
        self.extend(std::slice::from_ref(watch));
    }

    /// Adds the watches of another list.
    pub(crate) fn extend(&self, more: &[Watch]) {
        self.0.rcu(|before| {
            let running = before.iter().filter(|watch| watch.sample().is_some());
            running.chain(more).cloned().collect::<Vec<_>>()
        });
    }

    /// Returns the watches that were added.
    pub(crate) fn load(&self) -> Arc<Vec<Watch>> {
        self.0.load_full()
    }

    /// Removes all watches and returns them. They refer to queues, which end with them.
    pub(crate) fn take(&self) -> Arc<Vec<Watch>> {
        self.0.swap(Arc::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_within_a_unit_from_its_begin_to_its_end() {
        let progress = Progress::default();
        assert_eq!(progress.sample(false, 0).activity(), Activity::Idle);
        assert_eq!(progress.sample(true, 0).activity(), Activity::Waiting);
        let within = progress.count(|| progress.sample(false, 0));
        assert_eq!(within.activity(), Activity::Working(None));
        let next = progress.count(|| progress.sample(false, 0));
        assert_ne!(within, next, "the next unit is progress");
        assert_eq!(progress.sample(false, 0).activity(), Activity::Idle);
    }

    #[test]
    fn work_that_another_thread_of_the_pool_takes_is_progress_of_an_idle_one() {
        let progress = Progress::default();
        assert_eq!(progress.sample(true, 1), progress.sample(true, 1));
        assert_ne!(progress.sample(true, 1), progress.sample(true, 2));
        progress.count(|| {
            assert_eq!(
                progress.sample(true, 1),
                progress.sample(true, 2),
                "a thread within a unit makes no progress while others do"
            );
        });
    }

    #[test]
    fn adding_a_watch_removes_those_that_have_ended() {
        let watches = Watches::default();
        let running = Arc::new(());
        let weak = Arc::downgrade(&running);
        let idle = Sample::new(0, Activity::Idle);
        watches.add(&Watch::new("task", move || weak.upgrade().map(|_| idle)));
        let thread = Watch::new("thread", move || Some(idle));
        watches.add(&thread);
        assert_eq!(watches.load().len(), 2);
        drop(running);
        watches.add(&thread);
        let names: Vec<_> = watches
            .load()
            .iter()
            .map(|watch| watch.is(&thread))
            .collect();
        assert_eq!(names, [true, true]);
        assert_eq!(watches.take().len(), 2);
        assert!(watches.load().is_empty());
    }
}
