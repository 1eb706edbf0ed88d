//! Messages to the sequencer.

use crate::runtime::{actor::ActorMessage, timer::TimerTurn};
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The transactions of the next block, in order. Empty only if the pull was immediate.
#[derive(Debug)]
pub(crate) struct Batch(pub(crate) Vec<Arc<CheckedTransaction>>);

impl ActorMessage for Batch {
    const LABEL: &'static str = "batch";
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
