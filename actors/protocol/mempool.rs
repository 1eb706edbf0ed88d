//! What the mempool is asked and told.

use super::{sequencer::Batch, wait::WaiterId};
use crate::{
    RemovalReason, SubmitError,
    runtime::{actor::ActorMessage, mailbox::Recipient, timer::TimerTurn},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CheckedTransaction, RawTransaction, ReplayProtector};
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Key of a pending transaction: at most one has the same sender and sequence number or nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    pub(crate) sender: AccountAddress,
    pub(crate) protector: ReplayProtector,
}

impl PoolKey {
    /// Returns the key of a transaction.
    pub(crate) fn of(raw: &RawTransaction) -> Self {
        Self {
            sender: raw.sender,
            protector: raw.replay_protector(),
        }
    }
}

/// What may be given to a block.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// The most transactions.
    pub transactions_max: usize,
    /// The most bytes; a single larger transaction comes alone.
    pub bytes_max: usize,
}

/// A transaction of the pool and when it came in, for the file of a graceful stop.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The transaction.
    pub transaction: Arc<CheckedTransaction>,
    /// Unix seconds.
    pub inserted_at_secs: u64,
}

/// Gas unit prices, in the coin's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GasEstimate {
    /// For who can wait.
    pub deprioritized_gas_estimate: u64,
    /// For who cannot wait long.
    pub gas_estimate: u64,
    /// For who cannot wait.
    pub prioritized_gas_estimate: u64,
}

/// A client's transaction, validated.
#[derive(Debug)]
pub(crate) struct Submit {
    pub(crate) transaction: Arc<CheckedTransaction>,
    /// The sender's, on the ledger, as it was validated against.
    pub(crate) sequence_number: u64,
    pub(crate) reply: oneshot::Sender<Result<Arc<CheckedTransaction>, SubmitError>>,
}

impl ActorMessage for Submit {
    const LABEL: &'static str = "submit";
}

/// Whether there is room for a client's transaction, before anything else of it is looked at.
#[derive(Debug)]
pub(crate) struct CheckCapacity {
    pub(crate) key: PoolKey,
    pub(crate) size_bytes: usize,
    pub(crate) reply: oneshot::Sender<Result<(), SubmitError>>,
}

impl ActorMessage for CheckCapacity {
    const LABEL: &'static str = "ask_room";
}

/// What the pool knows of a hash.
#[derive(Debug)]
pub(crate) struct GetPending {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<PendingStatus>,
}

impl ActorMessage for GetPending {
    const LABEL: &'static str = "pending_by_hash";
}

/// The committer asks for one who waits: answered only if the pool does not hold the transaction.
#[derive(Debug)]
pub(crate) struct CheckPending {
    pub(crate) hash: HashValue,
    pub(crate) waiter: WaiterId,
}

impl ActorMessage for CheckPending {
    const LABEL: &'static str = "ask_absent";
}

/// The answer to [`GetPending`].
#[derive(Debug)]
pub(crate) enum PendingStatus {
    Pending(Arc<CheckedTransaction>),
    Removed(RemovalReason),
    Unknown,
}

/// How many bytes a stop would save the pool in now.
#[derive(Debug)]
pub(crate) struct GetSavedSize {
    pub(crate) reply: oneshot::Sender<u64>,
}

impl ActorMessage for GetSavedSize {
    const LABEL: &'static str = "ask_saved_bytes";
}

/// What gas costs.
#[derive(Debug)]
pub(crate) struct GetGasPrice {
    pub(crate) reply: oneshot::Sender<GasEstimate>,
}

impl ActorMessage for GetGasPrice {
    const LABEL: &'static str = "estimate_gas";
}

/// The sequencer has room for a block. Answered as soon as there is a transaction for it.
#[derive(Debug)]
pub(crate) struct PullBatch {
    pub(crate) limits: BatchLimits,
    pub(crate) reply_to: Recipient<Batch>,
}

impl ActorMessage for PullBatch {
    const LABEL: &'static str = "next_batch";
}

/// Gives up what is in the pool and answers no more: the last message.
#[derive(Debug)]
pub(crate) struct Close {
    pub(crate) reply: oneshot::Sender<Vec<Pending>>,
}

impl ActorMessage for Close {
    const LABEL: &'static str = "close";
}

/// Request of the mempool's timer to remove the transactions that have expired.
pub(crate) struct RemoveExpired(pub(crate) TimerTurn);

impl ActorMessage for RemoveExpired {
    const LABEL: &'static str = "remove_expired";
}
