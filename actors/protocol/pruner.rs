//! Messages to the pruner.

use crate::runtime::actor::ActorMessage;

/// The result of a durable step of pruning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PruneDone(pub(crate) ledger_store::Pruned);

impl ActorMessage for PruneDone {
    const LABEL: &'static str = "prune_done";
}
