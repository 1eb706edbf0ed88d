//! The parts of a node, each constructed complete with its wires.

use super::{
    elsewhere::elsewhere_limit,
    handle::{Mailboxes, NodeHandle, NodeParts, RequestQueues},
    meters::Meters,
    renderers::RenderersGuard,
    stalls::Stalls,
    wait::wait_limit,
    wires::{Inboxes, Opened},
    wiring::Wiring,
};
use crate::{
    NodeConfig,
    committer::{Committer, CommitterPeers, Executor},
    mempool::{GasHistory, Mempool, MempoolPeers, Pool},
    protocol::{
        commit_queue::{CommitQueue, WriteJob, WriteJobs},
        durable_reader::{ApplyRequest, DurableReader},
    },
    pruner::{Pruner, PrunerPeers},
    relay::RelaySender,
    runtime::{
        arbiters::ActorHost, clock::LedgerClock, fatal::FatalErrorReporter, mailbox::Recipient,
        work_queue::JobTurn, worker::WorkerThread,
    },
    sequencer::{
        Engine, Sequencer, SequencerPeers,
        bft::worker::{ConsensusJob, ConsensusLogPeers, ConsensusWorker},
    },
    signatures::SignatureQueues,
    state::{
        directory_size::DirectorySize,
        head::{HeadPublisher, HeadReader},
        prune_horizon::PruneHorizonPublisher,
    },
    storage::{
        Storage, StoragePeers, applier,
        health::HealthReporter,
        inline_reader::{InlineReader, InlineStore},
        readers::{ReadContext, ReadQueues, ReadTurns},
        scrub_schedule::ScrubSchedule,
        scrubber::{BeginPass, Scrubber, ScrubberPeers},
        writer::{Writer, WriterPeers},
    },
};
use crossbeam_channel::{Receiver, Sender};
use ledger_store::{ConsensusLog, StoreFiles, StoreScrubber, StoreWriter};
use ledger_types::{ChainTip, LedgerInfo, OrderedBlock};
use ledger_vm::Chain;
use std::sync::Arc;

/// The parts of a node, of which none runs.
pub(crate) struct Parts<H: ActorHost> {
    pub(crate) handle: NodeHandle,
    pub(crate) actors: Actors,
    pub(crate) inboxes: Inboxes<H>,
    pub(crate) workers: Workers,
    pub(crate) services: Services,
}

/// The actors, until they run.
pub(crate) struct Actors {
    mempool: Mempool,
    sequencer: Sequencer,
    committer: Committer,
    storage: Storage,
    pruner: Pruner,
}

impl Actors {
    /// Runs the actors, the sequencer last: it begins to order blocks.
    pub(crate) fn run<H: ActorHost>(self, host: &H, inboxes: Inboxes<H>) {
        host.run(inboxes.storage, self.storage);
        host.run(inboxes.committer, self.committer);
        host.run(inboxes.pruner, self.pruner);
        host.run(inboxes.mempool, self.mempool);
        host.run(inboxes.sequencer, self.sequencer);
    }
}

/// The threads behind the actors, until they are started.
pub(crate) struct Workers {
    pub(crate) executor: WorkerThread<OrderedBlock>,
    pub(crate) writer: WorkerThread<WriteJob>,
    pub(crate) applier: WorkerThread<ApplyRequest>,
    pub(crate) point_reader: WorkerThread<JobTurn>,
    pub(crate) readers: Vec<WorkerThread<JobTurn>>,
    /// `None` on a chain of one node.
    pub(crate) consensus_log: Option<WorkerThread<ConsensusJob>>,
}

/// What the threads that serve requests without an actor are started with.
pub(crate) struct Services {
    pub(super) signatures: SignatureQueues,
    pub(super) renderers: RenderersGuard,
    pub(super) renderer_turns: Receiver<JobTurn>,
    /// `None` if scrubbing is off.
    pub(super) scrubber: Option<Scrubber>,
}

impl<H: ActorHost> Parts<H> {
    /// Constructs the parts of a node. They report broken invariants to `reporter`.
    pub(crate) fn new(opened: Opened, wiring: Wiring<H>, reporter: &FatalErrorReporter) -> Self {
        let (peers, queues, cells) = (wiring.peers, wiring.queues, wiring.cells);
        let consensus = opened.consensus.as_ref();
        let shared = Shared {
            chain: opened.chain,
            is_full_node: consensus.is_some_and(|opened| opened.start.address.is_none()),
            config: opened.config,
            clock: opened.clock,
            head: cells.head.reader(),
            relay: opened.relay,
            health: cells.health,
            size: cells.size,
            inline_store: cells.inline_store,
            mailboxes: wiring.mailboxes,
            reporter: reporter.clone(),
        };
        let (consensus, log) = opened
            .consensus
            .map(|opened| (opened.start, opened.log))
            .unzip();
        let engine = match consensus {
            Some(start) => {
                let meter = Arc::clone(&shared.meters().proposals);
                Engine::bft(start, queues.consensus.0, meter, shared.head.clone())
            }
            None => Engine::solo(&opened.tip),
        };
        let (executor, ordered) = queues.ordered;
        let (commits, write_jobs) = queues.commits;
        let (reads, read_turns, reader_turns) = queues.reads;
        let (rendering, renderers, renderer_turns) = queues.renderers;
        let reader = DurableReader::new(opened.reader, queues.applies.0);
        let consensus_log = log.map(|log| {
            let jobs = queues.consensus.1;
            shared.consensus_log(log, reader.clone(), jobs, peers.consensus_log)
        });
        let context = shared.read_context(reader.clone());
        let (count, nice) = (shared.config.storage.readers, shared.config.work.nice);
        let requests = RequestQueues {
            signatures: queues.signatures.0,
            renderers: rendering,
            reads: reads.clone(),
        };
        Self {
            inboxes: wiring.inboxes,
            workers: Workers {
                point_reader: reads.point_reader(&reader_turns, &context),
                readers: reads.readers(count, nice, &reader_turns, &context),
                applier: shared.applier(&opened.writer, queues.applies.1),
                writer: shared.writer(opened.writer, cells.horizon, write_jobs, peers.writer),
                executor: shared.executor(opened.tip, reader, ordered, commits.clone()),
                consensus_log,
            },
            actors: Actors {
                mempool: shared.mempool(opened.pool, peers.mempool),
                sequencer: shared.sequencer(engine, peers.sequencer),
                committer: shared.committer(executor, cells.head, peers.committer),
                storage: shared.storage(commits, reads, read_turns, queues.passes.0, peers.storage),
                pruner: shared.pruner(&opened.ledger_info, peers.pruner),
            },
            services: Services {
                signatures: queues.signatures.1,
                renderers,
                renderer_turns,
                scrubber: shared.scrubber(opened.scrubber, queues.passes.1, peers.scrubber),
            },
            handle: shared.handle(requests, opened.files),
        }
    }
}

/// The values of which several parts have a clone.
struct Shared {
    chain: Chain,
    is_full_node: bool,
    config: NodeConfig,
    clock: LedgerClock,
    head: HeadReader,
    relay: Option<RelaySender>,
    health: HealthReporter,
    inline_store: InlineStore,
    mailboxes: Mailboxes,
    size: DirectorySize,
    reporter: FatalErrorReporter,
}

impl Shared {
    fn meters(&self) -> &Meters {
        &self.mailboxes.meters
    }

    fn mempool(&self, pool: Pool, peers: MempoolPeers) -> Mempool {
        Mempool::new(
            pool,
            GasHistory::new(
                self.chain.parameters().gas_unit_price_min,
                self.config.sequencer.block_transactions_max,
            ),
            self.clock.clone(),
            self.head.clone(),
            peers,
            self.size.clone(),
            Arc::clone(&self.meters().pool),
        )
    }

    fn sequencer(&self, engine: Engine, peers: SequencerPeers) -> Sequencer {
        Sequencer::new(
            engine,
            self.config.sequencer.clone(),
            self.clock.clone(),
            self.meters().flight.clone(),
            self.reporter.clone(),
            peers,
        )
    }

    fn committer(
        &self,
        executor: Sender<OrderedBlock>,
        head: HeadPublisher,
        peers: CommitterPeers,
    ) -> Committer {
        Committer::new(
            executor,
            head,
            peers,
            self.health.health().clone(),
            self.meters().flight.clone(),
            self.reporter.clone(),
        )
    }

    fn storage(
        &self,
        commits: CommitQueue,
        reads: ReadQueues,
        read_turns: ReadTurns,
        passes: Sender<BeginPass>,
        peers: StoragePeers,
    ) -> Storage {
        let schedule = |interval| {
            ScrubSchedule::new(
                passes,
                interval,
                self.clock.source().clone(),
                self.health.health().clone(),
                self.size.clone(),
            )
        };
        Storage::new(
            commits,
            reads,
            read_turns,
            self.inline_store.clone(),
            self.health.health().clone(),
            peers,
            self.config.storage.scrub_interval().map(schedule),
        )
    }

    fn pruner(&self, ledger_info: &LedgerInfo, peers: PrunerPeers) -> Pruner {
        Pruner::new(
            self.config.pruner.clone(),
            ledger_info,
            self.meters().usage.clone(),
            self.size.clone(),
            peers,
            Arc::clone(&self.meters().pruner),
        )
    }

    fn executor(
        &self,
        tip: ChainTip,
        reader: DurableReader,
        ordered: Receiver<OrderedBlock>,
        commits: CommitQueue,
    ) -> WorkerThread<OrderedBlock> {
        let (chain, head) = (self.chain.clone(), self.head.clone());
        let executor = Executor::new(chain, tip, reader, head, self.meters().flight.clone());
        let health = self.health.clone();
        let faults = Recipient::new(move |fault| health.report(&fault));
        executor.serve(ordered, commits, faults, self.reporter.clone())
    }

    fn writer(
        &self,
        store: StoreWriter,
        horizon: PruneHorizonPublisher,
        jobs: WriteJobs,
        peers: WriterPeers,
    ) -> WorkerThread<WriteJob> {
        let meters = self.meters();
        let (meter, recorder) = (Arc::clone(&meters.commit), meters.flight.clone());
        let writer = Writer::new(store, horizon, peers, meter, recorder);
        writer.serve(jobs, self.health.clone(), self.reporter.clone())
    }

    fn applier(
        &self,
        writer: &StoreWriter,
        jobs: Receiver<ApplyRequest>,
    ) -> WorkerThread<ApplyRequest> {
        applier::applier(
            writer.applier(),
            jobs,
            self.meters().flight.clone(),
            self.health.clone(),
            self.reporter.clone(),
        )
    }

    fn consensus_log(
        &self,
        log: ConsensusLog,
        reader: DurableReader,
        jobs: Receiver<ConsensusJob>,
        peers: ConsensusLogPeers,
    ) -> WorkerThread<ConsensusJob> {
        let health = self.health.clone();
        let faults = Recipient::new(move |fault| health.report(&fault));
        let worker = ConsensusWorker::new(self.chain.clone(), log, reader, peers);
        worker.serve(jobs, faults, self.reporter.clone())
    }

    /// Returns the scrubber, unless scrubbing is off.
    fn scrubber(
        &self,
        store: StoreScrubber,
        passes: Receiver<BeginPass>,
        peers: ScrubberPeers,
    ) -> Option<Scrubber> {
        let (health, size) = (self.health.clone(), self.size.clone());
        let meter = Arc::clone(&self.meters().scrub);
        let is_on = self.config.storage.scrub_interval().is_some();
        is_on.then(|| Scrubber::new(store, passes, peers, health, size, meter))
    }

    /// Returns the resources of a reader thread.
    fn read_context(&self, reader: DurableReader) -> ReadContext {
        ReadContext {
            head: self.head.clone(),
            reader,
            health: self.health.clone(),
        }
    }

    fn handle(self, queues: RequestQueues, files: StoreFiles) -> NodeHandle {
        let inline_reader = InlineReader::new(
            self.inline_store,
            self.head.clone(),
            self.health.clone(),
            self.clock.source().clone(),
        );
        NodeHandle::new(NodeParts {
            wait_limit: wait_limit(&self.config.wait),
            relay: self.relay,
            elsewhere_limit: elsewhere_limit(),
            chain: self.chain,
            is_full_node: self.is_full_node,
            config: self.config,
            clock: self.clock,
            head: self.head,
            mailboxes: self.mailboxes,
            inline_reader,
            queues,
            health: self.health,
            size: self.size,
            files,
            reporter: self.reporter,
            stalls: Stalls::default(),
        })
    }
}
