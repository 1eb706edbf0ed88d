//! Disk space of the running node, as the simulation sets it, and the checks that depend on it.

use std::cell::Cell;

/// Periods of low disk space.
///
/// Times are steps of the scheduler.
#[derive(Debug, Default)]
pub(super) struct LowDiskSpace {
    /// Step since which disk space is low, or `None` if it is sufficient.
    low_since: Cell<Option<u64>>,
    /// Step at which the last period of low disk space ended.
    low_until: Cell<Option<u64>>,
    /// Whether the node has been idle in the present period. Work that began before the period is
    /// complete then.
    was_idle: Cell<bool>,
}

impl LowDiskSpace {
    /// Resets the state to sufficient disk space, as at every start of a node.
    pub(super) fn clear(&self) {
        self.low_since.take();
        self.low_until.take();
        self.was_idle.set(false);
    }

    /// Returns whether disk space is low now.
    pub(super) fn is_low(&self) -> bool {
        self.low_since.get().is_some()
    }

    /// Returns the step since which disk space is low, or `None` if it is sufficient.
    pub(super) fn low_since(&self) -> Option<u64> {
        self.low_since.get()
    }

    /// Begins or ends a period of low disk space at `step`.
    pub(super) fn set_low(&self, is_low: bool, step: u64) {
        self.was_idle.set(false);
        if is_low {
            self.low_since.set(Some(step));
        } else {
            self.low_since.take();
            self.low_until.set(Some(step));
        }
    }

    /// Records that the node is idle.
    pub(super) fn record_idle(&self) {
        self.was_idle.set(self.is_low());
    }

    /// Returns whether disk space was low at any time since `step`.
    pub(super) fn was_low_since(&self, step: u64) -> bool {
        self.is_low() || self.low_until.get().is_some_and(|until| until >= step)
    }

    /// Checks that a block that has just become visible may have begun before disk space ran low.
    ///
    /// # Errors
    ///
    /// Returns the height if the node was idle in the present period of low disk space: a block
    /// that becomes visible later began in that period.
    pub(super) fn check_block_may_commit(&self, height: u64) -> Result<(), String> {
        if self.was_idle.get() {
            return Err(format!("block {height}"));
        }
        Ok(())
    }

    /// Checks that a submission that began at step `start_step` may be accepted now.
    ///
    /// # Errors
    ///
    /// Returns the reason if disk space has been low since a step before `start_step`.
    pub(super) fn check_submission_may_be_accepted(&self, start_step: u64) -> Result<(), String> {
        match self.low_since.get() {
            Some(since) if since < start_step => {
                Err(format!("disk space is low since step {since}"))
            }
            _ => Ok(()),
        }
    }
}
