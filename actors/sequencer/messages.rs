//! What the sequencer is told beside the batches of the mempool and the blocks of the committer.

use crate::{mailbox::Recipient, mempool::messages::Batch};
use actix::Message;
use tokio::sync::oneshot;

/// Begins to order. `batches` is the sequencer's own mailbox, where it wants batches.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Start {
    pub(crate) batches: Recipient<Batch>,
}

/// Orders no more; what comes after is dropped. Its transactions are still in the pool.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Stop {
    pub(crate) done: oneshot::Sender<()>,
}
