//! The node under test: the wiring of a real node, on a [`SimulatedHost`] and a disk with faults.

use super::{
    fixture::{Fixture, STORE_OPTIONS},
    host::{CommittingWorker, ReaderWorker, SimulatedHost, Task},
    scheduler::{Scheduler, preempt_during_sync},
};
use crate::{
    Clock, NodeConfig, NodeHandle, Pending, Pool,
    engine::ConsensusStart,
    mempool::{
        TurnLog,
        persistence::{file, restore::refill},
    },
    node::{
        handle::{Mailboxes, NodeParts},
        parts::{Parts, Services},
        wires::{Opened, OpenedConsensus},
        wiring::Wiring,
    },
    runtime::{clock::LedgerClock, fatal::FatalErrorReporter, worker::WorkerThread},
    sequencer::bft::restore::restore,
    state::{head::HeadReader, storage_health::StorageHealth},
};
use ledger_store::{ConsensusLog, Store, StoreError, StoreFiles, StoreReader, UsageMeter};
use ledger_test_support::Disk;
use std::{cell::Cell, iter, rc::Rc};

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
    /// Height that the engine decides first, on a chain of several validators.
    pub(super) next_height: Option<u64>,
    /// Receivers of the queues of signatures and renderings, which stay open and unused: the
    /// simulation submits transactions that are already checked, and renders no responses.
    _services: Services,
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
    /// `None` on a chain of one node.
    pub(super) consensus: Option<ConsensusStart>,
}

impl NodeUnderTest {
    /// Whether the disk or an invariant has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.get().is_some() || self.storage_health.fault().is_some()
    }
}

impl StartUp<'_> {
    /// Opens the store, passes its reader and the consensus log to `inspect`, and starts the node.
    ///
    /// `inspect` reads the durable content before any process runs.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if the disk fails.
    pub(super) fn start(
        self,
        scheduler: &Rc<Scheduler>,
        inspect: impl FnOnce(&StoreReader, Option<&ConsensusLog>),
    ) -> Result<NodeUnderTest, StoreError> {
        let Self {
            fixture,
            config,
            clock,
            disk,
            saved,
            has_eager_compaction,
            consensus,
        } = self;
        let chain = &fixture.chain;
        let mut store = Store::open_backend(disk.clone(), disk.log(), &STORE_OPTIONS)?;
        if has_eager_compaction {
            store.compact_eagerly();
        }
        let scrubber = store.scrubber();
        let (writer, reader) = store.split();
        inspect(&reader, consensus.as_ref().map(|it| &it.log));
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
        let host = SimulatedHost {
            scheduler: Rc::clone(scheduler),
            failure: failure.clone(),
        };
        let applier = writer.applier();
        let consensus = match consensus {
            Some(consensus) => {
                let (start, log) = restore(consensus, chain, tip.clone())?;
                Some(OpenedConsensus { start, log })
            }
            None => None,
        };
        let next_height = consensus.as_ref().map(|it| it.start.next_height());
        let opened = Opened {
            chain: chain.clone(),
            config: config.clone(),
            clock: clock.clone(),
            pool,
            writer,
            reader: reader.clone(),
            files: StoreFiles::default(),
            scrubber,
            usage: UsageMeter::default(),
            tip,
            ledger_info,
            consensus,
            relay: None,
        };
        let wiring = Wiring::new(&opened, &host, &failure);
        let parts = Parts::new(opened, wiring, &failure);
        let NodeParts {
            mailboxes,
            head,
            health,
            ..
        } = parts.handle.node();
        let (mailboxes, head) = (mailboxes.clone(), head.clone());
        let storage_health = health.health().clone();
        let workers = parts.workers;
        scheduler.add(reader_process(workers.executor, &head, &reader));
        scheduler.add(Box::new(CommittingWorker {
            worker: workers.writer,
            applier: applier.clone(),
        }));
        scheduler.add(Box::new(CommittingWorker {
            worker: workers.applier,
            applier,
        }));
        if let Some(worker) = workers.consensus_log {
            scheduler.add(reader_process(worker, &head, &reader));
        }
        for worker in iter::once(workers.point_reader).chain(workers.readers) {
            scheduler.add(reader_process(worker, &head, &reader));
        }
        parts.actors.run(&host, parts.inboxes);
        disk.set_on_sync(preempt_during_sync);
        let (handle, notifier_task) = parts.handle.for_thread();
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
            next_height,
            _services: parts.services,
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
