//! The space that the content of a store takes, as of a checkpoint.

use super::view::ReadView;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The space that the content of a store took at a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreUsage {
    /// Number of the measurement, from 1; 0 before the first one.
    pub sequence: u64,
    /// Size of the allocated pages of the database, in bytes. The other pages of the file are
    /// reused before the file grows.
    pub used_bytes: u64,
    /// Length of the write-ahead log, in bytes.
    pub log_bytes: u64,
    /// The newest version in the database.
    pub newest_version: u64,
    /// The oldest version whose rows are in the allocated pages. It is below the oldest readable
    /// version while a scrubber retains pages that pruning has freed.
    pub oldest_version: u64,
}

impl StoreUsage {
    /// Returns the size of database and log, in bytes.
    pub fn bytes(&self) -> u64 {
        self.used_bytes.saturating_add(self.log_bytes)
    }

    /// Returns the number of versions whose rows are in the database.
    pub fn versions(&self) -> u64 {
        let versions = self.newest_version.saturating_sub(self.oldest_version);
        versions.saturating_add(1)
    }
}

/// The latest measurement of a store. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct UsageMeter(Arc<Mutex<UsageState>>);

#[derive(Debug, Default)]
struct UsageState {
    usage: StoreUsage,
    /// The oldest version of the view that a scrubber retains, or `None` between its passes.
    retained_from: Option<u64>,
}

impl UsageMeter {
    /// Returns the latest measurement.
    pub fn usage(&self) -> StoreUsage {
        self.state().usage
    }

    /// Records that a scrubber retains the pages of `view`, until the guard is dropped.
    pub(crate) fn retain(&self, view: &ReadView) -> RetainGuard {
        self.state().retained_from = Some(view.head.oldest_version);
        RetainGuard(self.clone())
    }

    /// Replaces the measurement by one of `view`, with the sizes of pages and log in bytes.
    pub(crate) fn set(&self, view: &ReadView, used_bytes: u64, log_bytes: u64) {
        let mut state = self.state();
        let oldest_version = view.head.oldest_version;
        let retained_from = state.retained_from.unwrap_or(oldest_version);
        state.usage = StoreUsage {
            sequence: state.usage.sequence + 1,
            used_bytes,
            log_bytes,
            newest_version: view.head.tip.version,
            oldest_version: retained_from.min(oldest_version),
        };
    }

    fn state(&self) -> MutexGuard<'_, UsageState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that exists while a scrubber retains pages.
#[derive(Debug)]
pub(crate) struct RetainGuard(UsageMeter);

impl Drop for RetainGuard {
    fn drop(&mut self) {
        self.0.state().retained_from = None;
    }
}
