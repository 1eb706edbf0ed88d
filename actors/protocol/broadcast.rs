//! Messages that several actors receive.

use crate::runtime::actor::ActorMessage;
use ledger_types::ExecutedBlock;
use std::sync::Arc;

/// A block that is durable and that the Head includes.
#[derive(Clone, Debug)]
pub(crate) struct BlockCommitted(pub(crate) Arc<ExecutedBlock>);

impl ActorMessage for BlockCommitted {
    const LABEL: &'static str = "block_committed";
}

/// Whether to start nothing that writes to the disk: neither a block nor a step of pruning. Those in
/// progress are finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetPaused(pub(crate) bool);

impl ActorMessage for SetPaused {
    const LABEL: &'static str = "pause";
}
