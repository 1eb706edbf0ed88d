//! Messages to the mempool, and the types in them.

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

/// Limits of the transactions of one block.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// Maximum number of transactions.
    pub transactions_max: usize,
    /// Maximum size of all transactions, in bytes. A larger transaction makes a batch alone.
    pub bytes_max: usize,
}

/// A pending transaction with the time of its insertion, which a graceful stop saves.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The transaction.
    pub transaction: Arc<CheckedTransaction>,
    /// Time of its insertion, in seconds since the Unix epoch.
    pub inserted_at_secs: u64,
}

/// Estimates of the price of a gas unit, in the coin's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GasEstimate {
    /// Price for inclusion at some time.
    pub deprioritized_gas_estimate: u64,
    /// Price for inclusion soon.
    pub gas_estimate: u64,
    /// Price for inclusion in one of the next blocks.
    pub prioritized_gas_estimate: u64,
}

/// A client's validated transaction.
#[derive(Debug)]
pub(crate) struct Submit {
    pub(crate) transaction: Arc<CheckedTransaction>,
    /// Sequence number of the sender on the ledger, at the version of the validation.
    pub(crate) sequence_number: u64,
    pub(crate) reply: oneshot::Sender<Result<Arc<CheckedTransaction>, SubmitError>>,
}

impl ActorMessage for Submit {
    const LABEL: &'static str = "submit";
}

/// Request for whether the mempool has capacity for a transaction.
#[derive(Debug)]
pub(crate) struct CheckCapacity {
    pub(crate) key: PoolKey,
    pub(crate) size_bytes: usize,
    pub(crate) reply: oneshot::Sender<Result<(), SubmitError>>,
}

impl ActorMessage for CheckCapacity {
    const LABEL: &'static str = "ask_room";
}

/// Request for the status of a transaction in the mempool.
#[derive(Debug)]
pub(crate) struct GetPending {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<PendingStatus>,
}

impl ActorMessage for GetPending {
    const LABEL: &'static str = "pending_by_hash";
}

/// Request to check that a waiter's transaction is pending. The reply is
/// [`NotPending`](super::committer::NotPending) to the committer, only if it is not.
#[derive(Debug)]
pub(crate) struct CheckPending {
    pub(crate) hash: HashValue,
    pub(crate) waiter: WaiterId,
}

impl ActorMessage for CheckPending {
    const LABEL: &'static str = "ask_absent";
}

/// Status of a transaction in the mempool.
#[derive(Debug)]
pub(crate) enum PendingStatus {
    /// The transaction is pending, or its block is not published yet.
    Pending(Arc<CheckedTransaction>),
    /// The transaction was removed without being executed.
    Removed(RemovalReason),
    /// The mempool has no record of it.
    Unknown,
}

/// Request for the size of the file, in bytes, in which a stop would save the mempool now.
#[derive(Debug)]
pub(crate) struct GetSavedSize {
    pub(crate) reply: oneshot::Sender<u64>,
}

impl ActorMessage for GetSavedSize {
    const LABEL: &'static str = "ask_saved_bytes";
}

/// Request for estimates of the price of a gas unit.
#[derive(Debug)]
pub(crate) struct GetGasPrice {
    pub(crate) reply: oneshot::Sender<GasEstimate>,
}

impl ActorMessage for GetGasPrice {
    const LABEL: &'static str = "estimate_gas";
}

/// Request for the transactions of the next block. The reply is held back while the mempool is empty or
/// paused.
#[derive(Debug)]
pub(crate) struct PullBatch {
    pub(crate) limits: BatchLimits,
    pub(crate) reply_to: Recipient<Batch>,
}

impl ActorMessage for PullBatch {
    const LABEL: &'static str = "next_batch";
}

/// Request for all pending transactions. The mempool replies to no later request.
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
