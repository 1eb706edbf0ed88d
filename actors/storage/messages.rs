//! What the storage is asked, and what it tells.

use crate::NodeError;
use actix::Message;
use ledger_store::Query;
use ledger_types::LedgerInfo;
use tokio::sync::oneshot;

/// Removes versions below `below_version`, at most about `versions_max` of them. The
/// pruner hears of it.
#[derive(Message, Debug)]
#[rtype(result = "()")]
pub(crate) struct PruneStep {
    pub(crate) below_version: u64,
    pub(crate) versions_max: u64,
}

/// A step of pruning is durable.
#[derive(Message, Clone, Copy, Debug)]
#[rtype(result = "()")]
pub(crate) struct PruneDone(pub(crate) ledger_store::Pruned);

/// The answer to a query, and the moment of the ledger that it is of.
pub(crate) type Answer<T> = Result<(LedgerInfo, T), NodeError>;

/// A query on the newest snapshot.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Read<Q: Query> {
    pub(crate) query: Q,
    pub(crate) reply: oneshot::Sender<Answer<Q::Output>>,
}
