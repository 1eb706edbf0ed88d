//! The reader threads, which run queries on the store, and their queues.
//!
//! Point reads have a queue and a thread of their own, with capacity that no other query can take.

use super::health::HealthReporter;
use crate::{
    NodeError, WorkConfig,
    protocol::{
        durable_reader::DurableReader,
        storage::{Answer, Read, STORAGE},
    },
    runtime::{
        work_meter::WorkMeter,
        work_queue::{JobTurn, QueueLimits, WorkQueue},
        worker::WorkerThread,
    },
    state::head::HeadReader,
};
use crossbeam_channel::{Receiver, Sender};
use ledger_limits::{CostModel, Estimate, WorkKind};
use ledger_store::{Query, Snapshot, StoreError};
use std::sync::Arc;

/// Name of the threads that run all queries but point reads.
pub(crate) const THREAD: &str = "store-reader";

/// Name of the thread that runs point reads.
pub(crate) const POINT_THREAD: &str = "point-reader";

/// Maximum estimated duration of a point read, in microseconds. A point read that demands more
/// waits with the other queries.
const POINT_READ_USECS_MAX: u64 = 100;

/// Maximum number of attempts to open a snapshot at the Head.
///
/// An attempt fails if the Head's version is pruned before the snapshot is open. That happens only
/// with a tiny window of readable versions, and if the reader thread is not scheduled for several
/// blocks.
const SNAPSHOT_ATTEMPTS_MAX: usize = 8;

/// The resources with which a reader thread runs queries.
#[derive(Clone, Debug)]
pub(crate) struct ReadContext {
    pub(crate) head: HeadReader,
    pub(crate) reader: DurableReader,
    pub(crate) health: HealthReporter,
}

impl ReadContext {
    /// Runs a query on a snapshot at the version of the Head. Reports a fault of the disk.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::NotApplied`] if the block of the Head is not applied in time,
    /// [`NodeError::Stopping`] if the store is closed before, and [`NodeError::Store`] if no
    /// snapshot can be opened or the query fails.
    pub(super) fn read<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        let answer = self.snapshot().and_then(|snapshot| {
            let output = query.run(&snapshot)?;
            Ok((*snapshot.ledger_info(), output))
        });
        answer.map_err(|error| match error {
            StoreError::NotApplied { .. } => NodeError::NotApplied,
            StoreError::Closed => NodeError::Stopping,
            error => {
                self.health.report_read(STORAGE, &error);
                NodeError::Store(error)
            }
        })
    }

    /// Opens a snapshot at the version of the Head.
    ///
    /// The block of the Head is durable, so [`DurableReader`] can wait until it is applied.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotApplied`] if the block is not applied in time, and
    /// [`StoreError::VersionOutOfRange`] if the version was pruned during every attempt. Returns
    /// the error of the store if the block cannot be applied or the store cannot be read.
    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut attempts_left = SNAPSHOT_ATTEMPTS_MAX;
        loop {
            attempts_left -= 1;
            match self.reader.snapshot_at(&self.head.ledger_info()) {
                Err(StoreError::VersionOutOfRange {
                    requested, oldest, ..
                }) if requested < oldest && attempts_left > 0 => {}
                outcome => return outcome,
            }
        }
    }
}

/// The queues of queries. Clones share them, and keep no thread alive.
#[derive(Clone, Debug)]
pub(crate) struct ReadQueues {
    pub(crate) point_reads: WorkQueue<ReadContext>,
    pub(crate) reads: WorkQueue<ReadContext>,
}

/// Sending sides of the turns of both queues, which keep the reader threads alive.
#[derive(Debug)]
pub(crate) struct ReadTurns {
    point_reads: Sender<JobTurn>,
    reads: Sender<JobTurn>,
}

/// Receiving sides of the turns of both queues.
#[derive(Debug)]
pub(crate) struct ReaderTurns {
    point_reads: Receiver<JobTurn>,
    reads: Receiver<JobTurn>,
}

impl ReadQueues {
    /// Creates the queues, of at most `jobs_max` queries each, with the budgets of `config`, and
    /// both sides of their turns. `point_meter` records the point reads, and `meter` the other
    /// queries.
    pub(crate) fn new(
        jobs_max: usize,
        config: &WorkConfig,
        costs: &Arc<CostModel>,
        point_meter: &Arc<WorkMeter>,
        meter: &Arc<WorkMeter>,
    ) -> (Self, ReadTurns, ReaderTurns) {
        const JOBS: &str = "storage.read_queue_capacity";
        let reads = QueueLimits {
            name: "reads",
            budget: "work.read_budget_ms",
            budget_ms: config.read_budget_ms,
            jobs: JOBS,
            jobs_max,
        };
        let point_reads = QueueLimits {
            name: "point_reads",
            budget: "work.point_read_budget_ms",
            budget_ms: config.point_read_budget_ms,
            ..reads
        };
        let (point_reads, point_sender, point_receiver) =
            WorkQueue::new(point_reads, Arc::clone(costs), Arc::clone(point_meter));
        let (reads, sender, receiver) = WorkQueue::new(reads, Arc::clone(costs), Arc::clone(meter));
        let senders = ReadTurns {
            point_reads: point_sender,
            reads: sender,
        };
        let receivers = ReaderTurns {
            point_reads: point_receiver,
            reads: receiver,
        };
        (Self { point_reads, reads }, senders, receivers)
    }

    /// Adds a query whose answer is sent to the caller.
    pub(super) fn push<Q: Query>(&self, turns: &ReadTurns, Read { work, query, reply }: Read<Q>) {
        let estimate = self.reads.estimate(work);
        let (queue, turns) = match is_short(&estimate) {
            true => (&self.point_reads, &turns.point_reads),
            false => (&self.reads, &turns.reads),
        };
        let run = move |context: &ReadContext| context.read(query);
        queue.push(turns, (work, estimate), reply, run);
    }

    /// Creates the thread for point reads. It ends when the sending sides of its turns are dropped
    /// and all queued queries have run.
    pub(crate) fn point_reader(
        &self,
        turns: &ReaderTurns,
        context: &ReadContext,
    ) -> WorkerThread<JobTurn> {
        let turns = turns.point_reads.clone();
        self.point_reads
            .worker(POINT_THREAD, 0, turns, context.clone())
    }

    /// Creates `count` threads with a nice value for the other queries. They end as
    /// [`Self::point_reader`] does.
    pub(crate) fn readers(
        &self,
        count: usize,
        nice: u8,
        turns: &ReaderTurns,
        context: &ReadContext,
    ) -> Vec<WorkerThread<JobTurn>> {
        let reader = |_| {
            let turns = turns.reads.clone();
            self.reads.worker(THREAD, nice, turns, context.clone())
        };
        (0..count).map(reader).collect()
    }
}

/// Returns whether a query is one of the point reads, which have a thread of their own. The
/// correction of the estimate does not count: on a slow machine point reads are still the shortest.
fn is_short(estimate: &Estimate) -> bool {
    estimate.kind == WorkKind::PointRead && estimate.uncorrected_usecs() <= POINT_READ_USECS_MAX
}
