//! Whether the disk of the node that runs has room, as the simulation tells it, and what follows from that.

use std::cell::Cell;

/// Room on the disk.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Since which step there is none.
    missing_since: Cell<Option<u64>>,
    /// Until which step there was none, the last time.
    missing_until: Cell<Option<u64>>,
    /// Whether there was a time of quiet since: all that was under way is done.
    was_quiet: Cell<bool>,
}

impl Room {
    /// There is room, as at every start.
    pub(super) fn reset(&self) {
        self.missing_since.take();
        self.missing_until.take();
        self.was_quiet.set(false);
    }

    pub(super) fn is_missing(&self) -> bool {
        self.missing_since.get().is_some()
    }

    /// Since which step there is none.
    pub(super) fn missing_since(&self) -> Option<u64> {
        self.missing_since.get()
    }

    pub(super) fn set_missing(&self, is_missing: bool, now: u64) {
        self.was_quiet.set(false);
        if is_missing {
            self.missing_since.set(Some(now));
        } else {
            self.missing_since.take();
            self.missing_until.set(Some(now));
        }
    }

    /// Nothing can happen but by time or a client.
    pub(super) fn is_quiet(&self) {
        self.was_quiet.set(self.is_missing());
    }

    /// Whether there was none at some time since this step.
    pub(super) fn was_missing_since(&self, step: u64) -> bool {
        self.is_missing() || self.missing_until.get().is_some_and(|until| until >= step)
    }

    /// Whether a block may have been begun that is shown now.
    pub(super) fn may_begin(&self, height: u64) -> Result<(), String> {
        if self.was_quiet.get() {
            return Err(format!("block {height}"));
        }
        Ok(())
    }

    /// Whether a submission that was begun after this step may be accepted now.
    pub(super) fn may_accept(&self, asked: u64) -> Result<(), String> {
        match self.missing_since.get() {
            Some(since) if since < asked => Err(format!("there is no room since step {since}")),
            _ => Ok(()),
        }
    }
}
