//! Messages to the sequencer.

use crate::runtime::{actor::ActorMessage, mailbox::Recipient, timer::TimerTurn};
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Request to start ordering.
#[derive(Debug)]
pub(crate) struct Start {
    /// The mailbox of the sequencer itself.
    pub(crate) batches: Recipient<Batch>,
}

impl ActorMessage for Start {
    const LABEL: &'static str = "start";
}

/// The transactions of the next block.
#[derive(Debug)]
pub struct Batch {
    /// The transactions in order. The mempool sends no batch without any.
    pub transactions: Vec<Arc<CheckedTransaction>>,
    /// Estimated time of the transactions in a block, in microseconds.
    pub cost_usecs: u64,
}

impl ActorMessage for Batch {
    const LABEL: &'static str = "batch";
}

/// Notification that the executor has executed the oldest block that was not executed.
#[derive(Debug)]
pub(crate) struct BlockExecuted;

impl ActorMessage for BlockExecuted {
    const LABEL: &'static str = "block_executed";
}

/// Request to stop ordering.
///
/// The sequencer drops later batches. Their transactions are still in the mempool.
pub(crate) struct Stop {
    pub(crate) done: oneshot::Sender<()>,
}

impl ActorMessage for Stop {
    const LABEL: &'static str = "stop";
}

/// Request of the sequencer's timer to order an empty block if the chain has been idle for long
/// enough.
pub(crate) struct CheckHeartbeat(pub(crate) TimerTurn);

impl ActorMessage for CheckHeartbeat {
    const LABEL: &'static str = "check_heartbeat";
}
