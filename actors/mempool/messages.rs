//! What the mempool is asked and told.

use super::{
    GasEstimate,
    entry::PoolKey,
    pool::{BatchLimits, Pending},
};
use crate::{RemovalReason, SubmitError, committer::WaiterId, mailbox::Recipient};
use actix::Message;
use ledger_crypto::HashValue;
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A client's transaction, validated.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Submit {
    pub(crate) transaction: Arc<CheckedTransaction>,
    /// The sender's, on the ledger, as it was validated against.
    pub(crate) sequence_number: u64,
    pub(crate) reply: oneshot::Sender<Result<Arc<CheckedTransaction>, SubmitError>>,
}

/// Whether there is room for a client's transaction, before anything else of it is looked at.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct CheckCapacity {
    pub(crate) key: PoolKey,
    pub(crate) size_bytes: usize,
    pub(crate) reply: oneshot::Sender<Result<(), SubmitError>>,
}

/// What the pool knows of a hash.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct GetPending {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<PendingStatus>,
}

/// The committer asks for one who waits: answered only if the pool does not hold the transaction.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct CheckPending {
    pub(crate) hash: HashValue,
    pub(crate) waiter: WaiterId,
}

/// The answer to [`GetPending`].
#[derive(Debug)]
pub(crate) enum PendingStatus {
    Pending(Arc<CheckedTransaction>),
    Removed(RemovalReason),
    Unknown,
}

/// How many bytes a stop would save the pool in now.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct GetSavedSize {
    pub(crate) reply: oneshot::Sender<u64>,
}

/// What gas costs.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct GetGasPrice {
    pub(crate) reply: oneshot::Sender<GasEstimate>,
}

/// The sequencer has room for a block. Answered as soon as there is a transaction for it.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct PullBatch {
    pub(crate) limits: BatchLimits,
    pub(crate) reply_to: Recipient<Batch>,
}

/// The transactions of the next block, in order; never none.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Batch(pub(crate) Vec<Arc<CheckedTransaction>>);

/// Whether nothing new is begun that takes room, because the disk has little: no block, and no step of
/// pruning. What is under way is finished.
#[derive(Message, Clone, Copy, Debug)]
#[rtype(result = "()")]
pub(crate) struct SetPaused(pub(crate) bool);

/// Gives up what is in the pool and answers no more: the last message.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Close {
    pub(crate) reply: oneshot::Sender<Vec<Pending>>,
}
