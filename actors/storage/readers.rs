//! The reader threads, which run queries on the store.

use super::health::HealthReporter;
use crate::{
    NodeError,
    protocol::{
        durable_reader::DurableReader,
        storage::{Answer, STORAGE},
    },
    runtime::worker::WorkerThread,
    state::head::HeadReader,
};
use crossbeam_channel::Receiver;
use ledger_store::{Query, Snapshot, StoreError};
use std::ops::ControlFlow;

/// Name of the reader threads.
const THREAD: &str = "store-reader";

/// Maximum number of attempts to open a snapshot at the Head.
///
/// An attempt fails if the Head's version is pruned before the snapshot is open. That happens only
/// with a tiny window of readable versions, and if the reader thread is not scheduled for several
/// blocks.
const SNAPSHOT_ATTEMPTS_MAX: usize = 8;

/// A query to run, with the reply to its caller.
pub(crate) type ReadJob = Box<dyn FnOnce(&ReadContext) + Send>;

/// The resources with which a reader thread runs queries.
#[derive(Clone, Debug)]
pub(crate) struct ReadContext {
    pub(crate) head: HeadReader,
    pub(crate) reader: DurableReader,
    pub(crate) health: HealthReporter,
}

impl ReadContext {
    /// Runs a query on a snapshot at the version of the Head. Reports a fault of the disk.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::NotApplied`] if the block of the Head is not applied in time, and
    /// [`NodeError::Store`] if no snapshot can be opened or the query fails.
    pub(super) fn read<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        let answer = self.snapshot().and_then(|snapshot| {
            let output = query.run(&snapshot)?;
            Ok((*snapshot.ledger_info(), output))
        });
        answer.map_err(|error| match error {
            StoreError::NotApplied { .. } => NodeError::NotApplied,
            error => {
                self.health.report_read(STORAGE, &error);
                NodeError::Store(error)
            }
        })
    }

    /// Opens a snapshot at the version of the Head.
    ///
    /// The block of the Head is durable, so [`DurableReader`] can wait until it is applied.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotApplied`] if the block is not applied in time, and
    /// [`StoreError::VersionOutOfRange`] if the version was pruned during every attempt. Returns
    /// the error of the store if the block cannot be applied or the store cannot be read.
    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut attempts_left = SNAPSHOT_ATTEMPTS_MAX;
        loop {
            attempts_left -= 1;
            match self.reader.snapshot_at(&self.head.ledger_info()) {
                Err(StoreError::VersionOutOfRange {
                    requested, oldest, ..
                }) if requested < oldest && attempts_left > 0 => {}
                outcome => return outcome,
            }
        }
    }
}

/// Creates a reader thread. It ends when the sending side of `jobs` is dropped and all queued jobs
/// have run.
pub(super) fn reader(context: ReadContext, jobs: Receiver<ReadJob>) -> WorkerThread<ReadJob> {
    WorkerThread::new(THREAD, jobs, move |job, _| {
        job(&context);
        ControlFlow::Continue(())
    })
}
