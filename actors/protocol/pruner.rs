//! Messages to the pruner.

use crate::runtime::{actor::ActorMessage, timer::TimerTurn};
use ledger_store::Pruned;

/// The result of a durable step of pruning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PruneDone {
    pub(crate) pruned: Pruned,
    /// Time of the last of the versions whose time the step requested, in microseconds since the
    /// Unix epoch. `None` if the step requested none, or if the ledger has fewer versions.
    pub(crate) timed_usecs: Option<u64>,
}

impl ActorMessage for PruneDone {
    const LABEL: &'static str = "prune_done";
}

/// Request of the pruner's timer to compare the directory with its limit.
pub(crate) struct CheckDirectory(pub(crate) TimerTurn);

impl ActorMessage for CheckDirectory {
    const LABEL: &'static str = "check_directory";
}
