//! Creation of the actors and of the threads behind them.

use super::{handle::Mailboxes, meters::Meters};
use crate::{
    NodeConfig,
    committer::{Committer, Executor, Jobs},
    mempool::{Mempool, Pool},
    protocol::{
        committer::{Peers, SetPeers},
        storage::StoragePeers,
    },
    pruner::{DirectorySize, Pruner},
    runtime::{
        arbiters::{ActorHost, ArbiterGroup},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        mailbox::{Mailbox, Recipient},
        worker::WorkerThread,
    },
    sequencer::{self, Engine, Sequencer},
    state::{
        head::{HeadPublisher, HeadReader},
        prune_horizon::{Horizon, PruneHorizonPublisher},
    },
    storage::{
        Storage, StorageParts, StorageWorkers,
        health::HealthReporter,
        inline_reader::InlineReader,
        readers::{ReadContext, ReadQueues, Readers},
        writer::WriterPeers,
    },
};
use ledger_store::{StoreReader, StoreWriter, UsageMeter};
use ledger_types::{ChainTip, LedgerInfo, OrderedBlock};
use ledger_vm::Chain;
use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
};

/// The values from which a node is built, and the host that runs its actors.
pub(crate) struct NodeBuilder<'a, H> {
    pub(crate) chain: &'a Chain,
    pub(crate) config: &'a NodeConfig,
    pub(crate) clock: &'a LedgerClock,
    /// Ledger info of the store that was opened.
    pub(crate) ledger_info: LedgerInfo,
    /// Size of the store's content.
    pub(crate) usage: UsageMeter,
    pub(crate) reporter: FatalErrorReporter,
    pub(crate) host: H,
}

/// The threads behind the actors, until they are started.
pub(crate) struct Workers {
    pub(crate) executor: WorkerThread<OrderedBlock>,
    pub(crate) storage: StorageWorkers,
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    pub(super) fn spawn(
        self,
        reporter: &FatalErrorReporter,
        meters: &Meters,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let mut threads = vec![
            self.executor.spawn(reporter, &meters.executor)?,
            self.storage.writer.spawn(reporter, &meters.writer)?,
            self.storage.applier.spawn(reporter, &meters.applier)?,
        ];
        let Readers {
            point_reader,
            readers,
        } = self.storage.readers;
        threads.push(point_reader.spawn(reporter, &meters.point_reader)?);
        for reader in readers {
            threads.push(reader.spawn(reporter, &meters.readers)?);
        }
        Ok(threads)
    }
}

/// The actors of a node, and the parts behind them that are not started yet.
pub(crate) struct StartedActors {
    pub(crate) mailboxes: Mailboxes,
    pub(crate) health: HealthReporter,
    pub(crate) head: HeadReader,
    pub(crate) reads: ReadQueues,
    /// Whether no pass of the scrubber may run, because the directory exceeds its limit.
    pub(crate) must_free_pages: Arc<AtomicBool>,
    storage: StorageParts,
    execution: Jobs,
    horizon: PruneHorizonPublisher,
}

impl<H: ActorHost> NodeBuilder<'_, H> {
    /// Starts each actor after the actors that receive its requests, and connects those that send
    /// messages in the other direction.
    pub(crate) fn start_actors(&self, pool: Pool, tip: &ChainTip) -> StartedActors {
        let Self { config, host, .. } = self;
        let capacities = &config.mailboxes;
        let in_flight_max = sequencer::blocks_in_flight_max(&config.sequencer);
        let meters = Arc::new(Meters::new(
            config.storage.readers,
            self.clock.source().clone(),
            Arc::clone(pool.cost_model()),
            self.usage.clone(),
        ));

        let horizon = PruneHorizonPublisher::new(Horizon::of(&self.ledger_info));
        let head_publisher = HeadPublisher::new(self.ledger_info, horizon.horizon());
        let head = head_publisher.reader();

        let (actor, storage_parts) = Storage::new(
            (&config.storage, &config.work),
            in_flight_max,
            self.reporter.clone(),
            &meters.costs,
            (
                Arc::clone(&meters.point_reader),
                Arc::clone(&meters.readers),
            ),
        );
        let storage = host.run(ArbiterGroup::Storage, capacities.storage, actor);

        let (actor, execution) = Committer::new(
            head_publisher,
            in_flight_max,
            storage_parts.health(),
            meters.flight.clone(),
            self.reporter.clone(),
        );
        let committer = host.run(ArbiterGroup::Commit, capacities.committer, actor);

        let must_free_pages = Arc::default();
        let actor = self.pruner(&storage, &meters, &must_free_pages);
        let pruner = host.run(ArbiterGroup::Storage, capacities.pruner, actor);

        let price_min = self.chain.parameters().gas_unit_price_min;
        let full_block = config.sequencer.block_transactions_max;
        let actor = Mempool::new(
            pool,
            price_min,
            full_block,
            self.clock.clone(),
            head.clone(),
            (committer.recipient(), committer.recipient()),
            Arc::clone(&meters.pool),
        );
        let mempool = host.run(ArbiterGroup::Mempool, capacities.mempool, actor);

        let actor = Sequencer::new(
            Engine::solo(tip),
            config.sequencer.clone(),
            self.clock.clone(),
            meters.flight.clone(),
            mempool.recipient(),
            committer.recipient(),
        );
        let sequencer = host.run(ArbiterGroup::Commit, capacities.sequencer, actor);

        committer.send(SetPeers(Peers {
            pool: mempool.recipient(),
            // The mempool is first, so it handles a block before the next pull of the sequencer.
            committed: vec![
                mempool.recipient(),
                sequencer.recipient(),
                pruner.recipient(),
            ],
        }));
        let peers = StoragePeers {
            committer: committer.recipient(),
            paused: vec![
                mempool.recipient(),
                sequencer.recipient(),
                pruner.recipient(),
            ],
        };
        StartedActors {
            health: storage_parts.connect(&storage, peers),
            reads: storage_parts.read_queues(),
            storage: storage_parts,
            execution,
            horizon,
            head,
            must_free_pages,
            mailboxes: Mailboxes {
                mempool,
                sequencer,
                committer,
                storage,
                pruner,
                meters,
            },
        }
    }

    /// Creates the pruner.
    fn pruner(
        &self,
        storage: &Mailbox<Storage>,
        meters: &Meters,
        must_free_pages: &Arc<AtomicBool>,
    ) -> Pruner {
        let pool = Arc::clone(&meters.pool);
        let size = DirectorySize {
            store: self.usage.clone(),
            saved_pool_bytes: Box::new(move || pool.saved_bytes()),
        };
        Pruner::new(
            self.config.pruner.clone(),
            &self.ledger_info,
            size,
            storage.recipient(),
            Arc::clone(&meters.pruner),
            Arc::clone(must_free_pages),
        )
    }

    /// Creates the reader that runs queries on the requesting thread.
    pub(crate) fn inline_reader(
        &self,
        actors: &StartedActors,
        store: &StoreReader,
    ) -> InlineReader {
        actors.storage.inline_reader(
            store.clone(),
            actors.head.clone(),
            actors.health.clone(),
            self.clock.source().clone(),
        )
    }

    /// Creates the threads behind the actors.
    pub(crate) fn workers(
        &self,
        actors: StartedActors,
        (writer, store): (StoreWriter, StoreReader),
        tip: ChainTip,
    ) -> Workers {
        let StartedActors {
            mailboxes,
            health,
            head,
            reads: _,
            must_free_pages: _,
            storage,
            execution,
            horizon,
        } = actors;
        // A node has one store, so the timer was not set before.
        let _ = mailboxes.meters.sync_timer.set(writer.sync_timer());
        let reader = storage.durable_reader(store);
        let recorder = mailboxes.meters.flight.clone();
        let executor = Executor::new(
            self.chain.clone(),
            tip,
            reader.clone(),
            head.clone(),
            recorder.clone(),
        );
        let faults = {
            let health = health.clone();
            Recipient::new(move |fault| health.report(&fault))
        };
        let executor = execution.worker(executor, storage.commits(), faults, self.reporter.clone());
        let peers = WriterPeers {
            committer: mailboxes.committer.recipient(),
            pruner: mailboxes.pruner.recipient(),
            meter: Arc::clone(&mailboxes.meters.commit),
            recorder,
        };
        let context = ReadContext {
            head,
            reader,
            health,
        };
        let storage = storage.workers((writer, horizon), context, peers, &self.reporter);
        Workers { executor, storage }
    }
}
