//! Messages to the pruner.

use crate::runtime::actor::ActorMessage;

/// A step of pruning is durable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PruneDone(pub(crate) ledger_store::Pruned);

impl ActorMessage for PruneDone {
    const LABEL: &'static str = "prune_done";
}
