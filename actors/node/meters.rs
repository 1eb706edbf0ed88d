//! Metrics of a node, except for those of mailboxes and of signature checks.
//!
//! Each thread updates the metrics of its own work. [`crate::runtime::mailbox`] has the metrics of
//! mailboxes, [`crate::signatures`] those of the lanes.
//!
//! A counter is one line of the `counters!` struct of its owner, such as [`PoolMeter`] or
//! [`WaitMeter`]. An owner without such a struct declares one; it is a field of [`Meters`] and of
//! [`MeterStatus`].

use super::{
    renderers,
    wait_meter::{WaitMeter, WaitStatus},
};
use crate::{
    Clock,
    mempool::meter::{PoolMeter, PoolStatus},
    pruner::meter::{PrunerMeter, PrunerStatus},
    runtime::work_meter::{WorkMeter, WorkStatus},
    sequencer::bft::{
        meter::{ProposalMeter, ProposalStatus},
        worker,
    },
    state::flight_recorder::FlightRecorder,
    storage::{
        applier,
        meter::{CommitMeter, CommitStatus},
        readers,
        scrubber::{ScrubMeter, ScrubStatus},
    },
};
use ledger_limits::{CostModel, CostStatus, WorkKind};
use ledger_metrics::{Counter, Metric};
use ledger_store::{StoreUsage, SyncStats, SyncTimer, UsageMeter};
use std::{iter, sync::Arc};

/// The metrics of the mempool, of the threads behind queues, of commits, and of waits.
#[derive(Debug)]
pub(crate) struct Meters {
    pub(crate) pool: Arc<PoolMeter>,
    pub(crate) executor: Arc<WorkMeter>,
    pub(crate) writer: Arc<WorkMeter>,
    pub(crate) applier: Arc<WorkMeter>,
    pub(crate) point_reader: Arc<WorkMeter>,
    pub(crate) readers: Arc<WorkMeter>,
    pub(crate) renderers: Arc<WorkMeter>,
    pub(crate) consensus_log: Arc<WorkMeter>,
    pub(crate) commit: Arc<CommitMeter>,
    pub(crate) scrub: Arc<ScrubMeter>,
    pub(crate) pruner: Arc<PrunerMeter>,
    pub(crate) proposals: Arc<ProposalMeter>,
    /// Size of the store's content.
    pub(crate) usage: UsageMeter,
    pub(crate) waits: WaitMeter,
    /// Transactions that the filter of the operator denied.
    pub(crate) filter_denied: Counter,
    /// Estimates of the duration of work, and what it took.
    pub(crate) costs: Arc<CostModel>,
    /// Times of the newest blocks.
    pub(crate) flight: FlightRecorder,
    /// Timer of the store's syncs.
    pub(crate) sync_timer: SyncTimer,
}

impl Meters {
    /// Creates the metrics of a node with `reader_count` reader threads and the size of its store.
    /// The times of blocks are those of `clock`, the costs those of the model that its mempool
    /// estimates with.
    pub(crate) fn new(
        reader_count: usize,
        clock: Clock,
        costs: Arc<CostModel>,
        usage: UsageMeter,
        sync_timer: SyncTimer,
    ) -> Self {
        Self {
            pool: Arc::default(),
            executor: Arc::new(WorkMeter::new("executor", 1)),
            writer: Arc::new(WorkMeter::new("store-writer", 1)),
            applier: Arc::new(WorkMeter::new(applier::THREAD, 1)),
            point_reader: Arc::new(WorkMeter::new(readers::POINT_THREAD, 1)),
            readers: Arc::new(WorkMeter::new(readers::THREAD, reader_count)),
            renderers: Arc::new(WorkMeter::new(renderers::THREAD, renderers::thread_count())),
            consensus_log: Arc::new(WorkMeter::new(worker::THREAD, 1)),
            commit: Arc::default(),
            scrub: Arc::default(),
            pruner: Arc::default(),
            proposals: Arc::default(),
            usage,
            waits: WaitMeter::default(),
            filter_denied: Counter::default(),
            costs,
            flight: FlightRecorder::new(clock),
            sync_timer,
        }
    }

    /// Returns the metrics of the threads behind queues.
    pub(crate) fn work(&self) -> [&Arc<WorkMeter>; 7] {
        [
            &self.executor,
            &self.writer,
            &self.applier,
            &self.point_reader,
            &self.readers,
            &self.renderers,
            &self.consensus_log,
        ]
    }

    /// Returns the current values, with the threads of the signature check, the number of clients
    /// that wait now and the size of the saved mempool.
    pub(crate) fn status(
        &self,
        signatures: WorkStatus,
        waiting_clients: usize,
        saved_pool_bytes: u64,
    ) -> MeterStatus {
        let behind_actors = self.work().into_iter().map(|meter| meter.status());
        MeterStatus {
            pool: self.pool.snapshot(),
            work: iter::once(signatures).chain(behind_actors).collect(),
            commit: self.commit.snapshot(),
            scrub: self.scrub.snapshot(),
            pruner: self.pruner.snapshot(),
            proposals: self.proposals.snapshot(),
            usage: self.usage.usage(),
            saved_pool_bytes,
            waits: self.waits.status(waiting_clients),
            filter_denied: self.filter_denied.snapshot(),
            costs: self.costs.status(),
            syncs: self.sync_timer.stats(),
        }
    }
}

/// Snapshot of a node's metrics. Counts start with the node.
#[derive(Clone, Debug)]
pub struct MeterStatus {
    /// Transactions in the mempool.
    pub pool: PoolStatus,
    /// The threads behind queues: signature check, executor, writer, applier, point reader,
    /// readers, renderers, consensus log.
    pub work: Vec<WorkStatus>,
    /// Commits and prune steps.
    pub commit: CommitStatus,
    /// Verification of the ledger's files.
    pub scrub: ScrubStatus,
    /// The window of versions.
    pub pruner: PrunerStatus,
    /// Blocks that validators proposed.
    pub proposals: ProposalStatus,
    /// Size of the store's content at the last checkpoint that was measured.
    pub usage: StoreUsage,
    /// Size of the file that a stop would save the mempool in, in bytes.
    pub saved_pool_bytes: u64,
    /// Clients that wait for transactions.
    pub waits: WaitStatus,
    /// Transactions that the filter of the operator denied.
    pub filter_denied: u64,
    /// Estimates of the duration of each kind of work, and what it took.
    pub costs: [CostStatus; WorkKind::ALL.len()],
    /// Syncs of the store.
    pub syncs: SyncStats,
}
