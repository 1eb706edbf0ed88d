//! The stop of a node.

use super::{
    Node,
    handle::{Mailboxes, NodeParts},
};
use crate::{
    FatalError, StopError,
    error::{FaultKind, StorageFault},
    mempool::{
        Mempool,
        persistence::{file, restore::RestoredFile, save::save_with_retry},
    },
    protocol::{
        committer::Finish,
        mempool::{Close, Pending},
        sequencer::Stop,
        storage::DiscardBlocks,
    },
    runtime::{actor::Actor as _, fatal::FatalErrorReporter},
    state::storage_health::StorageHealth,
};
use ledger_vm::Chain;
use std::{
    io,
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;

impl Node {
    /// Stops the actors in order, joins every thread, and saves the mempool.
    ///
    /// Retries the save for about a minute if the disk is full. The caller stops its listeners
    /// first: later requests return [`NodeError::Stopping`](crate::NodeError::Stopping).
    ///
    /// # Errors
    ///
    /// Returns [`StopError::Failed`] after a broken invariant, [`StopError::Storage`] after a fault
    /// of the disk, [`StopError::Panicked`] if a thread has panicked, and [`StopError::SavePool`]
    /// if the mempool could not be saved. The node is stopped and its threads are joined in any
    /// case.
    pub async fn stop(self) -> Result<(), StopError> {
        let NodeParts {
            chain,
            mailboxes,
            health,
            files,
            reporter,
            ..
        } = self.handle.node();
        let health = health.health().clone();
        let pending = quiesce(mailboxes, &health, reporter).await;
        let (chain, files, reporter) = (chain.clone(), files.clone(), reporter.clone());
        // The values dropped here and the actors own the senders of the queues. A thread ends when
        // its queue is disconnected.
        drop(self.handle);
        let threads = self.threads.release();
        let mut panicked: Vec<String> = self
            .arbiters
            .join()
            .into_iter()
            .map(str::to_owned)
            .collect();
        if pending.is_none() {
            panicked.insert(0, Mempool::NAME.to_owned());
        }
        // While the threads end, so that the syncs of the writer and of the file take their time
        // together.
        let saved = match (&self.data_dir, pending) {
            (Some(directory), Some(pending)) => {
                save_pool(directory, &chain, pending, self.restored_file.as_ref()).await
            }
            _ => Ok(()),
        };
        // The monitor is last, so that it names a thread that does not end.
        let monitor = std::iter::once_with(|| self.stall_monitor.stop());
        panicked.extend(join(threads.into_iter().chain(monitor)));
        // A file may have been removed since the monitor's last look. The writer did not write to
        // it any more, but nothing has reported the fault.
        let find_moved = || {
            let error = files.check().err()?;
            StorageFault::of("store-writer", FaultKind::Write, &error)
        };
        let end = End {
            fatal: reporter.get().cloned(),
            fault: health.fault().or_else(find_moved),
            panicked: panicked.pop(),
        };
        end.result(saved)
    }
}

/// Joins threads, and returns the names of those that have panicked.
fn join(threads: impl Iterator<Item = JoinHandle<()>>) -> Vec<String> {
    let mut panicked = Vec::new();
    for thread in threads {
        let name = thread.thread().name().unwrap_or_default().to_owned();
        if thread.join().is_err() {
            panicked.push(name);
        }
    }
    panicked
}

/// The failures of a node until its end.
struct End {
    fatal: Option<FatalError>,
    fault: Option<StorageFault>,
    /// Name of a thread or an actor that has panicked.
    panicked: Option<String>,
}

impl End {
    /// Returns the result of the stop, with that of saving the pool.
    ///
    /// # Errors
    ///
    /// Returns [`StopError::SavePool`] if the pool could not be saved, and otherwise the first
    /// failure in the order of the fields.
    fn result(self, saved: Result<(), UnsavedPool>) -> Result<(), StopError> {
        let Self {
            fatal,
            fault,
            panicked,
        } = self;
        saved.map_err(|unsaved| StopError::SavePool {
            path: unsaved.path,
            transactions: unsaved.transactions,
            source: unsaved.source,
            failed: (fatal.as_ref().map(ToString::to_string))
                .or_else(|| fault.as_ref().map(ToString::to_string)),
        })?;
        if let Some(error) = fatal {
            return Err(error.into());
        }
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        panicked.map_or(Ok(()), |thread| Err(StopError::Panicked(thread)))
    }
}

/// A pool that could not be saved.
struct UnsavedPool {
    path: PathBuf,
    /// Number of its transactions.
    transactions: usize,
    source: io::Error,
}

/// Saves the pending transactions in `directory`, with those of the file that the start restored.
///
/// # Errors
///
/// Returns [`UnsavedPool`] if the transactions cannot be encoded or written.
async fn save_pool(
    directory: &Path,
    chain: &Chain,
    pending: Vec<Pending>,
    restored: Option<&RestoredFile>,
) -> Result<(), UnsavedPool> {
    let mut transactions = pending.len();
    let saved = async {
        let pending = match restored {
            Some(file) => file.join(chain, pending).map_err(io::Error::other)?,
            None => pending,
        };
        transactions = pending.len();
        save_with_retry(directory, chain, &pending).await
    };
    saved.await.map_err(|source| UnsavedPool {
        path: directory.join(file::FILE_NAME),
        transactions,
        source,
    })
}

/// Stops the ordering of blocks, waits until ordered blocks are durable, and closes the mempool.
///
/// If syncs are slow or blocks wait for disk space, it does not wait for blocks whose sync has not
/// begun. They are discarded, and their transactions are pending.
///
/// Returns the pending transactions, or `None` if the mempool has panicked.
pub(crate) async fn quiesce(
    mailboxes: &Mailboxes,
    health: &StorageHealth,
    reporter: &FatalErrorReporter,
) -> Option<Vec<Pending>> {
    let (done, stopped) = oneshot::channel();
    mailboxes.sequencer.send(Stop { done });
    // An error means that the actor has panicked, which its mailbox has reported.
    let _ = stopped.await;
    let finish = |are_blocks_discarded| {
        let (done, finished) = oneshot::channel();
        mailboxes.committer.send(Finish {
            done,
            are_blocks_discarded,
        });
        finished
    };
    tokio::select! {
        biased;
        _ = finish(false) => {}
        // After a broken invariant, ordered blocks never become durable, but their transactions are
        // still in the mempool. After a fault of the disk, the committer replies without waiting
        // for the blocks.
        _ = reporter.wait() => {}
        () = until_delayed(mailboxes, health) => {
            let (done, discarded) = oneshot::channel();
            mailboxes.storage.send(DiscardBlocks { done });
            // An error means that the actor has panicked, which its mailbox has reported.
            let _ = discarded.await;
            // The mempool removes the transactions of the blocks that are durable already.
            let _ = finish(true).await;
            tracing::warn!(
                "the disk is slow or full: blocks whose sync has not begun are discarded, and their \
                 transactions are saved with the mempool"
            );
        }
    }
    let (reply, contents) = oneshot::channel();
    mailboxes.mempool.send(Close { reply });
    contents.await.ok()
}

/// Interval of the checks whether the disk delays blocks, while a stop waits for them.
const DELAY_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the syncs of the store are slow, or blocks wait for disk space.
async fn until_delayed(mailboxes: &Mailboxes, health: &StorageHealth) {
    let timer = &mailboxes.meters.sync_timer;
    while !timer.is_slow() && !health.is_write_waiting() {
        tokio::time::sleep(DELAY_CHECK_INTERVAL).await;
    }
}
