//! The storage: bounded queues in front of the threads that touch the disk.

pub(crate) mod messages;
mod threads;

use crate::{
    ReadError, StorageConfig, committer::HeadCell, failure::Failure, mailbox::receives_mail,
    meters::WorkMeter, worker::Worker,
};
use actix::{Actor, Context, Handler};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use ledger_store::{Query, StoreReader, StoreWriter};
use messages::{CommitBlock, Prune, Read};
use std::sync::Arc;
pub(crate) use threads::{ReadJob, Write, WriterListeners};

/// The actor's name.
pub(crate) const NAME: &str = "storage";

/// The most prunes that wait for the writer: the pruner has one in flight.
const PRUNES_MAX: usize = 1;

/// The most empty blocks that come on top of those in flight: a sequencer that waits for a batch has
/// kept a place for it, and may make one when nothing is in flight.
const HEARTBEATS_MAX: usize = 1;

/// The actor. Its threads end when it is dropped, after what is in their queues.
pub(crate) struct Storage {
    writes: Sender<Write>,
    reads: Sender<ReadJob>,
    failure: Failure,
    readers: Arc<WorkMeter>,
}

/// The other ends of a storage's queues, until its threads are started.
pub(crate) struct Queues {
    writes: Receiver<Write>,
    reads: Receiver<ReadJob>,
    readers: usize,
}

impl Queues {
    /// The writer, which tells `listeners` what is durable, and the readers.
    pub(crate) fn workers(
        self,
        (writer, reader): (StoreWriter, StoreReader),
        head: &HeadCell,
        listeners: WriterListeners,
        failure: &Failure,
    ) -> (Worker<Write>, Vec<Worker<ReadJob>>) {
        let readers = (0..self.readers)
            .map(|_| threads::reader(reader.clone(), head.clone(), self.reads.clone()))
            .collect();
        let writer = threads::writer(writer, head.clone(), self.writes, listeners, failure);
        (writer, readers)
    }
}

impl Storage {
    /// A storage for at most `blocks_in_flight_max` blocks that are not durable. `readers` counts what its readers
    /// are asked.
    pub(crate) fn new(
        config: &StorageConfig,
        blocks_in_flight_max: usize,
        failure: Failure,
        readers: Arc<WorkMeter>,
    ) -> (Self, Queues) {
        let writes_max = blocks_in_flight_max.saturating_add(HEARTBEATS_MAX + PRUNES_MAX);
        let (writes, write_queue) = crossbeam_channel::bounded(writes_max);
        let (reads, read_queue) = crossbeam_channel::bounded(config.read_queue_capacity);
        let storage = Self {
            writes,
            reads,
            failure,
            readers,
        };
        let queues = Queues {
            writes: write_queue,
            reads: read_queue,
            readers: config.readers,
        };
        (storage, queues)
    }

    fn write(&self, write: Write) {
        // Disconnected: the writer has failed, and has said so.
        if let Err(TrySendError::Full(_)) = self.writes.try_send(write) {
            self.failure
                .report(NAME, &"more blocks are in flight than may be");
        }
    }
}

impl Actor for Storage {
    type Context = Context<Self>;
}

receives_mail!(Storage);

impl Handler<CommitBlock> for Storage {
    type Result = ();

    fn handle(&mut self, commit: CommitBlock, _: &mut Self::Context) {
        self.write(Write::Commit(commit.0));
    }
}

impl Handler<Prune> for Storage {
    type Result = ();

    fn handle(&mut self, prune: Prune, _: &mut Self::Context) {
        self.write(Write::Prune(prune));
    }
}

impl<Q: Query> Handler<Read<Q>> for Storage {
    type Result = ();

    fn handle(&mut self, Read { query, reply }: Read<Q>, _: &mut Self::Context) {
        if reply.is_closed() {
            return;
        }
        if self.reads.is_full() {
            self.readers.refused();
            let _ = reply.send(Err(ReadError::Overloaded { actor: NAME }));
            return;
        }
        let failure = self.failure.clone();
        let job: ReadJob = Box::new(move |head, reader| {
            if reply.is_closed() {
                return;
            }
            let answer = threads::snapshot_at_head(head, reader).and_then(|snapshot| {
                let output = query.run(&snapshot)?;
                Ok((*snapshot.ledger_info(), output))
            });
            if let Err(error) = &answer {
                failure.report_read(NAME, error);
            }
            let _ = reply.send(answer.map_err(ReadError::Store));
        });
        // Only this actor sends, so there is room; disconnected readers drop the reply, which tells
        // the client that the node is stopping.
        let _ = self.reads.try_send(job);
        self.readers.waiting(self.reads.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::block;

    #[test]
    fn a_busy_writer_has_room_for_all_that_may_wait_and_for_no_more() {
        const IN_FLIGHT_MAX: u64 = 1;
        let failure = Failure::new();
        let config = StorageConfig::default();
        let readers = Arc::new(WorkMeter::new("readers", 1));
        let (mut storage, _queues) = Storage::new(&config, IN_FLIGHT_MAX as usize, failure.clone(), readers);
        let context = &mut Context::new();
        let heartbeat = IN_FLIGHT_MAX + 1;
        for height in 1..=heartbeat {
            storage.handle(CommitBlock(block(height, &[], &[])), context);
        }
        let prune = Prune {
            below_version: 1,
            versions_max: 1,
        };
        storage.handle(prune, context);
        assert!(failure.get().is_none());
        storage.handle(CommitBlock(block(heartbeat + 1, &[], &[])), context);
        assert_eq!(failure.get().unwrap().thread, NAME);
    }
}
