//! How often the disk was asked to make things durable, and how long that took.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Counts syncs since a store was opened. Cheap to clone; clones are one.
#[derive(Clone, Debug, Default)]
pub struct SyncTimer(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl SyncTimer {
    /// How many there were, those that failed included.
    pub fn count(&self) -> u64 {
        self.0.count.load(Relaxed)
    }

    /// How long they took in sum.
    pub fn time_taken(&self) -> Duration {
        Duration::from_nanos(self.0.nanos.load(Relaxed))
    }

    /// Does one.
    pub(crate) fn time<T>(&self, sync: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let outcome = sync();
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.count.fetch_add(1, Relaxed);
        self.0.nanos.fetch_add(nanos, Relaxed);
        outcome
    }
}
