//! What the sequencer is told beside the batches of the mempool and the blocks of the committer.

use crate::runtime::{actor::ActorMessage, mailbox::Recipient, timer::TimerTurn};
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Begins to order. `batches` is the sequencer's own mailbox, where it wants batches.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) batches: Recipient<Batch>,
}

impl ActorMessage for Start {
    const LABEL: &'static str = "start";
}

/// The transactions of the next block, in order; never none.
#[derive(Debug)]
pub(crate) struct Batch(pub(crate) Vec<Arc<CheckedTransaction>>);

impl ActorMessage for Batch {
    const LABEL: &'static str = "batch";
}

/// Orders no more; what comes after is dropped. Its transactions are still in the pool.
pub(crate) struct Stop {
    pub(crate) done: oneshot::Sender<()>,
}

impl ActorMessage for Stop {
    const LABEL: &'static str = "stop";
}

/// Request of the sequencer's timer to order an empty block if the chain has been idle for long enough.
pub(crate) struct CheckHeartbeat(pub(crate) TimerTurn);

impl ActorMessage for CheckHeartbeat {
    const LABEL: &'static str = "check_heartbeat";
}
