//! Which versions may go.

use crate::PrunerConfig;
use ledger::LedgerInfo;

/// The window of versions that stay, and the step that is in flight.
#[derive(Debug)]
pub(super) struct Window {
    config: PrunerConfig,
    newest_version: u64,
    oldest_version: u64,
    /// What the newest step was to remove: all below this version.
    asked_below: u64,
    /// Whether there is nothing more to remove below that. Versions may be left, as blocks go whole.
    is_done: bool,
    is_in_flight: bool,
}

impl Window {
    pub(super) fn new(config: PrunerConfig, ledger_info: &LedgerInfo) -> Self {
        Self {
            config,
            newest_version: ledger_info.version,
            oldest_version: ledger_info.oldest_version,
            asked_below: 0,
            is_done: true,
            is_in_flight: false,
        }
    }

    /// The ledger has grown to this version.
    pub(super) fn grow(&mut self, newest_version: u64) {
        self.newest_version = self.newest_version.max(newest_version);
    }

    /// The step in flight has left `oldest_version` as the oldest; `is_done` says that it removed all
    /// that it was asked to.
    pub(super) fn shrink(&mut self, oldest_version: u64, is_done: bool) {
        self.oldest_version = oldest_version;
        self.is_done = is_done;
        self.is_in_flight = false;
    }

    /// Below which version the next step may remove, when it is time for one. The caller then
    /// starts it.
    ///
    /// A step waits until a whole batch may go: each costs a durable commit of its own.
    pub(super) fn next_step(&mut self) -> Option<u64> {
        if !self.config.enabled || self.is_in_flight {
            return None;
        }
        let versions = self.newest_version.saturating_add(1);
        let below = versions.saturating_sub(self.config.window_versions);
        if below.saturating_sub(self.oldest_version) < self.config.batch_versions {
            return None;
        }
        // Only a part of a block could go: the next block is the next occasion.
        if self.is_done && below <= self.asked_below {
            return None;
        }
        self.asked_below = below;
        self.is_in_flight = true;
        Some(below)
    }

    pub(super) fn batch_versions(&self) -> u64 {
        self.config.batch_versions
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
    fn the_window_stays_and_a_whole_batch_goes() {
        let mut window = window(100, 10);
        window.grow(108);
        assert_eq!(window.next_step(), None, "9 may go: 0 to 8 of 0 to 108");
        window.grow(109);
        assert_eq!(window.next_step(), Some(10));
    }

    #[test]
    fn one_step_at_a_time() {
        let mut window = window(10, 5);
        window.grow(100);
        assert_eq!(window.next_step(), Some(91));
        window.grow(200);
        assert_eq!(window.next_step(), None);
        window.shrink(5, false);
        assert_eq!(window.next_step(), Some(191));
    }

    #[test]
    fn a_block_that_came_during_a_step_is_the_next_occasion_and_no_block_is_none() {
        let mut window = window(10, 5);
        window.grow(100);
        assert_eq!(window.next_step(), Some(91));
        window.shrink(80, true);
        assert_eq!(
            window.next_step(),
            None,
            "80 to 90 are of a block that reaches into the window"
        );
        window.grow(101);
        assert_eq!(window.next_step(), Some(92));
        window.grow(200);
        window.shrink(80, true);
        assert_eq!(window.next_step(), Some(191));
    }

    #[test]
    fn a_disabled_pruner_removes_nothing() {
        let mut window = window(1, 1);
        window.config.enabled = false;
        window.grow(1_000);
        assert_eq!(window.next_step(), None);
    }

    #[test]
    fn a_large_window_or_version_does_not_overflow() {
        let mut window = window(u64::MAX, 1);
        window.grow(u64::MAX);
        assert_eq!(window.next_step(), None);
    }
}
