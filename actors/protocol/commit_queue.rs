//! The queue of the writer thread.

use super::storage::{PruneStep, STORAGE};
use crate::{runtime::fatal::FatalErrorReporter, state::committed::IndexedBlock};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// A job of the writer thread.
#[derive(Debug)]
pub(crate) enum WriteJob {
    /// Makes the next block of the chain durable.
    Block(Arc<IndexedBlock>),
    /// Runs a step of pruning.
    PruneStep(PruneStep),
}

/// The sending side of the writer thread's queue.
///
/// The storage actor owns the queue. The executor sends to it directly, because every wake-up on
/// the path of a block costs latency. With one wake-up less, the median of a lone client's transfer
/// fell from 0.46 ms to 0.38 ms (docs/decisions/storage-exceptions.md).
/// Sending neither blocks nor fails, because the capacity covers all jobs that can be outstanding.
///
/// Jobs that are sent after the writer has ended are dropped.
#[derive(Clone, Debug)]
pub(crate) struct CommitQueue {
    jobs: Sender<WriteJob>,
    is_discarded: Arc<AtomicBool>,
    reporter: FatalErrorReporter,
}

/// The receiving side of the queue.
#[derive(Debug)]
pub(crate) struct WriteJobs {
    pub(crate) jobs: Receiver<WriteJob>,
    is_discarded: Arc<AtomicBool>,
}

impl WriteJobs {
    /// Returns a function that returns whether the writer must discard the jobs that it has not
    /// begun.
    pub(crate) fn is_discarded(&self) -> impl Fn() -> bool + Send + 'static {
        let is_discarded = Arc::clone(&self.is_discarded);
        move || is_discarded.load(Relaxed)
    }
}

impl CommitQueue {
    /// Creates a queue of at most `capacity` jobs, and its receiving side.
    ///
    /// A job beyond the capacity breaks an invariant, which is reported to `reporter`.
    pub(crate) fn new(capacity: usize, reporter: FatalErrorReporter) -> (Self, WriteJobs) {
        let (jobs, receiver) = crossbeam_channel::bounded(capacity);
        let is_discarded = Arc::<AtomicBool>::default();
        let receiver = WriteJobs {
            jobs: receiver,
            is_discarded: Arc::clone(&is_discarded),
        };
        let queue = Self {
            jobs,
            is_discarded,
            reporter,
        };
        (queue, receiver)
    }

    /// Adds the next block. The committer receives
    /// [`BlocksDurable`](super::committer::BlocksDurable) when it is durable.
    pub(crate) fn commit(&self, block: Arc<IndexedBlock>) {
        self.send(WriteJob::Block(block));
    }

    /// Adds a step of pruning. The pruner receives [`PruneDone`](super::pruner::PruneDone) when it
    /// is durable.
    pub(crate) fn prune(&self, step: PruneStep) {
        self.send(WriteJob::PruneStep(step));
    }

    /// Discards all jobs that the writer has not begun, now and later.
    ///
    /// The transactions of discarded blocks are still in the mempool.
    pub(crate) fn discard(&self) {
        self.is_discarded.store(true, Relaxed);
    }

    fn send(&self, job: WriteJob) {
        // A disconnected queue means that the writer has ended, which the writer has reported.
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            self.reporter
                .report(STORAGE, &"the queue of the writer is full");
        }
    }
}
