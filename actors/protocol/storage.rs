//! Messages to the storage, and the types in them.

use crate::{
    NodeError,
    runtime::{actor::ActorMessage, timer::TimerTurn},
};
use ledger_limits::Work;
use ledger_store::{PruneBound, Query};
use ledger_types::LedgerInfo;
use tokio::sync::oneshot;

/// Name of the storage in metrics and error messages.
pub(crate) const STORAGE: &str = "storage";

/// Request for a step of pruning.
///
/// The pruner receives [`PruneDone`](super::pruner::PruneDone) when the step is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PruneStep {
    /// The versions that may be removed.
    pub(crate) bound: PruneBound,
    /// Maximum number of versions to remove. A step removes at least one whole block, which may
    /// exceed it.
    pub(crate) versions_max: u64,
    /// Number of the oldest versions after the step whose time is requested, or `None` if no time
    /// is.
    pub(crate) timed_versions: Option<u64>,
    /// Whether a checkpoint follows, so that the pages that pruning has freed are measured as free.
    pub(crate) is_checkpoint: bool,
}

impl ActorMessage for PruneStep {
    const LABEL: &'static str = "prune_step";
}

/// The result of a query, with the ledger info of the snapshot that it was run on.
pub(crate) type Answer<T> = Result<(LedgerInfo, T), NodeError>;

/// Request to run a query on a snapshot at the Head.
pub(crate) struct Read<Q: Query> {
    /// The client that waits, and what the query demands.
    pub(crate) work: Work,
    pub(crate) query: Q,
    pub(crate) reply: oneshot::Sender<Answer<Q::Output>>,
}

impl<Q: Query> ActorMessage for Read<Q> {
    const LABEL: &'static str = "read";
}

/// Notification that the published health has its first fault.
///
/// The sender publishes the health before it sends this message or [`DiskSpaceChanged`]. Neither
/// has content, so that the published health is the only source of the storage's state.
#[derive(Debug)]
pub(crate) struct FirstFault;

impl ActorMessage for FirstFault {
    const LABEL: &'static str = "first_fault";
}

/// Notification that disk space has become low or sufficient, and with it the published health.
#[derive(Debug)]
pub(crate) struct DiskSpaceChanged;

impl ActorMessage for DiskSpaceChanged {
    const LABEL: &'static str = "disk_space_changed";
}

/// Request of the storage's timer to begin a pass of the scrubber if one is due.
pub(crate) struct CheckScrub(pub(crate) TimerTurn);

impl ActorMessage for CheckScrub {
    const LABEL: &'static str = "check_scrub";
}

/// Notification of the scrubber that its pass has ended.
#[derive(Debug)]
pub(crate) struct ScrubDone {
    /// Whether it has compared all files. Otherwise it ended early or has found damage.
    pub(crate) is_complete: bool,
}

impl ActorMessage for ScrubDone {
    const LABEL: &'static str = "scrub_done";
}

/// Request to discard the blocks and prune steps that the writer has not begun to write.
///
/// Only a stop sends it, if syncs are slow or blocks wait for disk space. The transactions of the
/// blocks are still in the mempool.
#[derive(Debug)]
pub(crate) struct DiscardBlocks {
    pub(crate) done: oneshot::Sender<()>,
}

impl ActorMessage for DiscardBlocks {
    const LABEL: &'static str = "discard_blocks";
}
