//! What the committer is asked and told, and what it tells.

use super::{BlockFeed, Executed, notifier::CommitNotifier, waiters::WaiterId};
use crate::{Committed, RemovalReason, mailbox::Recipient, mempool::messages::CheckPending};
use actix::Message;
use ledger_crypto::HashValue;
use ledger_store::WalBlock;
use ledger_types::{ExecutedBlock, LedgerInfo, OrderedBlock};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A block whose order is decided: the next after the last one told.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct ExecuteBlock(pub(crate) OrderedBlock);

/// These blocks are durable: the next after the last ones told.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct BlocksDurable {
    pub(crate) blocks: Vec<Executed>,
    /// Each as the log has it, or none where they are durable otherwise.
    pub(crate) logged: Vec<WalBlock>,
}

/// These left the pool unexecuted.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
#[rtype(result = "()")]
pub(crate) struct TransactionsRemoved(pub(crate) Vec<(HashValue, RemovalReason)>);

/// A client waits for a transaction.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Subscribe {
    pub(crate) hash: HashValue,
    pub(crate) reply: oneshot::Sender<WaitOutcome>,
    /// That of the thread that it waits on.
    pub(crate) notifier: Option<Arc<CommitNotifier>>,
}

/// The answer to [`CheckPending`](crate::mempool::messages::CheckPending), where the pool does not hold the transaction.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct NotPending {
    pub(crate) hash: HashValue,
    pub(crate) waiter: WaiterId,
    /// Why it left the pool, if that is known.
    pub(crate) reason: Option<RemovalReason>,
}

/// How a wait ended.
#[derive(Debug)]
pub(crate) enum WaitOutcome {
    Committed(LedgerInfo, Committed),
    Removed(RemovalReason),
    /// The pool did not hold it when the wait began; why it had left, if that is known. So if it was committed,
    /// the Head and the store have it.
    NotPending(Option<RemovalReason>),
}

/// A client wants to see new blocks.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct SubscribeBlocks {
    pub(crate) reply: oneshot::Sender<BlockFeed>,
}

/// Who is told and asked of by the committer; told once, before the first block. Closes the circle of addresses.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct SetPeers(pub(crate) Peers);

/// Who hears of durable blocks, and who knows what is pending.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) pool: Recipient<CheckPending>,
    pub(crate) mempool: Recipient<BlockCommitted>,
    pub(crate) sequencer: Recipient<BlockCommitted>,
    pub(crate) pruner: Recipient<BlockCommitted>,
}

/// A block is durable, and the Head shows it.
#[derive(Message, Clone, Debug)]
#[rtype(result = "()")]
pub(crate) struct BlockCommitted(pub(crate) Arc<ExecutedBlock>);

/// Answers as soon as every block that was told is durable; no more will come.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct Finish {
    pub(crate) done: oneshot::Sender<()>,
}
