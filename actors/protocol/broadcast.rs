//! Messages that several actors receive.

use crate::runtime::actor::ActorMessage;
use ledger_types::ExecutedBlock;
use std::sync::Arc;

/// A block is durable, and the Head shows it.
#[derive(Clone, Debug)]
pub(crate) struct BlockCommitted(pub(crate) Arc<ExecutedBlock>);

impl ActorMessage for BlockCommitted {
    const LABEL: &'static str = "block_committed";
}

/// Whether nothing new is begun that takes room, because the disk has little: no block, and no step of
/// pruning. What is under way is finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetPaused(pub(crate) bool);

impl ActorMessage for SetPaused {
    const LABEL: &'static str = "pause";
}
