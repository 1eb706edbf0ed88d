//! Errors of a change of run-time settings.

use crate::config::ConfigError;
use std::{io, ops::RangeInclusive, path::PathBuf};

/// Allowed times until a change that is not confirmed is reverted, in seconds: enough to observe
/// its effect, and not so long that a person forgets it.
pub const REVERT_AFTER_SECS: RangeInclusive<u64> = 10..=3_600;

/// Maximum number of characters of a reason: a sentence, which fits into a line of the log.
pub const REASON_CHARS_MAX: usize = 200;

/// A change that was rejected. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The change names no setting.
    #[error("the change names no setting")]
    Empty,
    /// A key without a setting.
    #[error("there is no setting {0}; GET /settings lists all")]
    Unknown(String),
    /// A setting that does not change while the node runs.
    #[error("{key} is no run-time setting: it changes {when}")]
    NotRunTime {
        /// The key.
        key: &'static str,
        /// How it changes.
        when: &'static str,
    },
    /// A value that the setting does not allow.
    #[error("{key} = {value} is not allowed: {message}")]
    NotAllowed {
        /// The key.
        key: &'static str,
        /// The value, truncated if it is long.
        value: String,
        /// The invalid part of a list and the allowed values.
        message: String,
    },
    /// A time until the revert that is not allowed.
    #[error(
        "revert_after_secs = {0} is not allowed: expected an integer from {start} to {end}",
        start = REVERT_AFTER_SECS.start(),
        end = REVERT_AFTER_SECS.end()
    )]
    RevertAfter(u64),
    /// A reason that is too long or has control characters.
    #[error("reason is not allowed: expected at most {REASON_CHARS_MAX} characters in one line")]
    Reason,
    /// A change that lifts the sum of the memory limits above the memory of the machine.
    #[error(
        "the change lifts the sum of all memory limits to {limit_bytes} bytes, above the \
         {allowed_bytes} bytes that are allowed: the memory of the machine, or the sum of the \
         configuration if that is more"
    )]
    Memory {
        /// The sum with the change.
        limit_bytes: u64,
        /// Its maximum.
        allowed_bytes: u64,
    },
    /// A change that waits for its confirmation excludes this one.
    #[error(
        "a change of {keys} is reverted in {secs} s unless it is confirmed: POST /settings/confirm \
         or POST /settings/undo first"
    )]
    Pending {
        /// The keys of the pending change.
        keys: String,
        /// Time until the revert, in seconds.
        secs: u64,
    },
    /// A confirmation without a pending change.
    #[error("no change waits for a confirmation")]
    NothingPending,
    /// There is no change to take back.
    #[error("there is no change to undo")]
    NothingToUndo,
    /// A rule or a network that is to be allowed and is not denied.
    #[error("there is no {0} to remove")]
    NotDenied(String),
    /// A setting that a stronger layer than the file of kept settings determines.
    #[error("{key} cannot be kept, because {origin} sets it, which is stronger than a kept value")]
    Determined {
        /// The key.
        key: &'static str,
        /// The layer.
        origin: String,
    },
    /// A setting that is to be forgotten and is not kept.
    #[error("{0} is not kept")]
    NotKept(String),
    /// Another request reads or writes the file of kept settings.
    #[error("kept settings are being written by another request")]
    Busy,
    /// The node ignores the file of kept settings.
    #[error(
        "the node was started with --no-overrides or --in-memory, so it neither reads nor writes \
         kept settings"
    )]
    OverridesIgnored,
    /// The file of kept settings has invalid content, which is not overwritten.
    #[error("{0}")]
    InvalidFile(#[from] ConfigError),
    /// The file of kept settings cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}
