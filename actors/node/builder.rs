//! Creation of the actors and of the threads behind them.

use super::{handle::Mailboxes, meters::Meters};
use crate::{
    NodeConfig,
    committer::{Committer, Executor, Jobs},
    mempool::{Mempool, Pool},
    protocol::{
        commit_queue::WriteJob,
        committer::{CancelWaiters, Peers, SetPeers},
    },
    pruner::Pruner,
    runtime::{
        arbiters::{ActorHost, ArbiterGroup},
        clock::LedgerClock,
        fatal::FatalErrorReporter,
        worker::WorkerThread,
    },
    sequencer::{self, Engine, Sequencer},
    state::head::HeadCell,
    storage::{
        Queues, Storage, inline_reader::InlineReader, readers::ReadJob, writer::WriterPeers,
    },
};
use ledger_store::{StoreReader, StoreWriter};
use ledger_types::{ChainTip, LedgerInfo, OrderedBlock};
use ledger_vm::Chain;
use std::{io, sync::Arc, thread::JoinHandle};

/// What all actors are made from.
pub(crate) struct NodeBuilder<'a, H> {
    pub(crate) chain: &'a Chain,
    pub(crate) config: &'a NodeConfig,
    pub(crate) clock: &'a LedgerClock,
    pub(crate) head: HeadCell,
    pub(crate) failure: FatalErrorReporter,
    pub(crate) host: H,
}

/// What works behind the actors.
pub(crate) struct Workers {
    pub(crate) executor: WorkerThread<OrderedBlock>,
    pub(crate) writer: WorkerThread<WriteJob>,
    pub(crate) readers: Vec<WorkerThread<ReadJob>>,
}

impl Workers {
    /// Starts a thread for each.
    pub(super) fn spawn(
        self,
        failure: &FatalErrorReporter,
        meters: &Meters,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let mut threads = vec![
            self.executor.spawn(failure, &meters.executor)?,
            self.writer.spawn(failure, &meters.writer)?,
        ];
        for reader in self.readers {
            threads.push(reader.spawn(failure, &meters.readers)?);
        }
        Ok(threads)
    }
}

impl<H: ActorHost> NodeBuilder<'_, H> {
    /// Starts the actors, from the bottom up.
    pub(crate) fn actors(
        &self,
        pool: Pool,
        tip: &ChainTip,
        ledger_info: &LedgerInfo,
    ) -> (Mailboxes, Queues, Jobs) {
        let Self { config, host, .. } = self;
        let capacities = &config.mailboxes;
        let in_flight_max = sequencer::blocks_in_flight_max(&config.sequencer);
        let meters = Arc::new(Meters::new(config.storage.readers, config.wait.capacity));

        let readers = Arc::clone(&meters.readers);
        let (actor, queues) = Storage::new(
            &config.storage,
            in_flight_max,
            self.failure.clone(),
            readers,
        );
        let storage = host.run(ArbiterGroup::Storage, capacities.storage, actor);

        let (actor, jobs) = Committer::new(self.head.clone(), in_flight_max, self.failure.clone());
        let committer = host.run(ArbiterGroup::Commit, capacities.committer, actor);

        let actor = Pruner::new(config.pruner.clone(), ledger_info, storage.recipient());
        let pruner = host.run(ArbiterGroup::Storage, capacities.pruner, actor);

        let price_min = self.chain.parameters().gas_unit_price_min;
        let full_block = config.sequencer.block_transactions_max;
        let actor = Mempool::new(
            pool,
            price_min,
            full_block,
            self.clock.clone(),
            self.head.clone(),
            (committer.recipient(), committer.recipient()),
            Arc::clone(&meters.pool),
        );
        let mempool = host.run(ArbiterGroup::Mempool, capacities.mempool, actor);

        let actor = Sequencer::new(
            Engine::solo(tip),
            config.sequencer.clone(),
            self.clock.clone(),
            mempool.recipient(),
            committer.recipient(),
        );
        let sequencer = host.run(ArbiterGroup::Commit, capacities.sequencer, actor);

        let cancel = committer.recipient();
        self.failure
            .set_on_failed(move || cancel.send(CancelWaiters));
        committer.send(SetPeers(Peers {
            pool: mempool.recipient(),
            mempool: mempool.recipient(),
            sequencer: sequencer.recipient(),
            pruner: pruner.recipient(),
        }));
        let mailboxes = Mailboxes {
            mempool,
            sequencer,
            committer,
            storage,
            pruner,
            meters,
        };
        (mailboxes, queues, jobs)
    }

    /// What reads beside the readers.
    pub(crate) fn direct_reads(&self, reader: &StoreReader) -> InlineReader {
        let (head, failure) = (self.head.clone(), self.failure.clone());
        InlineReader::new(head, reader.clone(), failure, self.clock.source().clone())
    }

    /// What works behind the actors.
    pub(crate) fn workers(
        &self,
        mailboxes: &Mailboxes,
        (queues, jobs): (Queues, Jobs),
        (writer, reader): (StoreWriter, StoreReader),
        tip: ChainTip,
    ) -> Workers {
        // A node has one store, so the timer was not set before.
        let _ = mailboxes.meters.sync_timer.set(writer.sync_timer());
        let reader = queues.reader(reader);
        let executor = Executor::new(self.chain.clone(), tip, reader.clone(), self.head.clone());
        let peers = WriterPeers {
            stored: mailboxes.committer.recipient(),
            pruned: mailboxes.pruner.recipient(),
            meter: Arc::clone(&mailboxes.meters.commit),
        };
        let commits = queues.commits();
        let (writer, readers) = queues.workers((writer, reader), &self.head, peers, &self.failure);
        Workers {
            executor: jobs.worker(executor, commits, &self.failure),
            writer,
            readers,
        }
    }
}
