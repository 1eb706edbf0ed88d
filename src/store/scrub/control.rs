//! The control of a pass by its caller.

use std::fmt::Debug;

/// The caller's control of a scrubber.
pub trait ScrubControl: Debug + Send + Sync + 'static {
    /// Called after each read of `bytes` bytes of a file. Returns whether the pass continues.
    ///
    /// A call may block, to limit the rate of the reads.
    fn on_read(&self, bytes: u64) -> bool;
}
