//! What the storage is asked, and what it tells.

use crate::{
    NodeError,
    error::StorageFault,
    protocol::{broadcast::SetPaused, committer::CancelWaiters},
    runtime::{actor::ActorMessage, mailbox::Recipient},
};
use ledger_store::Query;
use ledger_types::LedgerInfo;
use tokio::sync::oneshot;

/// Name of the storage in metrics and error messages.
pub(crate) const STORAGE: &str = "storage";

/// Removes versions below `below_version`, at most about `versions_max` of them. The
/// pruner hears of it.
#[derive(Debug)]
pub(crate) struct PruneStep {
    pub(crate) below_version: u64,
    pub(crate) versions_max: u64,
}

impl ActorMessage for PruneStep {
    const LABEL: &'static str = "prune";
}

/// The answer to a query, and the moment of the ledger that it is of.
pub(crate) type Answer<T> = Result<(LedgerInfo, T), NodeError>;

/// A query on the newest snapshot.
pub(crate) struct Read<Q: Query> {
    pub(crate) query: Q,
    pub(crate) reply: oneshot::Sender<Answer<Q::Output>>,
}

impl<Q: Query> ActorMessage for Read<Q> {
    const LABEL: &'static str = "read";
}

impl ActorMessage for StorageFault {
    const LABEL: &'static str = "storage_fault";
}

/// A change of the disk space between low and sufficient.
#[derive(Debug)]
pub(crate) struct DiskSpace {
    pub(crate) is_low: bool,
}

impl ActorMessage for DiskSpace {
    const LABEL: &'static str = "disk_space";
}

/// The actors that storage notifies of its health.
#[derive(Debug)]
pub(crate) struct StoragePeers {
    pub(crate) committer: Recipient<CancelWaiters>,
    pub(crate) mempool: Recipient<SetPaused>,
    pub(crate) sequencer: Recipient<SetPaused>,
    pub(crate) pruner: Recipient<SetPaused>,
}
