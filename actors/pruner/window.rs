//! The window of readable versions and the bound of the next prune step.

use crate::PrunerConfig;
use ledger_types::LedgerInfo;

/// The window of readable versions and the step in flight.
#[derive(Debug)]
pub(super) struct Window {
    config: PrunerConfig,
    newest_version: u64,
    oldest_version: u64,
    /// Bound of the newest step: it was to remove all versions below this one.
    step_below_version: u64,
    /// Whether the newest step left nothing to remove below its bound. Some versions may remain,
    /// because a step removes whole blocks.
    is_done: bool,
    /// Number of new versions for which no step has removed another version yet.
    /// [`Self::next_step`] limits it to the number of due versions.
    unmatched_versions: u64,
    is_in_flight: bool,
}

impl Window {
    pub(super) fn new(config: PrunerConfig, ledger_info: &LedgerInfo) -> Self {
        Self {
            config,
            newest_version: ledger_info.version,
            oldest_version: ledger_info.oldest_version,
            step_below_version: 0,
            is_done: true,
            unmatched_versions: 0,
            is_in_flight: false,
        }
    }

    /// Extends the window to `newest_version`.
    pub(super) fn extend(&mut self, newest_version: u64) {
        let added = newest_version.saturating_sub(self.newest_version);
        self.newest_version = self.newest_version.saturating_add(added);
        self.unmatched_versions = self.unmatched_versions.saturating_add(added);
    }

    /// Completes the step in flight.
    ///
    /// `oldest_version` is the oldest version that remains. `is_done` states that the step
    /// removed all complete blocks below its bound.
    pub(super) fn complete_step(&mut self, oldest_version: u64, is_done: bool) {
        let removed = oldest_version.saturating_sub(self.oldest_version);
        self.oldest_version = oldest_version;
        // The first batch of a step reduces the backlog. Only versions beyond it match new ones.
        let matched = removed.saturating_sub(self.config.batch_versions);
        self.unmatched_versions = self.unmatched_versions.saturating_sub(matched);
        self.is_done = is_done;
        self.is_in_flight = false;
    }

    /// Returns the version below which the next step may remove versions, and marks the step as
    /// in flight. Returns `None` if no step is due.
    ///
    /// A step is due once a whole batch may be removed, because every step syncs a record of the
    /// write-ahead log and commits to the database.
    pub(super) fn next_step(&mut self) -> Option<u64> {
        if !self.config.enabled || self.is_in_flight {
            return None;
        }
        // The newest committed block stays even if the window is 0: responses are computed at its
        // version, and the store may already contain the next block.
        let versions = self.newest_version.saturating_add(1);
        let below = versions.saturating_sub(self.config.window_versions.max(1));
        let due = below.saturating_sub(self.oldest_version);
        self.unmatched_versions = self.unmatched_versions.min(due);
        if due < self.config.batch_versions {
            return None;
        }
        // Only part of a block is below the bound, so no step can remove it. The next block
        // raises the bound.
        if self.is_done && below <= self.step_below_version {
            return None;
        }
        self.step_below_version = below;
        self.is_in_flight = true;
        Some(below)
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
mod tests {
    use super::*;
    use crate::testing::ledger_info;

    fn window(window_versions: u64, batch_versions: u64) -> Window {
        let config = PrunerConfig {
            enabled: true,
            window_versions,
            batch_versions,
        };
        Window::new(config, &ledger_info(0))
    }

    #[test]
    fn prunes_only_whole_batches_below_the_window() {
        let mut window = window(100, 10);
        window.extend(108);
        assert_eq!(
            window.next_step(),
            None,
            "9 of the versions 0 to 108 are removable: 0 to 8"
        );
        window.extend(109);
        assert_eq!(window.next_step(), Some(10));
    }

    #[test]
    fn keeps_the_newest_block_without_a_window() {
        let mut window = window(0, 1);
        window.extend(7);
        assert_eq!(
            window.next_step(),
            Some(7),
            "7 is the newest, and may end a block"
        );
    }

    #[test]
    fn allows_only_one_step_in_flight() {
        let mut window = window(10, 5);
        window.extend(100);
        assert_eq!(window.next_step(), Some(91));
        window.extend(200);
        assert_eq!(window.next_step(), None);
        window.complete_step(5, false);
        assert_eq!(window.next_step(), Some(191));
    }

    #[test]
    fn starts_the_next_step_only_after_a_new_block() {
        let mut window = window(10, 5);
        window.extend(100);
        assert_eq!(window.next_step(), Some(91));
        window.complete_step(80, true);
        assert_eq!(
            window.next_step(),
            None,
            "80 to 90 belong to a block that reaches into the window"
        );
        window.extend(101);
        assert_eq!(window.next_step(), Some(92));
        window.extend(200);
        window.complete_step(80, true);
        assert_eq!(window.next_step(), Some(191));
    }

    /// Returns the oldest version after a step as the store executes it: it removes whole blocks,
    /// at least one.
    fn remove(oldest: u64, step_versions: u64, below: u64, block_versions: u64) -> u64 {
        let block_start = |version: u64| version / block_versions * block_versions;
        block_start((oldest + step_versions).min(below))
            .max((oldest + block_versions).min(block_start(below)))
    }

    #[test]
    fn reduces_a_backlog_while_more_than_a_batch_arrives_per_step() {
        const WINDOW: u64 = 1_000;
        const BATCH: u64 = 10;
        for (block_versions, arriving) in [
            (1, 100),
            (7, 100),
            (60, 100),
            (90, 100),
            (300, 100),
            (90, 1_000),
        ] {
            let mut window = window(WINDOW, BATCH);
            window.newest_version = 20_000;
            let mut oldest = 0;
            let mut largest_step = 0;
            for _ in 0..2_000 {
                if let Some(below) = window.next_step() {
                    largest_step = largest_step.max(window.step_versions());
                    oldest = remove(oldest, window.step_versions(), below, block_versions);
                    window.extend(window.newest_version + arriving);
                    window.complete_step(oldest, oldest == below / block_versions * block_versions);
                } else {
                    window.extend(window.newest_version + arriving);
                }
            }
            let retained = window.newest_version + 1 - oldest;
            let case = format!("blocks of {block_versions}, {arriving} arrive during a step");
            let limit = WINDOW + 2 * arriving + BATCH + block_versions;
            assert!(
                (WINDOW..=limit).contains(&retained),
                "{case}: {retained} versions are retained"
            );
            let limit = BATCH + 2 * arriving + block_versions;
            assert!(largest_step <= limit, "{case}: a step of {largest_step}");
        }
    }

    #[test]
    fn versions_before_the_first_due_step_do_not_enlarge_it() {
        let mut window = window(1_000, 10);
        for newest in 0..=1_009 {
            assert_eq!(window.next_step(), None);
            window.extend(newest);
        }
        assert_eq!(window.next_step(), Some(10));
        assert_eq!(window.step_versions(), 20);
    }

    #[test]
    fn disabled_pruner_removes_nothing() {
        let mut window = window(1, 1);
        window.config.enabled = false;
        window.extend(1_000);
        assert_eq!(window.next_step(), None);
    }

    #[test]
    fn survives_maximum_window_and_version() {
        let mut window = window(u64::MAX, 1);
        window.extend(u64::MAX);
        assert_eq!(window.next_step(), None);
    }
}
