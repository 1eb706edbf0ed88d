//! The window of readable versions and the bound of the next prune step.

use super::directory_limit::VERSIONS_MIN;
use crate::PrunerConfig;
use ledger_store::{PruneBound, Pruned};
use ledger_types::LedgerInfo;

/// Microseconds per second.
const USECS_PER_SEC: u64 = 1_000_000;

/// The newest version, and the time of its block in microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) version: u64,
    pub(super) timestamp_usecs: u64,
}

/// Returns the bound of the versions that may be removed.
///
/// A version stays as long as it is one of the newest `window_versions`, or its block is at most
/// `window_secs` older than the newest one. If not more than `fitting_versions` may stay, older
/// ones are removed whatever these minimums are, except for the newest [`VERSIONS_MIN`].
fn prune_bound(config: &PrunerConfig, newest: Newest, fitting_versions: u64) -> PruneBound {
    let versions = newest.version.saturating_add(1);
    let window_usecs = config.window_secs.saturating_mul(USECS_PER_SEC);
    PruneBound {
        // The newest committed block stays even if the window is 0: responses are computed at its
        // version, and the store may already contain the next block.
        below_version: versions.saturating_sub(config.window_versions.max(1)),
        before_usecs: (window_usecs > 0)
            .then(|| newest.timestamp_usecs.saturating_sub(window_usecs)),
        always_below_version: versions.saturating_sub(fitting_versions.max(VERSIONS_MIN)),
    }
}

/// The window of readable versions and the step in flight.
#[derive(Debug)]
pub(super) struct Window {
    config: PrunerConfig,
    newest: Newest,
    oldest_version: u64,
    /// Number of newest versions that fit into `pruner.window_bytes`.
    fitting_versions: u64,
    /// Time of the newest of the oldest `batch_versions` versions, or `None` if it is unknown.
    batch_usecs: Option<u64>,
    /// Bound of the newest step.
    step_bound: PruneBound,
    /// Whether the newest step left nothing to remove below its bound. Some versions may remain,
    /// because a step removes whole blocks.
    is_done: bool,
    /// Number of versions that the newest step could have removed, and did not.
    remaining_versions: u64,
    /// Number of new versions for which no step has removed another version yet.
    /// [`Self::next_step`] limits it to the number of due versions.
    unmatched_versions: u64,
    is_in_flight: bool,
}

impl Window {
    pub(super) fn new(config: PrunerConfig, ledger_info: &LedgerInfo) -> Self {
        Self {
            config,
            newest: Newest {
                version: ledger_info.version,
                timestamp_usecs: ledger_info.timestamp_usecs,
            },
            oldest_version: ledger_info.oldest_version,
            fitting_versions: u64::MAX,
            batch_usecs: None,
            step_bound: PruneBound::below(0),
            is_done: true,
            remaining_versions: 0,
            unmatched_versions: 0,
            is_in_flight: false,
        }
    }

    /// Extends the window to `newest`.
    pub(super) fn extend(&mut self, newest: Newest) {
        let added = newest.version.saturating_sub(self.newest.version);
        self.newest.version = self.newest.version.saturating_add(added);
        self.newest.timestamp_usecs = self.newest.timestamp_usecs.max(newest.timestamp_usecs);
        self.unmatched_versions = self.unmatched_versions.saturating_add(added);
    }

    /// Sets the number of newest versions that fit into `pruner.window_bytes`.
    pub(super) fn set_fitting_versions(&mut self, versions: u64) {
        self.fitting_versions = versions;
    }

    /// Completes the step in flight.
    ///
    /// `batch_usecs` is the time of the newest of the oldest [`Self::timed_versions`] that remain,
    /// or `None` if it is unknown.
    pub(super) fn complete_step(&mut self, pruned: Pruned, batch_usecs: Option<u64>) {
        let removed = pruned.oldest_version.saturating_sub(self.oldest_version);
        self.oldest_version = pruned.oldest_version;
        // The first batch of a step reduces the backlog. Only versions beyond it match new ones.
        let matched = removed.saturating_sub(self.config.batch_versions);
        self.unmatched_versions = self.unmatched_versions.saturating_sub(matched);
        self.batch_usecs = batch_usecs;
        self.is_done = pruned.done;
        self.remaining_versions = pruned.remaining_versions;
        self.is_in_flight = false;
    }

    /// Returns the bound of the versions that the next step may remove, and marks the step as in
    /// flight. Returns `None` if no step is due.
    ///
    /// A step is due once a whole batch may be removed, because every step syncs a record of the
    /// write-ahead log and commits to the database.
    pub(super) fn next_step(&mut self) -> Option<PruneBound> {
        if !self.config.enabled || self.is_in_flight {
            return None;
        }
        let bound = self.bound();
        let due = self.due_by_minimums(&bound).max(self.due_by_size(&bound));
        self.unmatched_versions = self.unmatched_versions.min(due);
        if due < self.config.batch_versions {
            return None;
        }
        // Only part of a block is below the bound, so no step can remove it. The next block
        // raises the bound.
        let last = &self.step_bound;
        let is_raised = bound.below_version > last.below_version
            || bound.always_below_version > last.always_below_version;
        if self.is_done && !is_raised {
            return None;
        }
        self.step_bound = bound;
        self.is_in_flight = true;
        Some(bound)
    }

    /// Marks a step that removes nothing as in flight, and returns its bound. Returns `None` if a
    /// step is in flight or pruning is off.
    pub(super) fn empty_step(&mut self) -> Option<PruneBound> {
        if !self.config.enabled || self.is_in_flight {
            return None;
        }
        self.is_in_flight = true;
        Some(PruneBound::below(0))
    }

    fn bound(&self) -> PruneBound {
        prune_bound(&self.config, self.newest, self.fitting_versions)
    }

    /// Returns the number of versions that neither minimum retains, or 0 if `window_secs` retains
    /// some of the oldest batch.
    fn due_by_minimums(&self, bound: &PruneBound) -> u64 {
        if let (Some(before_usecs), Some(batch_usecs)) = (bound.before_usecs, self.batch_usecs)
            && batch_usecs >= before_usecs
        {
            return 0;
        }
        bound.below_version.saturating_sub(self.oldest_version)
    }

    /// Returns the number of versions that do not fit into `pruner.window_bytes`.
    fn due_by_size(&self, bound: &PruneBound) -> u64 {
        bound
            .always_below_version
            .saturating_sub(self.oldest_version)
    }

    /// Returns whether versions that a minimum asks for may be missing.
    pub(super) fn is_below_minimums(&self) -> bool {
        let bound = self.bound();
        self.oldest_version > bound.below_version
            || (bound.before_usecs.is_some() && self.oldest_version > 0)
    }

    /// Returns the number of versions that may be removed and still exist.
    ///
    /// With `window_secs` it is the number that the newest step has left.
    pub(super) fn lag_versions(&self) -> u64 {
        if !self.config.enabled {
            return 0;
        }
        let bound = self.bound();
        let by_minimums = match bound.before_usecs {
            None => self.due_by_minimums(&bound),
            Some(_) => self.remaining_versions,
        };
        by_minimums.max(self.due_by_size(&bound))
    }

    /// Returns the number of the oldest versions whose time a step has to return, or `None` if no
    /// time is needed.
    ///
    /// Once all of them are older than `window_secs`, the next step is due.
    pub(super) fn timed_versions(&self) -> Option<u64> {
        (self.config.window_secs > 0).then_some(self.config.batch_versions)
    }

    /// Returns the number of versions that the next step should remove: a batch, and one per new
    /// version.
    ///
    /// There is one step per group of committed blocks. On a slow disk the groups are large, so a
    /// batch alone would remove fewer versions than are added, and the ledger would grow without
    /// bound.
    pub(super) fn step_versions(&self) -> u64 {
        self.config
            .batch_versions
            .saturating_add(self.unmatched_versions)
    }
}

#[cfg(test)]
mod tests;
