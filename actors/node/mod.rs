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
//! | `store-scrubber` | verification of the files, at most a fifth of the time | the next pass; the disk |
//! | `renderer`, several | rendering and compression of large responses | their queue |
//! | `stall-monitor` | samples of the progress of all others | its interval |

pub(crate) mod builder;
pub(crate) mod handle;
pub(crate) mod lookup;
pub(crate) mod meters;
pub(crate) mod operation;
pub(crate) mod renderers;
pub(crate) mod resubmit;
mod slices;
pub(crate) mod stalls;
pub(crate) mod submit;
mod validation_inputs;
pub(crate) mod verdict;
pub(crate) mod version_wait;
pub(crate) mod wait;
pub(crate) mod wait_many;
pub(crate) mod wait_meter;

use crate::{
    Clock, FatalError, NodeConfig, NodeHandle, StartError, StopError,
    error::{FaultKind, StorageFault},
    mempool::{
        Mempool, Pool,
        persistence::{
            file,
            restore::{Restored, RestoredFile, restore},
            save::save_with_retry,
        },
    },
    node::handle::NodeParts,
    protocol::{
        committer::Finish,
        mempool::{Close, Pending},
        sequencer::{Start, Stop},
        storage::DiscardBlocks,
    },
    runtime::{
        actor::Actor as _, arbiters::Arbiters, clock::LedgerClock, fatal::FatalErrorReporter,
    },
    signatures::{ShutdownGuard, SignatureChecks},
    state::storage_health::StorageHealth,
    storage::scrubber::{self, ScrubGuard},
};
use builder::NodeBuilder;
use handle::{Mailboxes, RequestQueues};
use ledger_store::{Store, StoreFiles, SyncTimer};
use ledger_vm::Chain;
use renderers::{Renderers, RenderersGuard};
use stalls::{StallMonitor, Stalls};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;
use wait::wait_limit;

/// A running node, which owns every thread and arbiter.
///
/// If it is dropped without [`Node::stop`], the threads end soon and in no defined order. As after
/// a crash, the pending transactions are lost.
#[derive(Debug)]
pub struct Node {
    handle: NodeHandle,
    mailboxes: Mailboxes,
    health: StorageHealth,
    files: StoreFiles,
    reporter: FatalErrorReporter,
    data_dir: Option<PathBuf>,
    /// The saved mempool that this start restored, until [`Node::discard_saved_pool`].
    restored_file: Option<RestoredFile>,
    arbiters: Arbiters,
    signatures: ShutdownGuard,
    renderers: RenderersGuard,
    scrubber: Option<ScrubGuard>,
    threads: Vec<JoinHandle<()>>,
    stall_monitor: StallMonitor,
}

impl Node {
    /// Starts all actors and threads on a store whose genesis block is committed.
    ///
    /// A graceful stop saves the mempool in the file `mempool.bcs` of `data_dir`, and a start
    /// restores it from there. The file stays until [`Node::discard_saved_pool`]. Without a
    /// directory the mempool is not saved.
    ///
    /// # Errors
    ///
    /// Returns [`StartError::NoSystem`] outside an actix system, [`StartError::ZeroSetting`] if a
    /// setting is below its minimum, [`StartError::Store`] or [`StartError::SavedPool`] if the
    /// store or the saved mempool cannot be read, and [`StartError::Thread`] if a thread cannot be
    /// started. No block was ordered, and the saved mempool is unchanged.
    pub async fn start(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
    ) -> Result<Self, StartError> {
        Self::start_with_clock(chain, store, data_dir, config, Clock::default()).await
    }

    /// Starts a node with the clock of the caller.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Node::start`].
    pub async fn start_with_clock(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
        clock: Clock,
    ) -> Result<Self, StartError> {
        if !Arbiters::can_start() {
            return Err(StartError::NoSystem);
        }
        config.check()?;
        let files = store.files();
        let store_scrubber = store.scrubber();
        let (mut writer, reader) = store.split();
        let tip = reader.chain_tip()?;
        let ledger_info = *reader.snapshot()?.ledger_info();
        let clock = LedgerClock::new(clock, &config.sequencer, tip.timestamp_usecs);
        let Restored {
            pool,
            file: restored_file,
        } = match data_dir {
            Some(directory) => restore(
                &config.mempool,
                directory,
                &chain,
                &reader,
                clock.now_secs(),
            )?,
            None => Restored {
                pool: Pool::new(config.mempool.clone()),
                file: None,
            },
        };
        let reporter = FatalErrorReporter::new();
        let builder = NodeBuilder {
            chain: &chain,
            config: &config,
            clock: &clock,
            ledger_info,
            usage: writer.measure_usage(),
            host: Arbiters::start(config.actors.threads, reporter.clone())
                .map_err(StartError::Thread)?,
            reporter,
        };
        let actors = builder.start_actors(pool, &tip);
        let (mailboxes, health) = (actors.mailboxes.clone(), actors.health.clone());
        let (head, reads) = (actors.head.clone(), actors.reads.clone());
        let must_free_pages = Arc::clone(&actors.must_free_pages);
        let inline_reader = builder.inline_reader(&actors, &reader);
        let workers = builder.workers(actors, (writer, reader), tip);
        let threads = workers.spawn(&builder.reporter, &mailboxes.meters);
        let mut threads = threads.map_err(StartError::Thread)?;
        let stalls = Stalls::default();
        let scrubbing = scrubber::spawn(
            store_scrubber,
            config.storage.scrub_interval(),
            health.clone(),
            must_free_pages,
            Arc::clone(&mailboxes.meters.scrub),
            &builder.reporter,
        )
        .map_err(StartError::Thread)?;
        let scrubber = scrubbing.map(|(guard, thread)| {
            threads.push(thread);
            guard
        });
        let (checks, queues) = SignatureChecks::new(&config.signatures);
        let checking = queues
            .start_threads(&chain, &builder.reporter, stalls.watches())
            .map_err(StartError::Thread)?;
        let (signatures, checkers) = checking;
        threads.extend(checkers);
        let meter = &mailboxes.meters.renderers;
        let costs = Arc::clone(&mailboxes.meters.costs);
        let (renderers, renderers_guard, turns) =
            Renderers::new(&config.work, costs, Arc::clone(meter));
        let rendering = renderers.spawn(&config.work, &turns, &builder.reporter, meter);
        threads.extend(rendering.map_err(StartError::Thread)?);
        mailboxes.watch(&stalls);
        let limit = Duration::from_secs(config.stalls.secs);
        let stall_monitor = StallMonitor::start(stalls.clone(), limit, &builder.reporter)
            .map_err(StartError::Thread)?;
        mailboxes.sequencer.send(Start {
            batches: mailboxes.sequencer.recipient(),
        });
        let wait_limit = wait_limit(&config.wait);
        let NodeBuilder {
            reporter,
            host: arbiters,
            ..
        } = builder;
        Ok(Self {
            health: health.health().clone(),
            handle: NodeHandle::new(NodeParts {
                chain,
                config,
                clock,
                head,
                mailboxes: mailboxes.clone(),
                inline_reader,
                queues: RequestQueues {
                    signatures: checks,
                    renderers,
                    reads,
                },
                wait_limit,
                health,
                files: files.clone(),
                reporter: reporter.clone(),
                stalls,
            }),
            files,
            mailboxes,
            reporter,
            data_dir: data_dir.map(Path::to_owned),
            restored_file,
            arbiters,
            signatures,
            renderers: renderers_guard,
            scrubber,
            threads,
            stall_monitor,
        })
    }

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
        self.reporter.wait().await
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
        let pending = quiesce(&self.mailboxes, &self.health, &self.reporter).await;
        let chain = self.handle.chain().clone();
        let Self {
            handle,
            mailboxes,
            health,
            files,
            reporter,
            data_dir,
            restored_file,
            arbiters,
            signatures,
            renderers,
            scrubber,
            threads,
            stall_monitor,
        } = self;
        drop((handle, mailboxes, signatures, renderers, scrubber));
        // The values dropped here and the actors own the senders of the queues. A thread ends when
        // its queue is disconnected.
        let mut panicked: Vec<String> = arbiters.join().into_iter().map(str::to_owned).collect();
        let was_closed = pending.is_some();
        // While the threads end, so that the syncs of the writer and of the file take their time
        // together.
        let saved = match (&data_dir, pending) {
            (Some(directory), Some(pending)) => {
                save_pool(directory, &chain, pending, restored_file.as_ref()).await
            }
            _ => Ok(()),
        };
        // The monitor is last, so that it names a thread that does not end.
        let monitor = std::iter::once_with(|| stall_monitor.stop());
        for thread in threads.into_iter().chain(monitor) {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            if thread.join().is_err() {
                panicked.push(name);
            }
        }
        // A file may have been removed since the monitor's last look. The writer did not write to
        // it any more, but nothing has reported the fault.
        let find_moved = || {
            let error = files.check().err()?;
            StorageFault::of("store-writer", FaultKind::Write, &error)
        };
        let (fatal, fault) = (reporter.get(), health.fault().or_else(find_moved));
        saved.map_err(|unsaved| StopError::SavePool {
            path: unsaved.path,
            transactions: unsaved.transactions,
            source: unsaved.source,
            failed: fatal
                .map(ToString::to_string)
                .or_else(|| fault.as_ref().map(ToString::to_string)),
        })?;
        if let Some(error) = fatal {
            return Err(error.clone().into());
        }
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        match panicked.pop() {
            Some(thread) => Err(StopError::Panicked(thread)),
            None if was_closed => Ok(()),
            None => Err(StopError::Panicked(Mempool::NAME.to_owned())),
        }
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
    let is_slow = || timer.get().is_some_and(SyncTimer::is_slow);
    while !is_slow() && !health.is_write_waiting() {
        tokio::time::sleep(DELAY_CHECK_INTERVAL).await;
    }
}

#[cfg(test)]
mod builder_tests;
#[cfg(test)]
mod stall_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timer_tests;
