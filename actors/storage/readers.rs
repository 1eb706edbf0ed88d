//! The threads that answer queries.

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

/// Name of the threads.
const THREAD: &str = "store-reader";

/// Maximum number of attempts to open a snapshot at the Head.
///
/// An attempt fails if the Head's version is pruned before the snapshot is open, which takes a tiny
/// window and a reader thread that does not run for several blocks.
const SNAPSHOT_ATTEMPTS_MAX: usize = 8;

/// A query that replies to its caller.
pub(crate) type ReadJob = Box<dyn FnOnce(&ReadContext) + Send>;

/// What a reader needs to run a query.
#[derive(Clone, Debug)]
pub(crate) struct ReadContext {
    pub(crate) head: HeadReader,
    pub(crate) reader: DurableReader,
    pub(crate) health: HealthReporter,
}

impl ReadContext {
    /// Runs a query on a snapshot at the version of the Head, and reports a fault of the disk.
    pub(super) fn read<Q: Query>(&self, query: Q) -> Answer<Q::Output> {
        let answer = self.snapshot().and_then(|snapshot| {
            let output = query.run(&snapshot)?;
            Ok((*snapshot.ledger_info(), output))
        });
        answer.map_err(|error| {
            self.health.report_read(STORAGE, &error);
            NodeError::Store(error)
        })
    }

    /// Opens a snapshot at the version of the Head.
    ///
    /// The Head is read before the store: its block is durable, so the store has applied it or is
    /// about to.
    ///
    /// # Errors
    ///
    /// Returns the error of the store if it cannot be read, or if every attempt failed.
    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut attempts = SNAPSHOT_ATTEMPTS_MAX;
        loop {
            attempts -= 1;
            match self.reader.snapshot_at(&self.head.ledger_info()) {
                Err(StoreError::VersionOutOfRange {
                    requested, oldest, ..
                }) if requested < oldest && attempts > 0 => {}
                outcome => return outcome,
            }
        }
    }
}

/// Creates a reader. It ends when the sending side of `jobs` is dropped.
pub(super) fn reader(context: ReadContext, jobs: Receiver<ReadJob>) -> WorkerThread<ReadJob> {
    WorkerThread::new(THREAD, jobs, move |job, _| {
        job(&context);
        ControlFlow::Continue(())
    })
}
