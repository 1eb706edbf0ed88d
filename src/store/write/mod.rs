//! The write path: append to the log, commit to the database, prune, recover.

pub(crate) mod commit;
pub(crate) mod open;
pub(crate) mod prune;
pub(crate) mod pruned_state;
pub(crate) mod recovery;
pub(crate) mod validate;
pub(crate) mod writer;

/// The kind of a database commit, which determines what makes its content durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitKind {
    /// The write-ahead log already holds the content, so the commit is not synced.
    Apply,
    /// The commit itself is synced, and with it all earlier ones.
    Checkpoint,
}
