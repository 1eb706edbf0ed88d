//! What the committer is asked and told, and what it tells.

use super::{
    block_feed::BlockFeed,
    broadcast::BlockCommitted,
    mempool::CheckPending,
    notifier::CommitNotifier,
    wait::{WaitOutcome, WaiterId},
};
use crate::{
    RemovalReason,
    runtime::{actor::ActorMessage, mailbox::Recipient},
    state::committed::IndexedBlock,
};
use ledger_crypto::HashValue;
use ledger_store::WalBlock;
use ledger_types::OrderedBlock;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A block whose order is decided: the next after the last one told.
#[derive(Debug)]
pub(crate) struct ExecuteBlock(pub(crate) OrderedBlock);

impl ActorMessage for ExecuteBlock {
    const LABEL: &'static str = "execute";
}

/// These blocks are durable: the next after the last ones told.
#[derive(Debug)]
pub(crate) struct BlocksDurable {
    pub(crate) blocks: Vec<Arc<IndexedBlock>>,
    /// Each as the log has it, or none where they are durable otherwise.
    pub(crate) wal_blocks: Vec<WalBlock>,
}

impl ActorMessage for BlocksDurable {
    const LABEL: &'static str = "block_stored";
}

/// These left the pool unexecuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransactionsRemoved(pub(crate) Vec<(HashValue, RemovalReason)>);

impl ActorMessage for TransactionsRemoved {
    const LABEL: &'static str = "dropped";
}

/// A client waits for a transaction.
#[derive(Debug)]
pub(crate) struct Subscribe {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<WaitOutcome>,
    /// That of the thread that it waits on.
    pub(crate) notifier: Option<Arc<CommitNotifier>>,
}

impl ActorMessage for Subscribe {
    const LABEL: &'static str = "subscribe";
}

/// Answer to `CheckPending` if the pool does not hold the transaction.
#[derive(Debug)]
pub(crate) struct NotPending {
    pub(crate) hash: HashValue,
    pub(crate) waiter: WaiterId,
    /// Why it left the pool, if that is known.
    pub(crate) reason: Option<RemovalReason>,
}

impl ActorMessage for NotPending {
    const LABEL: &'static str = "absent";
}

/// A client wants to see new blocks.
#[derive(Debug)]
pub(crate) struct SubscribeBlocks {
    pub(crate) reply: oneshot::Sender<BlockFeed>,
}

impl ActorMessage for SubscribeBlocks {
    const LABEL: &'static str = "subscribe_blocks";
}

/// Who is told and asked of by the committer; told once, before the first block. Closes the circle of addresses.
#[derive(Debug)]
pub(crate) struct SetPeers(pub(crate) Peers);

impl ActorMessage for SetPeers {
    const LABEL: &'static str = "connect";
}

/// Who hears of durable blocks, and who knows what is pending.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) pool: Recipient<CheckPending>,
    pub(crate) mempool: Recipient<BlockCommitted>,
    pub(crate) sequencer: Recipient<BlockCommitted>,
    pub(crate) pruner: Recipient<BlockCommitted>,
}

/// Answers as soon as every block that was told is durable; no more will come.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) done: oneshot::Sender<()>,
}

impl ActorMessage for Finish {
    const LABEL: &'static str = "finish";
}

/// Nothing becomes durable any more: ends all waits.
#[derive(Debug)]
pub(crate) struct CancelWaiters;

impl ActorMessage for CancelWaiters {
    const LABEL: &'static str = "cancel_waiters";
}
