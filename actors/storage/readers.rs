//! The threads that answer queries.

use crate::{
    protocol::durable_reader::DurableReader, runtime::worker::WorkerThread, state::head::HeadCell,
};
use crossbeam_channel::Receiver;
use ledger_store::{Snapshot, StoreError};
use std::ops::ControlFlow;

/// Name of the threads.
const THREAD: &str = "store-reader";

/// A query that replies to its caller.
pub(crate) type ReadJob = Box<dyn FnOnce(&HeadCell, &DurableReader) + Send>;

/// Creates a reader. It ends when the sending side of `jobs` is dropped.
pub(super) fn reader(
    reader: DurableReader,
    head: HeadCell,
    jobs: Receiver<ReadJob>,
) -> WorkerThread<ReadJob> {
    WorkerThread::new(THREAD, jobs, move |job, _| {
        job(&head, &reader);
        ControlFlow::Continue(())
    })
}

/// Maximum number of attempts to open a snapshot at the Head.
///
/// An attempt fails if the Head's version is pruned before the snapshot is open, which takes a tiny
/// window and a reader thread that does not run for several blocks.
const SNAPSHOT_ATTEMPTS_MAX: usize = 8;

/// Opens a snapshot at the version of the Head.
///
/// The Head is read before the store: its block is durable, so the store has applied it or is about
/// to.
///
/// # Errors
///
/// Returns the error of the store if it cannot be read, or if every attempt failed.
pub(super) fn snapshot_at_head(
    head: &HeadCell,
    reader: &DurableReader,
) -> Result<Snapshot, StoreError> {
    let mut attempts = SNAPSHOT_ATTEMPTS_MAX;
    loop {
        attempts -= 1;
        match reader.snapshot_at(head.load().ledger_info()) {
            Err(StoreError::VersionOutOfRange {
                requested, oldest, ..
            }) if requested < oldest && attempts > 0 => {}
            outcome => return outcome,
        }
    }
}
