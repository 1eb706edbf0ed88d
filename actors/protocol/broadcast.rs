//! Messages that several actors receive.

use crate::runtime::actor::ActorMessage;
use ledger_types::ExecutedBlock;
use std::sync::Arc;

/// A durable block that the Head includes.
#[derive(Clone, Debug)]
pub(crate) struct BlockCommitted {
    pub(crate) block: Arc<ExecutedBlock>,
    /// Processor time of the executor for the block, in microseconds.
    pub(crate) execution_usecs: u64,
    /// The end of the group of blocks that the writer made durable together. `None` if a later
    /// block of the group follows.
    pub(crate) group_end: Option<GroupEnd>,
}

/// The end of a group of blocks that the writer made durable together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEnd {
    /// Processor time of the writer for the group, in microseconds, if it was measured.
    pub write_usecs: Option<u64>,
}

impl ActorMessage for BlockCommitted {
    const LABEL: &'static str = "block_committed";
}

/// Request to stop (`true`) or resume (`false`) starting work that writes to the disk: blocks and
/// steps of pruning. Blocks and steps in progress are finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetPaused(pub(crate) bool);

impl ActorMessage for SetPaused {
    const LABEL: &'static str = "set_paused";
}
