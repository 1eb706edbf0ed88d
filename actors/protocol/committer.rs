//! Messages to the committer.

use super::{
    mempool::Removed,
    notifier::CommitNotifier,
    wait::{Absent, Hashes, WaitEvents, WaitOutcome, WaiterId},
};
use crate::{runtime::actor::ActorMessage, state::committed::IndexedBlock};
use ledger_crypto::HashValue;
use ledger_store::WalBlock;
use ledger_types::OrderedBlock;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Request to execute the next ordered block and to make it durable.
#[derive(Debug)]
pub(crate) struct ExecuteBlock(pub(crate) OrderedBlock);

impl ActorMessage for ExecuteBlock {
    const LABEL: &'static str = "execute_block";
}

/// The next durable blocks, in order.
#[derive(Debug)]
pub(crate) struct BlocksDurable {
    pub(crate) blocks: Vec<Arc<IndexedBlock>>,
    /// The encoded form of each block in the write-ahead log, or empty if the blocks were written
    /// as a checkpoint.
    pub(crate) wal_blocks: Vec<WalBlock>,
    /// Processor time of the writer for appends and applies since the previous message, in
    /// microseconds, if it was measured.
    pub(crate) write_usecs: Option<u64>,
}

impl ActorMessage for BlocksDurable {
    const LABEL: &'static str = "blocks_durable";
}

/// Transactions that were removed from the mempool without being executed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransactionsRemoved(pub(crate) Vec<Removed>);

impl ActorMessage for TransactionsRemoved {
    const LABEL: &'static str = "transactions_removed";
}

/// Request to wait for transactions.
#[derive(Debug)]
pub(crate) struct Subscribe {
    pub(crate) wait: Wait,
    /// Notifier of the HTTP worker thread on which the client waits.
    pub(crate) notifier: Option<Arc<CommitNotifier>>,
}

/// The transactions of a wait, and the channel of its outcomes.
#[derive(Debug)]
pub(crate) enum Wait {
    /// One transaction. The reply is dropped if the wait is canceled.
    One {
        hash: HashValue,
        reply: oneshot::Sender<WaitOutcome>,
    },
    /// Transactions of one request, each at most once.
    Many {
        /// Number of the wait, which no other wait for many has.
        id: u64,
        hashes: Arc<[HashValue]>,
        events: WaitEvents,
    },
}

impl ActorMessage for Subscribe {
    const LABEL: &'static str = "subscribe";
}

/// Request to forget the wait for many with this number.
///
/// The wait receives [`WaitEvent::Ended`](super::wait::WaitEvent::Ended), unless the committer has
/// sent the outcomes of all its hashes.
#[derive(Debug)]
pub(crate) struct Unsubscribe(pub(crate) u64);

impl ActorMessage for Unsubscribe {
    const LABEL: &'static str = "unsubscribe";
}

/// Request to wait until the Head has a version. The reply is dropped if the wait is canceled.
#[derive(Debug)]
pub(crate) struct SubscribeVersion {
    pub(crate) version: u64,
    pub(crate) reply: oneshot::Sender<()>,
    /// Notifier of the HTTP worker thread on which the client waits.
    pub(crate) notifier: Option<Arc<CommitNotifier>>,
}

impl ActorMessage for SubscribeVersion {
    const LABEL: &'static str = "subscribe_version";
}

/// Reply to [`CheckPending`] with the transactions that the mempool does not hold.
///
/// A wait for one transaction receives it only if the mempool does not hold it. A wait for many
/// always does, because its outcomes are complete only after the check.
#[derive(Debug)]
pub(crate) struct NotPending {
    /// The hashes of the check.
    pub(crate) hashes: Hashes,
    pub(crate) waiter: WaiterId,
    pub(crate) absent: Vec<Absent>,
}

impl ActorMessage for NotPending {
    const LABEL: &'static str = "not_pending";
}

/// Request for a reply when all ordered blocks are published, or none can become durable any more.
///
/// No block is ordered after it.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) done: oneshot::Sender<()>,
    /// Whether the blocks that are not durable have been discarded. The reply then only follows the
    /// publication of those that became durable before.
    pub(crate) are_blocks_discarded: bool,
}

impl ActorMessage for Finish {
    const LABEL: &'static str = "finish";
}

/// Request to cancel all waits, because no block becomes durable until the next start.
#[derive(Debug)]
pub(crate) struct CancelWaiters;

impl ActorMessage for CancelWaiters {
    const LABEL: &'static str = "cancel_waiters";
}
