//! Start and stop of a node, and its handle.
//!
//! The threads of a node:
//!
//! | thread | runs | waits for |
//! |---|---|---|
//! | arbiter `actors` | all actors (`actors.threads` = 1) | their mailboxes |
//! | or arbiters `mempool`, `commit`, `storage` | the actors of an `ArbiterGroup` each (with 2 threads, `commit` also runs the last group) | their mailboxes |
//! | `signature-check`, several | checks of signatures, in batches | the queues of two lanes |
//! | `executor` | execution of blocks, one at a time | the next ordered block; the store, if its cache misses |
//! | `store-writer` | commits and steps of pruning | the commit queue; the disk |
//! | `store-applier` | application of durable blocks that a reader waits for | the requests of readers; the disk |
//! | `store-reader`, several | queries | the queue of reads; the disk |
//! | `point-reader` | queries of a few rows | the queue of point reads; the disk |
//! | `consensus-log`, with several validators | checks of their blocks, writes of the consensus log | its queue; the disk |
//! | `store-scrubber` | verification of the files, at most a fifth of the time | a request of storage; the disk |
//! | `renderer`, several | rendering and compression of large responses | their queue |
//! | `stall-monitor` | samples of the progress of all others | its interval |

mod elsewhere;
pub(crate) mod handle;
pub(crate) mod hash_outcome;
pub(crate) mod health_checks;
pub(crate) mod lookup;
pub(crate) mod meters;
pub(crate) mod operation;
pub(crate) mod parts;
mod relay;
pub(crate) mod renderers;
pub(crate) mod resubmit;
mod slices;
pub(crate) mod stalls;
mod start;
pub(crate) mod stop;
pub(crate) mod submit;
mod threads;
mod validation_inputs;
pub(crate) mod verdict;
pub(crate) mod version_wait;
pub(crate) mod wait;
pub(crate) mod wait_many;
pub(crate) mod wait_meter;
pub(crate) mod wires;
pub(crate) mod wiring;

use crate::{
    FatalError, NodeHandle, mempool::persistence::restore::RestoredFile,
    runtime::arbiters::Arbiters,
};
use stalls::StallMonitor;
use std::path::PathBuf;
use threads::Threads;

/// A running node, which owns every thread and arbiter.
///
/// If it is dropped without [`Node::stop`], the threads end soon and in no defined order. As after
/// a crash, the pending transactions are lost.
#[derive(Debug)]
pub struct Node {
    handle: NodeHandle,
    data_dir: Option<PathBuf>,
    /// The saved mempool that this start restored, until [`Node::discard_saved_pool`].
    restored_file: Option<RestoredFile>,
    arbiters: Arbiters,
    threads: Threads,
    stall_monitor: StallMonitor,
}

impl Node {
    /// Returns a handle of the node.
    pub fn handle(&self) -> NodeHandle {
        self.handle.clone()
    }

    /// Waits for a broken invariant and returns it. The caller then ends the process with its
    /// message and exit code 1.
    ///
    /// A fault of the disk does not end the wait; see [`NodeHandle::not_writable`]. The
    /// future is safe to drop and to create again.
    pub async fn failed(&self) -> FatalError {
        self.handle.node().reporter.wait().await
    }

    /// Removes the saved mempool that this start restored.
    ///
    /// Call it when the start is complete and can no longer fail. Until then, a stop retains the
    /// transactions of the file, and the end of the process leaves the file. The next start drops
    /// the transactions that the ledger holds.
    pub fn discard_saved_pool(&mut self) {
        if let Some(file) = self.restored_file.take() {
            file.remove();
        }
    }
}

#[cfg(test)]
mod stall_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timer_tests;
#[cfg(test)]
mod wiring_tests;
