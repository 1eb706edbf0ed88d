//! Number and duration of the syncs of a store's files.

use ledger_metrics::{Counter, Metric, counters};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Duration from which a sync is slow.
///
/// It is longer than the syncs of a busy disk, and a stop with several syncs of this duration ends
/// within seconds.
const SLOW: Duration = Duration::from_secs(1);

counters! {
    /// Counters of the syncs of one store.
    struct SyncCounters;

    /// Snapshot of the syncs since the store was opened.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SyncStats {
        /// Number of syncs, including failed ones.
        pub count: Counter,
        /// Total duration of the syncs, in nanoseconds.
        pub nanos: Counter,
    }
}

/// Timer of the syncs of one store. Clones share their counters.
#[derive(Clone, Debug)]
pub struct SyncTimer(Arc<SharedTimer>);

/// The state that clones of a timer share.
#[derive(Debug)]
struct SharedTimer {
    counters: SyncCounters,
    created: Instant,
    /// Begin of a sync in progress, in nanoseconds since `created`; 0 if there is none. While two
    /// overlap, that of the first one: one of the log, and one of an apply that grows the database.
    begun_nanos: AtomicU64,
    /// Duration of the newest sync that has ended, in nanoseconds.
    newest_nanos: AtomicU64,
}

impl Default for SyncTimer {
    fn default() -> Self {
        Self(Arc::new(SharedTimer {
            counters: SyncCounters::default(),
            created: Instant::now(),
            begun_nanos: AtomicU64::default(),
            newest_nanos: AtomicU64::default(),
        }))
    }
}

impl SyncTimer {
    /// Returns the counts since the store was opened.
    pub fn stats(&self) -> SyncStats {
        self.0.counters.snapshot()
    }

    /// Calls `sync`, counts it, and returns its result.
    pub(crate) fn time<T>(&self, sync: impl FnOnce() -> T) -> T {
        let begun_nanos = self.now_nanos();
        let begun = &self.0.begun_nanos;
        let is_first = begun
            .compare_exchange(0, begun_nanos, Relaxed, Relaxed)
            .is_ok();
        let result = sync();
        let nanos = self.now_nanos() - begun_nanos;
        self.0.newest_nanos.store(nanos, Relaxed);
        if is_first {
            begun.store(0, Relaxed);
        }
        self.0.counters.count.increment();
        self.0.counters.nanos.add(nanos);
        result
    }

    /// Returns whether the newest sync took a second or more, or the one in progress has.
    pub fn is_slow(&self) -> bool {
        let in_progress_nanos = match self.0.begun_nanos.load(Relaxed) {
            0 => 0,
            begun_nanos => self.now_nanos().saturating_sub(begun_nanos),
        };
        let newest_nanos = self.0.newest_nanos.load(Relaxed);
        Duration::from_nanos(newest_nanos.max(in_progress_nanos)) >= SLOW
    }

    /// Returns the time since the timer was created, in nanoseconds, at least 1.
    fn now_nanos(&self) -> u64 {
        let nanos = self.0.created.elapsed().as_nanos();
        u64::try_from(nanos).unwrap_or(u64::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_an_overlapping_sync_does_not_hide_the_one_in_progress() {
        let timer = SyncTimer::default();
        let (inner, outer) = (timer.clone(), &timer);
        outer.time(|| {
            inner.time(|| ());
            assert_ne!(inner.0.begun_nanos.load(Relaxed), 0);
        });
        assert_eq!(timer.0.begun_nanos.load(Relaxed), 0);
        assert!(!timer.is_slow());
    }
}
