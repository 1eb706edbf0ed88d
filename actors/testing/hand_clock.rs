//! A clock that tests advance manually.

// Both the tests of the crate and the tests of its interface include this file, and import these
// types differently.
use super::{Clock, ClockReading};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

/// A clock that changes only when a test advances or sets it. Cheap to clone; all clones are one
/// clock.
#[derive(Clone, Debug)]
pub(crate) struct HandClock {
    wall_usecs: Arc<AtomicU64>,
    elapsed_usecs: Arc<AtomicU64>,
}

impl HandClock {
    pub(crate) fn at_secs(secs: u64) -> Self {
        Self {
            wall_usecs: Arc::new(AtomicU64::new(secs * 1_000_000)),
            elapsed_usecs: Arc::default(),
        }
    }

    /// Advances both clocks by `usecs`.
    pub(crate) fn pass_usecs(&self, usecs: u64) {
        self.wall_usecs.fetch_add(usecs, SeqCst);
        self.elapsed_usecs.fetch_add(usecs, SeqCst);
    }

    /// Advances both clocks by `secs`.
    pub(crate) fn pass_secs(&self, secs: u64) {
        self.pass_usecs(secs * 1_000_000);
    }

    /// Sets the wall clock ahead, or back if `secs` is negative. No time passes.
    pub(crate) fn step_secs(&self, secs: i64) {
        self.wall_usecs.fetch_add((secs * 1_000_000) as u64, SeqCst);
    }

    /// Returns the wall clock in seconds since the Unix epoch.
    pub(crate) fn secs(&self) -> u64 {
        self.wall_usecs.load(SeqCst) / 1_000_000
    }

    pub(crate) fn clock(&self) -> Clock {
        let Self {
            wall_usecs,
            elapsed_usecs,
        } = self.clone();
        Clock::from_readings(move || ClockReading {
            wall_usecs: wall_usecs.load(SeqCst),
            elapsed_usecs: elapsed_usecs.load(SeqCst),
        })
    }
}
