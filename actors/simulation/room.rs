//! Disk space of the running node, as the simulation sets it, and the checks that depend on it.

use std::cell::Cell;

/// Periods of low disk space.
///
/// Times are steps of the scheduler.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Step since which disk space is low, or `None` if it is sufficient.
    missing_since: Cell<Option<u64>>,
    /// Step at which the last period of low disk space ended.
    missing_until: Cell<Option<u64>>,
    /// Whether the node has been idle in the present period. Work that began before the period is
    /// complete then.
    was_quiet: Cell<bool>,
}

impl Room {
    /// Resets the state to sufficient disk space, as at every start of a node.
    pub(super) fn reset(&self) {
        self.missing_since.take();
        self.missing_until.take();
        self.was_quiet.set(false);
    }

    /// Returns whether disk space is low now.
    pub(super) fn is_missing(&self) -> bool {
        self.missing_since.get().is_some()
    }

    /// Returns the step since which disk space is low, or `None` if it is sufficient.
    pub(super) fn missing_since(&self) -> Option<u64> {
        self.missing_since.get()
    }

    /// Begins or ends a period of low disk space at step `now`.
    pub(super) fn set_missing(&self, is_missing: bool, now: u64) {
        self.was_quiet.set(false);
        if is_missing {
            self.missing_since.set(Some(now));
        } else {
            self.missing_since.take();
            self.missing_until.set(Some(now));
        }
    }

    /// Records that the node is idle.
    pub(super) fn is_quiet(&self) {
        self.was_quiet.set(self.is_missing());
    }

    /// Returns whether disk space was low at any time since `step`.
    pub(super) fn was_missing_since(&self, step: u64) -> bool {
        self.is_missing() || self.missing_until.get().is_some_and(|until| until >= step)
    }

    /// Checks that a block that has just become visible may have begun before disk space ran low.
    ///
    /// # Errors
    ///
    /// Returns the height if the node was idle in the present period of low disk space: a block
    /// that becomes visible later was begun in that period.
    pub(super) fn may_begin(&self, height: u64) -> Result<(), String> {
        if self.was_quiet.get() {
            return Err(format!("block {height}"));
        }
        Ok(())
    }

    /// Checks that a submission that began at step `asked` may be accepted now.
    ///
    /// # Errors
    ///
    /// Returns the reason if disk space has been low since a step before `asked`.
    pub(super) fn may_accept(&self, asked: u64) -> Result<(), String> {
        match self.missing_since.get() {
            Some(since) if since < asked => Err(format!("there is no room since step {since}")),
            _ => Ok(()),
        }
    }
}
