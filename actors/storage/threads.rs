//! The threads that touch the disk: one writes, several read.

use super::{CommitQueue, messages::PruneDone};
use crate::{
    committer::{Executed, HeadCell, messages::BlocksDurable},
    failure::FatalErrorReporter,
    mailbox::Recipient,
    meters::CommitMeter,
    worker::WorkerThread,
};
use crossbeam_channel::Receiver;
use ledger_store::{Pruned, Snapshot, StoreError, StoreReader, StoreWriter};
use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

const WRITER_THREAD: &str = "store-writer";
const READER_THREAD: &str = "store-reader";

/// A writer that has nothing else to do waits so long before it shows what is durable, unless somebody wants to see
/// it. Longer than a lone client takes from one block to the next, so that the database is not at work while it waits.
const SHOW_AFTER: Duration = Duration::from_millis(2);
/// And so long for each transaction: more than it takes to answer who waits for it, which comes first, in a slow moment too.
const ANSWER_TIME: Duration = Duration::from_micros(40);
/// At most so long for all of them.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(500);

/// Work for the writer.
#[derive(Debug)]
pub(crate) enum WriteJob {
    Block(Executed),
    PruneStep(super::messages::PruneStep),
    /// Somebody waits to see what is durable.
    ApplyRequest,
}

/// Work for a reader: a query that answers whoever asked it.
pub(crate) type ReadJob = Box<dyn FnOnce(&HeadCell, &Reader) + Send>;

/// The writer. It makes all blocks that wait durable in one go: while one group is being written the
/// next gathers. It ends when the other end of `writes` is gone, or by a failure that is not the disk's.
pub(super) fn writer(
    writer: StoreWriter,
    head: HeadCell,
    writes: Receiver<WriteJob>,
    peers: WriterListeners,
    failure: &FatalErrorReporter,
) -> WorkerThread<WriteJob> {
    let failure = failure.clone();
    let mut thread = Writer {
        writer,
        head,
        peers,
    };
    WorkerThread::pausing(WRITER_THREAD, writes, move |first, waiting| {
        match thread.work(first, waiting) {
            Ok(pause) => ControlFlow::Continue(pause),
            Err(error) => {
                failure.report_write(WRITER_THREAD, &error);
                // Readers read as long as the writer keeps the database open; it writes no more.
                if error.is_failed_io() {
                    ControlFlow::Continue(None)
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
    pub(crate) stored: Recipient<BlocksDurable>,
    pub(crate) pruned: Recipient<PruneDone>,
    pub(crate) meter: Arc<CommitMeter>,
}

struct Writer {
    writer: StoreWriter,
    head: HeadCell,
    peers: WriterListeners,
}

impl Writer {
    /// Writes what waits, if anything; else, or if somebody wants to see it, shows what is durable. Gives after which
    /// time that is to be done.
    fn work(
        &mut self,
        first: Option<WriteJob>,
        waiting: &Receiver<WriteJob>,
    ) -> Result<Option<Duration>, StoreError> {
        let is_idle = first.is_none();
        let is_wanted = self.write(first.into_iter().chain(waiting.try_iter()))?;
        if is_idle || is_wanted {
            self.writer.apply()?;
        }
        let unshown = self.writer.unapplied_transactions();
        Ok((unshown > 0).then(|| show_after(unshown)))
    }

    /// Writes the blocks as one group, then prunes. Gives whether somebody wants to see what is durable.
    fn write(&mut self, writes: impl Iterator<Item = WriteJob>) -> Result<bool, StoreError> {
        let mut executed = Vec::new();
        let mut prunes = Vec::new();
        let mut is_wanted = false;
        for write in writes {
            match write {
                WriteJob::Block(block) => executed.push(block),
                WriteJob::PruneStep(prune) => prunes.push(prune),
                WriteJob::ApplyRequest => is_wanted = true,
            }
        }
        if !executed.is_empty() {
            let blocks: Vec<_> = executed
                .iter()
                .map(|one| Arc::clone(one.block.block()))
                .collect();
            let begun = Instant::now();
            let WriterListeners { stored, meter, .. } = &self.peers;
            self.writer.append(&blocks, |logged| {
                meter.committed(&blocks, begun.elapsed());
                stored.send(BlocksDurable {
                    blocks: executed,
                    logged,
                });
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
                .prune_with(prune.below_version, prune.versions_max, hide)?;
            self.peers.meter.pruned(begun.elapsed());
            self.peers.pruned.send(PruneDone(pruned));
        }
        Ok(is_wanted)
    }
}

/// When to show so many transactions that are durable.
pub(super) fn show_after(unshown: usize) -> Duration {
    let transactions = u32::try_from(unshown).unwrap_or(u32::MAX);
    SHOW_AFTER
        + ANSWER_TIME
            .saturating_mul(transactions)
            .min(ANSWER_TIME_MAX)
}

/// Reads the store as far as the Head is, which may be ahead of what the writer shows.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    store: StoreReader,
    writes: CommitQueue,
}

impl Reader {
    pub(super) fn new(store: StoreReader, writes: CommitQueue) -> Self {
        Self { store, writes }
    }

    /// The newest snapshot that shows the durable block of a height.
    ///
    /// # Errors
    /// Why the writer does not show it.
    pub(crate) fn snapshot(&self, height: u64) -> Result<Snapshot, StoreError> {
        self.see(height)?;
        self.store.snapshot()
    }

    /// Waits until the durable block of a height is shown.
    fn see(&self, height: u64) -> Result<(), StoreError> {
        self.ask_for(height);
        self.store.wait_applied(height)
    }

    /// Has the writer show the durable block of a height, unless it does.
    pub(super) fn ask_for(&self, height: u64) {
        if self.store.would_wait(height) {
            self.writes.show();
        }
    }
}

/// A reader. It ends when the other end of `reads` is gone.
pub(super) fn reader(
    reader: Reader,
    head: HeadCell,
    reads: Receiver<ReadJob>,
) -> WorkerThread<ReadJob> {
    WorkerThread::new(READER_THREAD, reads, move |job, _| {
        job(&head, &reader);
        ControlFlow::Continue(())
    })
}

/// How often a reader looks anew when the Head that it saw was pruned meanwhile, which takes a tiny
/// window and a reader that was not scheduled for several blocks.
const SNAPSHOT_TRIES: usize = 8;

/// A snapshot of what the Head shows. The Head is looked at first: what it shows is durable, so the
/// store has it, or is about to.
pub(super) fn snapshot_at_head(head: &HeadCell, reader: &Reader) -> Result<Snapshot, StoreError> {
    let mut tries = SNAPSHOT_TRIES;
    loop {
        tries -= 1;
        let head = head.load();
        let shown = reader.see(head.ledger_info().block_height);
        match shown.and_then(|()| reader.store.snapshot_at(head.ledger_info())) {
            Err(StoreError::VersionOutOfRange {
                requested, oldest, ..
            }) if requested < oldest && tries > 0 => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_wait_for_is_shown_later_but_soon() {
        assert!(show_after(1) < SHOW_AFTER * 2, "a lone client's");
        assert!(show_after(1_000) >= ANSWER_TIME * 1_000);
        for many in [100_000, usize::MAX] {
            assert_eq!(show_after(many), SHOW_AFTER + ANSWER_TIME_MAX);
        }
    }
}
