//! The storage: its health, the threads that touch the disk, and the bounded queues in front of them.

pub(crate) mod health;
pub(crate) mod inline_reader;
pub(crate) mod meter;
pub(crate) mod readers;
pub(crate) mod writer;

use crate::{
    Clock, NodeError, StorageConfig,
    error::StorageFault,
    protocol::{
        broadcast::SetPaused,
        commit_queue::{CommitQueue, WriteJob},
        committer::CancelWaiters,
        durable_reader::DurableReader,
        storage::{DiskSpace, PruneStep, Read, STORAGE, StoragePeers},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        fatal::FatalErrorReporter,
        mailbox::Mailbox,
        timer::TimedActor,
        work_meter::WorkMeter,
        worker::WorkerThread,
    },
    state::{
        head::HeadReader,
        prune_horizon::PruneHorizonPublisher,
        storage_health::{StorageHealth, StorageHealthPublisher},
    },
};
use crossbeam_channel::{Receiver, Sender};
use health::HealthReporter;
use inline_reader::{InlineReader, InlineStore};
use ledger_store::{Query, Snapshot, StoreError, StoreReader, StoreWriter};
use readers::{ReadContext, ReadJob};
use std::sync::{Arc, OnceLock};
use writer::{Writer, WriterPeers};

/// Maximum number of queued prune steps: the pruner has one in flight.
const PRUNE_STEPS_MAX: usize = 1;

/// Number of threads that execute blocks. Each may wait for one apply request.
const EXECUTORS: usize = 1;

/// The storage actor. It owns the health of the storage, the threads that touch the disk, and their
/// queues.
///
/// Dropping it revokes the inline reader and disconnects the readers' queue, so that the readers end
/// after the queued jobs.
pub(crate) struct Storage {
    commits: CommitQueue,
    reads: Sender<ReadJob>,
    read_meter: Arc<WorkMeter>,
    inline_store: InlineStore,
    peers: Arc<OnceLock<StoragePeers>>,
    is_disk_space_low: bool,
    has_failed: bool,
    /// Whether the other actors were last notified that nothing new may be written.
    is_paused: bool,
}

/// The parts of the storage that work on other threads, until those are started.
pub(crate) struct StorageParts {
    commits: CommitQueue,
    write_jobs: Receiver<WriteJob>,
    read_jobs: Receiver<ReadJob>,
    readers: usize,
    inline_store: InlineStore,
    publisher: StorageHealthPublisher,
    peers: Arc<OnceLock<StoragePeers>>,
}

impl StorageParts {
    /// Returns the health of the storage.
    pub(crate) fn health(&self) -> StorageHealth {
        self.publisher.health().clone()
    }

    /// Sets the actors that the storage actor notifies, and returns the reporter of faults to it.
    /// Called once, before the threads are started.
    pub(crate) fn connect(
        &self,
        storage: &Mailbox<Storage>,
        peers: StoragePeers,
    ) -> HealthReporter {
        // An error means that the peers were set before, which the caller excludes.
        let _ = self.peers.set(peers);
        HealthReporter::new(
            self.publisher.clone(),
            storage.recipient(),
            storage.recipient(),
        )
    }

    /// Returns the queue of the writer thread.
    pub(crate) fn commits(&self) -> CommitQueue {
        self.commits.clone()
    }

    /// Creates a reader of the store as of the Head.
    pub(crate) fn durable_reader(&self, store: StoreReader) -> DurableReader {
        DurableReader::new(store, self.commits.clone())
    }

    /// Creates the reader that runs queries on the requesting thread, until the storage actor is
    /// dropped.
    pub(crate) fn inline_reader(
        &self,
        store: StoreReader,
        head: HeadReader,
        health: HealthReporter,
        clock: Clock,
    ) -> InlineReader {
        self.inline_store.set(store);
        InlineReader::new(self.inline_store.clone(), head, health, clock)
    }

    /// Creates the writer, which notifies `peers` of what is durable, and the readers.
    pub(crate) fn workers(
        self,
        (writer, horizon): (StoreWriter, PruneHorizonPublisher),
        context: ReadContext,
        peers: WriterPeers,
        reporter: &FatalErrorReporter,
    ) -> (WorkerThread<WriteJob>, Vec<WorkerThread<ReadJob>>) {
        let readers = (0..self.readers)
            .map(|_| readers::reader(context.clone(), self.read_jobs.clone()))
            .collect();
        let writer = Writer::new(writer, horizon, peers);
        let writer = writer.serve(self.write_jobs, context.health, reporter.clone());
        (writer, readers)
    }
}

impl Storage {
    /// Creates the actor for at most `blocks_in_flight_max` blocks that are not durable.
    ///
    /// `read_meter` counts the jobs of the readers. A job beyond the capacity of the writer's queue
    /// is reported to `reporter`.
    pub(crate) fn new(
        config: &StorageConfig,
        blocks_in_flight_max: usize,
        reporter: FatalErrorReporter,
        read_meter: Arc<WorkMeter>,
    ) -> (Self, StorageParts) {
        // A thread that reads waits after its request, so it has one at a time.
        let apply_requests_max = config.readers.saturating_add(EXECUTORS);
        let jobs_max = blocks_in_flight_max
            .saturating_add(PRUNE_STEPS_MAX)
            .saturating_add(apply_requests_max);
        let (commits, write_jobs) = CommitQueue::new(jobs_max, reporter);
        let (reads, read_jobs) = crossbeam_channel::bounded(config.read_queue_capacity);
        let parts = StorageParts {
            commits: commits.clone(),
            write_jobs,
            read_jobs,
            readers: config.readers,
            inline_store: InlineStore::default(),
            publisher: StorageHealthPublisher::default(),
            peers: Arc::default(),
        };
        let storage = Self {
            commits,
            reads,
            read_meter,
            inline_store: parts.inline_store.clone(),
            peers: Arc::clone(&parts.peers),
            is_disk_space_low: false,
            has_failed: false,
            is_paused: false,
        };
        (storage, parts)
    }

    /// Notifies the other actors if nothing new may be written, or may again, since the last
    /// notification.
    fn notify_of_pause(&mut self) {
        let is_paused = self.is_disk_space_low || self.has_failed;
        if is_paused == self.is_paused {
            return;
        }
        self.is_paused = is_paused;
        if let Some(peers) = self.peers.get() {
            for peer in [&peers.mempool, &peers.sequencer, &peers.pruner] {
                peer.send(SetPaused(is_paused));
            }
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.inline_store.revoke();
    }
}

/// A read of some type; the label is that of every type.
type AnyRead = Read<fn(&Snapshot) -> Result<(), StoreError>>;

impl Actor for Storage {
    const NAME: &'static str = STORAGE;
    const LABELS: &'static [&'static str] = &[
        AnyRead::LABEL,
        PruneStep::LABEL,
        StorageFault::LABEL,
        DiskSpace::LABEL,
    ];
}

impl TimedActor for Storage {}

impl Handler<PruneStep> for Storage {
    fn handle(&mut self, step: PruneStep) {
        self.commits.prune(step);
    }
}

impl Handler<StorageFault> for Storage {
    fn handle(&mut self, _: StorageFault) {
        if !self.has_failed {
            self.has_failed = true;
            if let Some(peers) = self.peers.get() {
                peers.committer.send(CancelWaiters);
            }
            self.notify_of_pause();
        }
    }
}

impl Handler<DiskSpace> for Storage {
    fn handle(&mut self, DiskSpace { is_low }: DiskSpace) {
        self.is_disk_space_low = is_low;
        self.notify_of_pause();
    }
}

impl<Q: Query> Handler<Read<Q>> for Storage {
    fn handle(&mut self, Read { query, reply }: Read<Q>) {
        if reply.is_closed() {
            return;
        }
        if self.reads.is_full() {
            self.read_meter.count_refused();
            // An error means that the request was canceled.
            let _ = reply.send(Err(NodeError::Overloaded { actor: STORAGE }));
            return;
        }
        let job: ReadJob = Box::new(move |context| {
            if !reply.is_closed() {
                // An error means that the request was canceled.
                let _ = reply.send(context.read(query));
            }
        });
        // Only this actor sends, so there is capacity. If the readers have ended, the reply is dropped,
        // which means to the caller that the node is stopping.
        let _ = self.reads.try_send(job);
        self.read_meter.set_depth(self.reads.len());
    }
}

#[cfg(test)]
mod tests;
