//! Storage: the health of the store, the threads that access the disk, and their bounded queues.

pub(crate) mod applier;
pub(crate) mod health;
pub(crate) mod inline_reader;
pub(crate) mod meter;
pub(crate) mod readers;
pub(crate) mod scrubber;
mod write_timer;
pub(crate) mod writer;

use crate::{
    Clock, StorageConfig, WorkConfig,
    protocol::{
        broadcast::SetPaused,
        commit_queue::{CommitQueue, WriteJob, WriteJobs},
        committer::CancelWaiters,
        durable_reader::{ApplyRequest, ApplyRequests, DurableReader},
        storage::{
            DiscardBlocks, DiskSpaceChanged, FirstFault, PruneStep, Read, STORAGE, StoragePeers,
        },
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
use crossbeam_channel::Receiver;
use health::HealthReporter;
use inline_reader::{InlineReader, InlineStore};
use ledger_limits::CostModel;
use ledger_store::{Query, Snapshot, StoreError, StoreReader, StoreWriter};
use readers::{ReadContext, ReadQueues, ReadTurns, ReaderTurns, Readers};
use std::sync::{Arc, OnceLock};
use writer::{Writer, WriterPeers};

/// Maximum number of queued prune steps. The pruner has at most one in flight.
const PRUNE_STEPS_MAX: usize = 1;

/// The storage actor, which owns the queues of the writer and of the readers.
///
/// Dropping it revokes the store of the inline reader and disconnects the read queues. The readers
/// end after they have run the queued queries.
pub(crate) struct Storage {
    commits: CommitQueue,
    reads: ReadQueues,
    read_turns: ReadTurns,
    inline_store: InlineStore,
    health: StorageHealth,
    peers: Arc<OnceLock<StoragePeers>>,
}

/// The parts of the storage that other threads use, until those threads are started.
pub(crate) struct StorageParts {
    commits: CommitQueue,
    write_jobs: WriteJobs,
    apply_requests: ApplyRequests,
    apply_jobs: Receiver<ApplyRequest>,
    reads: ReadQueues,
    reader_turns: ReaderTurns,
    /// Number of reader threads, beside that of point reads.
    readers: usize,
    work: WorkConfig,
    inline_store: InlineStore,
    publisher: StorageHealthPublisher,
    peers: Arc<OnceLock<StoragePeers>>,
}

/// The threads that access the disk, until they are started.
pub(crate) struct StorageWorkers {
    pub(crate) writer: WorkerThread<WriteJob>,
    pub(crate) applier: WorkerThread<ApplyRequest>,
    pub(crate) readers: Readers,
}

impl StorageParts {
    /// Returns the published health of the storage.
    pub(crate) fn health(&self) -> StorageHealth {
        self.publisher.health().clone()
    }

    /// Sets the actors that the storage actor notifies, and returns a reporter that sends faults
    /// and changes of the disk space to the storage actor.
    ///
    /// The caller must call it once, before it starts the threads.
    pub(crate) fn connect(
        &self,
        storage: &Mailbox<Storage>,
        peers: StoragePeers,
    ) -> HealthReporter {
        // An error means that the peers are set already: the caller connects once.
        let _ = self.peers.set(peers);
        HealthReporter::new(
            self.publisher.clone(),
            storage.recipient(),
            storage.recipient(),
        )
    }

    /// Returns the queues of queries.
    pub(crate) fn read_queues(&self) -> ReadQueues {
        self.reads.clone()
    }

    /// Returns the sending side of the writer thread's queue.
    pub(crate) fn commits(&self) -> CommitQueue {
        self.commits.clone()
    }

    /// Creates a reader of the store at the Head, which may be ahead of the database.
    pub(crate) fn durable_reader(&self, store: StoreReader) -> DurableReader {
        DurableReader::new(store, self.apply_requests.clone())
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

    /// Creates the writer thread, which notifies `peers` of durable blocks and prune steps, the
    /// thread that applies blocks on request, and the reader threads.
    pub(crate) fn workers(
        self,
        (writer, horizon): (StoreWriter, PruneHorizonPublisher),
        context: ReadContext,
        peers: WriterPeers,
        reporter: &FatalErrorReporter,
    ) -> StorageWorkers {
        let readers = self
            .reads
            .workers((self.readers, &self.work), &self.reader_turns, &context);
        let applier = applier::applier(
            writer.applier(),
            self.apply_jobs,
            peers.recorder.clone(),
            context.health.clone(),
            reporter.clone(),
        );
        let writer = Writer::new(writer, horizon, peers);
        let writer = writer.serve(self.write_jobs, context.health, reporter.clone());
        StorageWorkers {
            writer,
            applier,
            readers,
        }
    }
}

impl Storage {
    /// Creates the actor, and the parts that its threads use.
    ///
    /// At most `blocks_in_flight_max` blocks may be queued for the writer. A job beyond the
    /// capacity of the writer's queue breaks an invariant, which is reported to `reporter`.
    /// `costs` estimates queries, and `read_meters` record the point reads and the other queries.
    pub(crate) fn new(
        (config, work): (&StorageConfig, &WorkConfig),
        blocks_in_flight_max: usize,
        reporter: FatalErrorReporter,
        costs: &Arc<CostModel>,
        read_meters: (Arc<WorkMeter>, Arc<WorkMeter>),
    ) -> (Self, StorageParts) {
        let jobs_max = blocks_in_flight_max.saturating_add(PRUNE_STEPS_MAX);
        let (commits, write_jobs) = CommitQueue::new(jobs_max, reporter);
        let (apply_requests, apply_jobs) = ApplyRequests::new();
        let (reads, read_turns, reader_turns) =
            ReadQueues::new(config.read_queue_capacity, work, costs, read_meters);
        let parts = StorageParts {
            commits: commits.clone(),
            write_jobs,
            apply_requests,
            apply_jobs,
            reads: reads.clone(),
            reader_turns,
            readers: config.readers,
            work: work.clone(),
            inline_store: InlineStore::default(),
            publisher: StorageHealthPublisher::default(),
            peers: Arc::default(),
        };
        let storage = Self {
            commits,
            reads,
            read_turns,
            inline_store: parts.inline_store.clone(),
            health: parts.health(),
            peers: Arc::clone(&parts.peers),
        };
        (storage, parts)
    }

    /// Notifies the other actors whether writes are paused, according to the published health.
    ///
    /// Two notifications in a row can be the same, for example if a write fails while disk space is
    /// low.
    fn notify_of_pause(&self) {
        let is_paused = self.health.is_paused();
        if let Some(peers) = self.peers.get() {
            for receiver in &peers.paused {
                receiver.send(SetPaused(is_paused));
            }
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.inline_store.revoke();
    }
}

/// A read of any type. All types have the same label.
type AnyRead = Read<fn(&Snapshot) -> Result<(), StoreError>>;

impl Actor for Storage {
    const NAME: &'static str = STORAGE;
    const CAPACITY: &'static str = "actors.storage.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        AnyRead::LABEL,
        PruneStep::LABEL,
        FirstFault::LABEL,
        DiskSpaceChanged::LABEL,
        DiscardBlocks::LABEL,
    ];
}

impl TimedActor for Storage {}

impl Handler<PruneStep> for Storage {
    fn handle(&mut self, step: PruneStep) {
        self.commits.prune(step);
    }
}

impl Handler<DiscardBlocks> for Storage {
    fn handle(&mut self, DiscardBlocks { done }: DiscardBlocks) {
        self.commits.discard();
        // An error means that the receiver was dropped: the stop was canceled.
        let _ = done.send(());
    }
}

impl Handler<FirstFault> for Storage {
    fn handle(&mut self, _: FirstFault) {
        if let Some(peers) = self.peers.get() {
            peers.committer.send(CancelWaiters);
        }
        self.notify_of_pause();
    }
}

impl Handler<DiskSpaceChanged> for Storage {
    fn handle(&mut self, _: DiskSpaceChanged) {
        self.notify_of_pause();
    }
}

impl<Q: Query> Handler<Read<Q>> for Storage {
    fn handle(&mut self, read: Read<Q>) {
        if !read.reply.is_closed() {
            self.reads.push(&self.read_turns, read);
        }
    }
}

#[cfg(test)]
mod tests;
