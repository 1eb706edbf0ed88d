//! A clock that tests advance manually.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

/// A clock that changes only when a test advances or sets it. Cheap to clone; all clones are one
/// clock.
///
/// `Clock::from_readings` of `ledger-actors` makes the clock of a node of it.
#[derive(Clone, Debug)]
pub struct HandClock {
    wall_usecs: Arc<AtomicU64>,
    elapsed_usecs: Arc<AtomicU64>,
}

impl HandClock {
    /// Creates a clock at a Unix time in seconds.
    pub fn at_secs(secs: u64) -> Self {
        Self {
            wall_usecs: Arc::new(AtomicU64::new(secs * 1_000_000)),
            elapsed_usecs: Arc::default(),
        }
    }

    /// Advances both clocks by `usecs`.
    pub fn pass_usecs(&self, usecs: u64) {
        self.wall_usecs.fetch_add(usecs, SeqCst);
        self.elapsed_usecs.fetch_add(usecs, SeqCst);
    }

    /// Advances both clocks to a Unix time in seconds.
    ///
    /// # Panics
    ///
    /// Panics if the wall clock is past it.
    pub fn pass_until_secs(&self, secs: u64) {
        let usecs = (secs * 1_000_000).checked_sub(self.wall_usecs());
        self.pass_usecs(usecs.expect("a time in the future of the clock"));
    }

    /// Advances both clocks by `secs`.
    pub fn pass_secs(&self, secs: u64) {
        self.pass_usecs(secs * 1_000_000);
    }

    /// Sets the wall clock ahead, or back if `secs` is negative. No time passes.
    pub fn step_secs(&self, secs: i64) {
        self.wall_usecs.fetch_add((secs * 1_000_000) as u64, SeqCst);
    }

    /// Returns the wall clock in seconds since the Unix epoch.
    pub fn secs(&self) -> u64 {
        self.wall_usecs() / 1_000_000
    }

    /// Returns the wall clock in microseconds since the Unix epoch.
    pub fn wall_usecs(&self) -> u64 {
        self.wall_usecs.load(SeqCst)
    }

    /// Returns the elapsed time in microseconds.
    pub fn elapsed_usecs(&self) -> u64 {
        self.elapsed_usecs.load(SeqCst)
    }
}
