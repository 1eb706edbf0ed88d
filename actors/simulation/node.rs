//! The node under test: the wiring of a real node, on a [`SimulatedHost`] and a disk with faults.

use super::{
    fixture::{Fixture, STORE_OPTIONS},
    host::{CommittingWorker, ReaderWorker, SimulatedHost, Task},
    scheduler::{Scheduler, preempt_during_sync},
};
use crate::{
    Clock, NodeConfig, NodeHandle, Pending, Pool,
    mempool::{
        TurnLog,
        persistence::{file, restore::refill},
    },
    node::{
        builder::NodeBuilder,
        handle::{Mailboxes, NodeParts, RequestQueues},
        renderers::Renderers,
        stalls::Stalls,
        wait::wait_limit,
    },
    protocol::sequencer::Start,
    runtime::{clock::LedgerClock, fatal::FatalErrorReporter, worker::WorkerThread},
    signatures::{SignatureChecks, SignatureQueues},
    state::{head::HeadReader, storage_health::StorageHealth},
    storage::readers::Readers,
};
use ledger_store::{Store, StoreError, StoreFiles, StoreReader, UsageMeter};
use ledger_test_support::Disk;
use std::{cell::Cell, iter, rc::Rc, sync::Arc};

/// A running node.
pub(super) struct NodeUnderTest {
    pub(super) handle: NodeHandle,
    pub(super) mailboxes: Mailboxes,
    pub(super) failure: FatalErrorReporter,
    pub(super) storage_health: StorageHealth,
    pub(super) head: HeadReader,
    pub(super) clock: LedgerClock,
    pub(super) disk: Disk,
    /// The turns of the accounts in the pool.
    pub(super) turns: TurnLog,
    /// Receivers of the signature queues, which stay open and unused: the simulation submits
    /// transactions that are already checked.
    _signatures: SignatureQueues,
}

/// Parameters of a start.
pub(super) struct StartUp<'a> {
    pub(super) fixture: &'static Fixture,
    pub(super) config: &'a NodeConfig,
    pub(super) clock: Clock,
    pub(super) disk: Disk,
    /// File that a graceful stop saved.
    pub(super) saved: Option<&'a [u8]>,
    /// Whether the store flushes and compacts its index after a few rows.
    pub(super) has_eager_compaction: bool,
}

impl NodeUnderTest {
    /// Whether the disk or an invariant has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.get().is_some() || self.storage_health.fault().is_some()
    }
}

impl StartUp<'_> {
    /// Opens the store, passes its reader to `inspect`, and starts the node.
    ///
    /// `inspect` reads the durable content before any process runs.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if the disk fails.
    pub(super) fn start(
        self,
        scheduler: &Rc<Scheduler>,
        inspect: impl FnOnce(&StoreReader),
    ) -> Result<NodeUnderTest, StoreError> {
        let Self {
            fixture,
            config,
            clock,
            disk,
            saved,
            has_eager_compaction,
        } = self;
        let chain = &fixture.chain;
        let mut store = Store::open_backend(disk.clone(), disk.log(), &STORE_OPTIONS)?;
        if has_eager_compaction {
            store.compact_eagerly();
        }
        let (writer, reader) = store.split();
        inspect(&reader);
        let tip = reader.chain_tip()?;
        let ledger_info = *reader.snapshot()?.ledger_info();
        let clock = LedgerClock::new(clock, &config.sequencer, tip.timestamp_usecs);
        let mut pool = match saved {
            Some(bytes) => {
                let pending = file::decode(bytes, chain).expect("the file is whole");
                refill(&config.mempool, pending, chain, &reader, clock.now_secs())?
            }
            None => Pool::new(config.mempool.clone()),
        };
        let turns = pool.log_turns();
        let failure = FatalErrorReporter::new();
        let builder = NodeBuilder {
            chain,
            config,
            clock: &clock,
            ledger_info,
            usage: UsageMeter::default(),
            reporter: failure.clone(),
            host: SimulatedHost {
                scheduler: Rc::clone(scheduler),
                failure: failure.clone(),
            },
        };
        let actors = builder.start_actors(pool, &tip);
        let (mailboxes, health) = (actors.mailboxes.clone(), actors.health.clone());
        let (head, reads) = (actors.head.clone(), actors.reads.clone());
        let inline_reader = builder.inline_reader(&actors, &reader);
        let applier = writer.applier();
        let workers = builder.workers(actors, (writer, reader.clone()), tip);
        scheduler.add(reader_process(workers.executor, &head, &reader));
        let storage = workers.storage;
        scheduler.add(Box::new(CommittingWorker {
            worker: storage.writer,
            applier: applier.clone(),
        }));
        scheduler.add(Box::new(CommittingWorker {
            worker: storage.applier,
            applier,
        }));
        let Readers {
            point_reader,
            readers,
        } = storage.readers;
        for worker in iter::once(point_reader).chain(readers) {
            scheduler.add(reader_process(worker, &head, &reader));
        }
        let (checks, signatures) = SignatureChecks::new(&config.signatures);
        // The simulation renders no responses, so the other end of this queue is dropped.
        let (costs, meter) = (
            Arc::clone(&mailboxes.meters.costs),
            Arc::clone(&mailboxes.meters.renderers),
        );
        let (renderers, ..) = Renderers::new(&config.work, costs, meter);
        mailboxes.sequencer.send(Start {
            batches: mailboxes.sequencer.recipient(),
        });
        disk.set_on_sync(preempt_during_sync);
        let storage_health = health.health().clone();
        let handle = NodeHandle::new(NodeParts {
            chain: chain.clone(),
            config: config.clone(),
            clock: clock.clone(),
            head: head.clone(),
            mailboxes: mailboxes.clone(),
            inline_reader,
            queues: RequestQueues {
                signatures: checks,
                renderers,
                reads,
            },
            wait_limit: wait_limit(&config.wait),
            health,
            files: StoreFiles::default(),
            reporter: failure.clone(),
            stalls: Stalls::default(),
        });
        let (handle, notifier_task) = handle.for_thread();
        let is_active = Rc::new(Cell::new(true));
        scheduler.add(Task::new("notifier".to_owned(), is_active, notifier_task));
        Ok(NodeUnderTest {
            handle,
            mailboxes,
            failure,
            storage_health,
            head,
            clock,
            disk,
            turns,
            _signatures: signatures,
        })
    }
}

/// Creates the process of a worker thread that reads the store.
fn reader_process<J>(
    worker: WorkerThread<J>,
    head: &HeadReader,
    reader: &StoreReader,
) -> Box<ReaderWorker<J>> {
    Box::new(ReaderWorker {
        worker,
        head: head.clone(),
        reader: reader.clone(),
    })
}

/// Returns the file that a graceful stop saves, or `None` if nothing is pending.
pub(super) fn encode_saved(fixture: &Fixture, pending: &[Pending]) -> Option<Vec<u8>> {
    let bytes = || file::encode(&fixture.chain, pending).expect("transactions have a BCS form");
    (!pending.is_empty()).then(bytes)
}
