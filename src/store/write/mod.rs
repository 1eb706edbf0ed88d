//! Writes: commits, checkpoints, pruning, and recovery.

pub(crate) mod open;
pub(crate) mod prune;
pub(crate) mod pruned_state;
pub(crate) mod recovery;
pub(crate) mod validate;
pub(crate) mod writer;
