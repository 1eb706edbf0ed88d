//! Messages to the mempool, and the values in them.

use super::{
    sequencer::Batch,
    wait::{Hashes, WaiterId},
};
use crate::{
    RemovalReason, SubmitError,
    runtime::{actor::ActorMessage, mailbox::Recipient, timer::TimerTurn},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CheckedTransaction, RawTransaction, ReplayProtector};
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Key of a pending transaction. The pool holds at most one transaction with each key.
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

/// Limits of one batch of transactions.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// Maximum number of transactions.
    pub transactions_max: usize,
    /// Maximum total size of the transactions, in bytes. A batch of one transaction may exceed it.
    pub bytes_max: usize,
    /// Maximum total cost of the transactions: their estimated time in a block, in microseconds. A
    /// batch of one transaction may exceed it.
    pub usecs_max: u64,
}

/// A pending transaction with the time of its insertion, as a graceful stop saves it.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The validated transaction.
    pub transaction: Arc<CheckedTransaction>,
    /// Time of insertion into the pool, in Unix seconds.
    pub inserted_at_secs: u64,
}

/// A transaction that was removed from the pool without being executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Hash of the transaction.
    pub hash: HashValue,
    /// Reason of the removal.
    pub reason: RemovalReason,
}

/// Estimates of the gas unit price, in the smallest unit of the coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GasEstimate {
    /// Price of a transaction of low priority.
    pub deprioritized_gas_estimate: u64,
    /// Price of a transaction of normal priority.
    pub gas_estimate: u64,
    /// Price of a transaction of high priority.
    pub prioritized_gas_estimate: u64,
}

/// Maximum number of transactions in a [`Submit`] and in a [`CheckCapacity`].
///
/// An admission takes 0.4 to 1.3 us in the pool alone (`cargo bench -p ledger-actors --bench
/// pool`), and a look-up of the sender is added. So a message of this size holds the mempool for
/// one to two milliseconds: as long as a `signature-check` thread takes for one batch, and a small
/// part of the time between two blocks. Other submissions wait as long for each such message before
/// them. The signatures of as many transactions take about 15 ms of a thread, so the threads cannot
/// fill the mailbox with them.
pub(crate) const MESSAGE_TRANSACTIONS_MAX: usize = 1_000;

/// A validated transaction to add to the pool.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) transaction: Arc<CheckedTransaction>,
    /// Sequence number of the sender's next transaction on the ledger, as of the validation.
    pub(crate) sequence_number: u64,
    /// Whether another node sent it, which also sends it to all others.
    pub(crate) is_relayed: bool,
}

/// Request to add validated transactions to the pool, one after the other: one of a submission, or
/// at most [`MESSAGE_TRANSACTIONS_MAX`] of a batch.
///
/// The reply has an element for each transaction, in order: the pool's copy of it, or the error
/// that rejects it. A closed mempool drops `reply` without a value.
#[derive(Debug)]
pub(crate) struct Submit {
    pub(crate) submissions: Vec<Submission>,
    pub(crate) reply: oneshot::Sender<Vec<Result<Arc<CheckedTransaction>, SubmitError>>>,
}

#[cfg(test)]
impl Submit {
    /// Creates the request of one transaction.
    pub(crate) fn one(
        transaction: Arc<CheckedTransaction>,
        sequence_number: u64,
        reply: oneshot::Sender<Vec<Result<Arc<CheckedTransaction>, SubmitError>>>,
    ) -> Self {
        let submission = Submission {
            transaction,
            sequence_number,
            is_relayed: false,
        };
        Self {
            submissions: vec![submission],
            reply,
        }
    }
}

impl ActorMessage for Submit {
    const LABEL: &'static str = "submit";

    fn request_count(&self) -> usize {
        self.submissions.len()
    }
}

/// The properties of a transaction that determine whether the pool has capacity for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) key: PoolKey,
    pub(crate) size_bytes: usize,
}

/// Request to check whether the pool has capacity for each of at most [`MESSAGE_TRANSACTIONS_MAX`]
/// transactions alone, before their signatures are verified. The reply is in the same order.
#[derive(Debug)]
pub(crate) struct CheckCapacity {
    pub(crate) sizes: Vec<Size>,
    pub(crate) reply: oneshot::Sender<Vec<Result<(), SubmitError>>>,
}

impl ActorMessage for CheckCapacity {
    const LABEL: &'static str = "check_capacity";

    fn request_count(&self) -> usize {
        self.sizes.len()
    }
}

/// Request for the status of the transaction with this hash in the pool.
#[derive(Debug)]
pub(crate) struct GetPending {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<PendingStatus>,
}

impl ActorMessage for GetPending {
    const LABEL: &'static str = "get_pending";
}

/// Request of the relay: which of these transactions, at most [`MESSAGE_TRANSACTIONS_MAX`], the pool
/// holds. The reply is in the same order.
#[derive(Debug)]
pub(crate) struct ArePending {
    pub(crate) hashes: Vec<HashValue>,
    pub(crate) reply: oneshot::Sender<Vec<bool>>,
}

impl ActorMessage for ArePending {
    const LABEL: &'static str = "are_pending";

    fn request_count(&self) -> usize {
        self.hashes.len()
    }
}

/// Request of the committer to check whether the transactions of a wait are pending.
///
/// The mempool replies with [`NotPending`](super::committer::NotPending). It sends no reply to a
/// wait for one transaction that the pool holds.
#[derive(Debug)]
pub(crate) struct CheckPending {
    pub(crate) hashes: Hashes,
    pub(crate) waiter: WaiterId,
}

impl ActorMessage for CheckPending {
    const LABEL: &'static str = "check_pending";
}

/// Reply to [`GetPending`].
#[derive(Debug)]
pub(crate) enum PendingStatus {
    /// The pool holds the transaction. A block may have taken it.
    Pending(Arc<CheckedTransaction>),
    /// The pool removed the transaction without executing it, and still has the reason.
    Removed(RemovalReason),
    /// The pool has neither the transaction nor a reason. The ledger may hold the transaction.
    Unknown,
}

/// Request for the estimates of the gas unit price.
#[derive(Debug)]
pub(crate) struct GetGasPrice {
    pub(crate) reply: oneshot::Sender<GasEstimate>,
}

impl ActorMessage for GetGasPrice {
    const LABEL: &'static str = "get_gas_price";
}

/// Request of the sequencer for the transactions of the next block.
///
/// The mempool sends a [`Batch`] to `reply_to` when a transaction is ready and no pause is in
/// effect.
#[derive(Debug)]
pub(crate) struct PullBatch {
    pub(crate) limits: BatchLimits,
    /// Whether the mempool replies at once, with an empty batch if no transaction is ready.
    pub(crate) is_immediate: bool,
    pub(crate) reply_to: Recipient<Batch>,
}

impl ActorMessage for PullBatch {
    const LABEL: &'static str = "pull_batch";
}

/// Request to close the mempool at a graceful stop.
///
/// The reply holds the transactions of the pool in the order of their insertion. A closed mempool
/// accepts no transaction and sends no batch.
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
