//! The write path: append to the log, commit to the database, prune, recover.

pub(crate) mod applier;
pub(crate) mod commit;
pub(crate) mod database;
pub(crate) mod disk_space;
pub(crate) mod open;
pub(crate) mod prune;
pub(crate) mod prune_bound;
pub(crate) mod pruned_state;
pub(crate) mod recovery;
mod space_check;
pub(crate) mod usage;
pub(crate) mod validate;
pub(crate) mod writer;

use crate::tables::schema::LogState;

/// The kind of a database commit, which determines what makes its content durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommitKind {
    /// The write-ahead log already holds the content, so the commit is not synced.
    Apply,
    /// The commit itself is synced, and with it all earlier ones. It stores the state of the
    /// write-ahead log after it.
    Checkpoint(LogState),
}
