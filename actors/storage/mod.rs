//! The storage: bounded queues in front of the threads that touch the disk.

pub(crate) mod inline_reader;
pub(crate) mod meter;
pub(crate) mod readers;
pub(crate) mod writer;

use crate::{
    NodeError, StorageConfig,
    protocol::{
        commit_queue::{CommitQueue, WriteJob},
        durable_reader::DurableReader,
        storage::{PruneStep, Read, STORAGE},
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        fatal::FatalErrorReporter,
        timer::TimedActor,
        work_meter::WorkMeter,
        worker::WorkerThread,
    },
    state::head::HeadCell,
};
use crossbeam_channel::{Receiver, Sender};
use ledger_store::{Query, Snapshot, StoreError, StoreReader, StoreWriter};
use readers::ReadJob;
use std::sync::Arc;
use writer::WriterPeers;

/// The most prunes that wait for the writer: the pruner has one in flight.
const PRUNES_MAX: usize = 1;

/// The threads that execute blocks, and read for it.
const EXECUTORS: usize = 1;

/// The actor. Its readers end when it is dropped, after what is in their queue.
pub(crate) struct Storage {
    commits: CommitQueue,
    reads: Sender<ReadJob>,
    failure: FatalErrorReporter,
    readers: Arc<WorkMeter>,
}

/// The other ends of a storage's queues, until its threads are started.
pub(crate) struct Queues {
    commits: CommitQueue,
    writes: Receiver<WriteJob>,
    reads: Receiver<ReadJob>,
    readers: usize,
}

impl Queues {
    /// Where the executor hands over what it has executed: past the actor, as a block waits for every thread on its way.
    pub(crate) fn commits(&self) -> CommitQueue {
        self.commits.clone()
    }

    /// Reads what the Head shows, on any thread.
    pub(crate) fn reader(&self, store: StoreReader) -> DurableReader {
        DurableReader::new(store, self.commits.clone())
    }

    /// The writer, which tells `peers` what is durable, and the readers.
    pub(crate) fn workers(
        self,
        (writer, reader): (StoreWriter, DurableReader),
        head: &HeadCell,
        peers: WriterPeers,
        failure: &FatalErrorReporter,
    ) -> (WorkerThread<WriteJob>, Vec<WorkerThread<ReadJob>>) {
        let readers = (0..self.readers)
            .map(|_| readers::reader(reader.clone(), head.clone(), self.reads.clone()))
            .collect();
        let writer = writer::writer(writer, head.clone(), self.writes, peers, failure);
        (writer, readers)
    }
}

impl Storage {
    /// A storage for at most `blocks_in_flight_max` blocks that are not durable. `readers` counts what its readers
    /// are asked.
    pub(crate) fn new(
        config: &StorageConfig,
        blocks_in_flight_max: usize,
        failure: FatalErrorReporter,
        readers: Arc<WorkMeter>,
    ) -> (Self, Queues) {
        // Each thread that reads waits after it has asked to be shown something.
        let shows_max = config.readers.saturating_add(EXECUTORS);
        let writes_max = blocks_in_flight_max.saturating_add(PRUNES_MAX);
        let writes_max = writes_max.saturating_add(shows_max);
        let (commits, write_queue) = CommitQueue::new(writes_max, failure.clone());
        let (reads, read_queue) = crossbeam_channel::bounded(config.read_queue_capacity);
        let storage = Self {
            commits: commits.clone(),
            reads,
            failure,
            readers,
        };
        let queues = Queues {
            commits,
            writes: write_queue,
            reads: read_queue,
            readers: config.readers,
        };
        (storage, queues)
    }
}

/// A read of some type; the label is that of every type.
type AnyRead = Read<fn(&Snapshot) -> Result<(), StoreError>>;

impl Actor for Storage {
    const NAME: &'static str = STORAGE;
    const LABELS: &'static [&'static str] = &[AnyRead::LABEL, PruneStep::LABEL];
}

impl TimedActor for Storage {}

impl Handler<PruneStep> for Storage {
    fn handle(&mut self, prune: PruneStep) {
        self.commits.prune(prune);
    }
}

impl<Q: Query> Handler<Read<Q>> for Storage {
    fn handle(&mut self, Read { query, reply }: Read<Q>) {
        if reply.is_closed() {
            return;
        }
        if self.reads.is_full() {
            self.readers.count_refused();
            let _ = reply.send(Err(NodeError::Overloaded {
                actor: Storage::NAME,
            }));
            return;
        }
        let failure = self.failure.clone();
        let job: ReadJob = Box::new(move |head, reader| {
            if reply.is_closed() {
                return;
            }
            let answer = readers::snapshot_at_head(head, reader).and_then(|snapshot| {
                let output = query.run(&snapshot)?;
                Ok((*snapshot.ledger_info(), output))
            });
            if let Err(error) = &answer {
                failure.report_read(Storage::NAME, error);
            }
            let _ = reply.send(answer.map_err(NodeError::Store));
        });
        // Only this actor sends, so there is room; disconnected readers drop the reply, which tells
        // the client that the node is stopping.
        let _ = self.reads.try_send(job);
        self.readers.set_depth(self.reads.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Head,
        runtime::mailbox::Recipient,
        state::committed::IndexedBlock,
        storage::meter::CommitMeter,
        testing::{block, wallet::development},
    };
    use ledger_execution::execute_block;
    use ledger_types::{AccountAddress, OrderedBlock, StateError, StateKey};

    #[test]
    fn a_busy_writer_has_room_for_all_that_may_wait_and_for_no_more() {
        const IN_FLIGHT_MAX: u64 = 2;
        let failure = FatalErrorReporter::new();
        let config = StorageConfig::default();
        let readers = Arc::new(WorkMeter::new("readers", 1));
        let (mut storage, _queues) =
            Storage::new(&config, IN_FLIGHT_MAX as usize, failure.clone(), readers);
        for _ in 0..=config.readers {
            storage.commits.request_apply();
        }
        let commit = |height| IndexedBlock::without_updates(block(height, &[], &[]));
        for height in 1..=IN_FLIGHT_MAX {
            storage.commits.commit(commit(height));
        }
        let prune = PruneStep {
            below_version: 1,
            versions_max: 1,
        };
        storage.handle(prune);
        assert!(failure.get().is_none());
        storage.commits.commit(commit(IN_FLIGHT_MAX + 1));
        assert_eq!(failure.get().unwrap().thread, Storage::NAME);
    }

    #[test]
    fn what_is_durable_is_shown_at_a_pause_or_as_soon_as_a_reader_wants_to_see_it() {
        let directory = tempfile::tempdir().unwrap();
        let (chain, store) = development(directory.path());
        let (writer, store) = store.split();
        let snapshot = store.snapshot().unwrap();
        let version = snapshot.ledger_info().version;
        let state = |key: &StateKey| {
            let value = snapshot.state_value(key, version);
            value.map_err(|error| StateError(error.to_string()))
        };
        let mut tip = store.chain_tip().unwrap();
        let mut next_block = || {
            let ordered = OrderedBlock {
                height: tip.height + 1,
                epoch: 1,
                round: tip.height + 1,
                proposer: AccountAddress::from_low_u64(0),
                timestamp_usecs: tip.timestamp_usecs + 1,
                transactions: Vec::new(),
                certificate: bytes::Bytes::new(),
            };
            let block = execute_block(&chain, &tip, &state, ordered).unwrap();
            tip = block.tip.clone();
            IndexedBlock::without_updates(Arc::new(block))
        };

        let failure = FatalErrorReporter::new();
        let readers = Arc::new(WorkMeter::new("readers", 1));
        let (_storage, queues) =
            Storage::new(&StorageConfig::default(), 1, failure.clone(), readers);
        let (commits, reader) = (queues.commits(), queues.reader(store.clone()));
        let peers = WriterPeers {
            stored: Recipient::new(|_| ()),
            pruned: Recipient::new(|_| ()),
            meter: Arc::new(CommitMeter::default()),
        };
        let head = HeadCell::new(Head::opened(*snapshot.ledger_info()));
        let (mut writer, _readers) =
            queues.workers((writer, reader.clone()), &head, peers, &failure);
        for is_wanted in [false, true] {
            let block = next_block();
            let height = block.block().height();
            let transactions = block.block().transactions.len();
            commits.commit(block);
            assert!(writer.step().is_continue());
            assert!(store.would_wait(height), "the writer waits for more");
            assert_eq!(writer.pause(), Some(writer::show_after(transactions)));
            if is_wanted {
                reader.request_apply(height);
                commits.commit(next_block());
            }
            assert!(writer.step().is_continue());
            assert!(!store.would_wait(height));
            assert!(!writer.has_work());
        }
        reader.request_apply(tip.height);
        assert!(!writer.has_work(), "nobody asks for what is shown");
        assert!(failure.get().is_none());
    }
}
