//! The threads that touch the disk: one writes, several read.

use super::messages::PruneDone;
use crate::{
    committer::{HeadCell, messages::BlockStored},
    failure::Failure,
    mailbox::Port,
    meters::CommitMeter,
    worker::Worker,
};
use crossbeam_channel::Receiver;
use ledger::ExecutedBlock;
use ledger_store::{Pruned, Snapshot, StoreError, StoreReader, StoreWriter};
use std::{ops::ControlFlow, sync::Arc, time::Instant};

const WRITER_THREAD: &str = "store-writer";
const READER_THREAD: &str = "store-reader";

/// Work for the writer.
#[derive(Debug)]
pub(crate) enum Write {
    Commit(Arc<ExecutedBlock>),
    Prune(super::messages::Prune),
}

/// Work for a reader: a query that answers whoever asked it.
pub(crate) type ReadJob = Box<dyn FnOnce(&HeadCell, &StoreReader) + Send>;

/// The writer. It makes all blocks that wait durable in one go: while one group is being written the
/// next gathers. It ends when the other end of `writes` is gone, or by a failure that is not the disk's.
pub(super) fn writer(
    writer: StoreWriter,
    head: HeadCell,
    writes: Receiver<Write>,
    listeners: WriterListeners,
    failure: &Failure,
) -> Worker<Write> {
    let failure = failure.clone();
    let mut thread = Writer {
        writer,
        head,
        listeners,
    };
    Worker::new(WRITER_THREAD, writes, move |first, waiting| {
        match thread.write(first, waiting) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure.report_write(WRITER_THREAD, &error);
                // Readers read as long as the writer keeps the database open; it writes no more.
                if error.is_failed_io() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            }
        }
    })
}

/// Who hears of what is durable.
#[derive(Debug)]
pub(crate) struct WriterListeners {
    pub(crate) stored: Port<BlockStored>,
    pub(crate) pruned: Port<PruneDone>,
    pub(crate) meter: Arc<CommitMeter>,
}

struct Writer {
    writer: StoreWriter,
    head: HeadCell,
    listeners: WriterListeners,
}

impl Writer {
    /// Writes `first` and all else that waits: the blocks as one group, then the pruning.
    fn write(&mut self, first: Write, waiting: &Receiver<Write>) -> Result<(), StoreError> {
        let mut blocks = Vec::new();
        let mut prunes = Vec::new();
        for write in std::iter::once(first).chain(waiting.try_iter()) {
            match write {
                Write::Commit(block) => blocks.push(block),
                Write::Prune(prune) => prunes.push(prune),
            }
        }
        if let Some(newest) = blocks.last() {
            let height = newest.height();
            let begun = Instant::now();
            let WriterListeners { stored, meter, .. } = &self.listeners;
            self.writer.commit_telling(&blocks, || {
                meter.committed(&blocks, begun.elapsed());
                stored.tell(BlockStored { height });
            })?;
        }
        for prune in prunes {
            let hide = |pruned: &Pruned| {
                self.head
                    .raise_oldest(pruned.oldest_version, pruned.oldest_block_height);
            };
            let begun = Instant::now();
            let pruned = self
                .writer
                .prune_telling(prune.below_version, prune.versions_max, hide)?;
            self.listeners.meter.pruned(begun.elapsed());
            self.listeners.pruned.tell(PruneDone(pruned));
        }
        Ok(())
    }
}

/// A reader. It ends when the other end of `reads` is gone.
pub(super) fn reader(reader: StoreReader, head: HeadCell, reads: Receiver<ReadJob>) -> Worker<ReadJob> {
    Worker::new(READER_THREAD, reads, move |job, _| {
        job(&head, &reader);
        ControlFlow::Continue(())
    })
}

/// How often a reader looks anew when the Head that it saw was pruned meanwhile, which takes a tiny
/// window and a reader that was not scheduled for several blocks.
const SNAPSHOT_TRIES: usize = 8;

/// A snapshot of what the Head shows. The Head is looked at first: what it shows is durable, so the
/// store has it, or is about to.
pub(super) fn snapshot_at_head(head: &HeadCell, reader: &StoreReader) -> Result<Snapshot, StoreError> {
    let mut tries = SNAPSHOT_TRIES;
    loop {
        tries -= 1;
        let head = head.load();
        let shown = reader.wait_shown(head.ledger_info().block_height);
        match shown.and_then(|()| reader.snapshot_at(head.ledger_info())) {
            Err(StoreError::NoSuchMoment { asked, oldest, .. }) if asked < oldest && tries > 0 => {}
            outcome => return outcome,
        }
    }
}
