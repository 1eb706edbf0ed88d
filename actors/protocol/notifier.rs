//! Commit notifications, which the committer sends in batches to the notifier task of each HTTP
//! worker thread.

use super::wait::{CommittedHash, WaitEvent, WaitEvents, WaitOutcome};
use crate::{
    runtime::progress::{QueueProgress, Watch},
    state::committed::BlockHandle,
};
use ledger_types::LedgerInfo;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::sync::{mpsc, oneshot};

/// Name of the notifier tasks in the log and in metrics.
const TASK: &str = "notifier";

/// Maximum number of waiters in a batch.
///
/// The bound lets a worker start to respond while the committer looks up the remaining waiters.
pub(crate) const BATCH_WAITERS_MAX: usize = 256;

/// Maximum number of transactions that a waiter for many receives in one event.
///
/// The task does not yield before it has sent all of them, which takes about 20 µs.
pub(crate) const COMMITTED_PER_EVENT_MAX: usize = 1_024;

/// A durable block, with the ledger info of the first Head that includes it.
#[derive(Clone, Debug)]
pub(crate) struct DurableBlock {
    pub(crate) ledger_info: LedgerInfo,
    pub(crate) block: Arc<BlockHandle>,
}

/// A client whose wait a block completes.
#[derive(Debug)]
pub(crate) enum CommitWaiter {
    /// It waits for one transaction of the block.
    Transaction {
        reply: oneshot::Sender<WaitOutcome>,
        /// Index of the transaction in the block.
        index: usize,
    },
    /// It waits for a version that the Head with the block has.
    Version(oneshot::Sender<()>),
    /// It waits for many transactions, some of which are in the block.
    Many {
        events: WaitEvents,
        committed: Vec<CommittedIndex>,
    },
}

/// A transaction of a block for which a waiter for many waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommittedIndex {
    /// Index of the hash in the wait.
    pub(crate) in_wait: u32,
    /// Index of the transaction in the block.
    pub(crate) in_block: u32,
}

impl CommitWaiter {
    /// Completes the wait, unless the client has canceled it. A client that waits for a transaction
    /// receives it.
    pub(crate) fn complete(self, ledger_info: LedgerInfo, block: &Arc<BlockHandle>) {
        // An error of `send` means that the receiver was dropped: the wait was canceled.
        match self {
            Self::Transaction { reply, index } => {
                let committed = block.committed(index).expect("index is within the block");
                let _ = reply.send(WaitOutcome::Committed(ledger_info, committed));
            }
            Self::Version(reply) => {
                let _ = reply.send(());
            }
            Self::Many { events, committed } => {
                let hashes = committed.into_iter().map(|index| index.committed(block));
                let _ = events.send(WaitEvent::Committed(hashes.collect()));
            }
        }
    }

    /// Returns the number of transactions that the waiter receives, or 1 for a version.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Transaction { .. } | Self::Version(_) => 1,
            Self::Many { committed, .. } => committed.len(),
        }
    }
}

impl CommittedIndex {
    /// Returns the outcome of the transaction. It does not reference the block, which a client that
    /// reads slowly would otherwise hold in memory.
    fn committed(self, block: &BlockHandle) -> CommittedHash {
        let index = self.in_block as usize;
        let executed = block.block.transactions.get(index);
        let executed = executed.expect("index is within the block");
        let version = block.block.first_version + u64::from(self.in_block);
        CommittedHash::new(self.in_wait, version, &executed.info.v0().status)
    }
}

/// What the task of a worker thread receives.
#[derive(Debug)]
pub(crate) enum Notification {
    /// Waiters for one block.
    Batch(NotificationBatch),
    /// An event of a wait for many. It follows the commits that were sent before.
    Event {
        events: WaitEvents,
        event: WaitEvent,
    },
}

/// The waiters of one worker thread for transactions of one block.
#[derive(Debug)]
pub(crate) struct NotificationBatch {
    pub(crate) block: DurableBlock,
    pub(crate) waiters: Vec<CommitWaiter>,
}

/// Numbers of batches. Relaxed, because they order no other memory access.
#[derive(Debug, Default)]
struct BatchCounts {
    sent: AtomicU64,
    completed: AtomicU64,
}

impl BatchCounts {
    fn progress(&self) -> QueueProgress {
        let done = self.completed.load(Relaxed);
        QueueProgress {
            done,
            has_work: self.sent.load(Relaxed) > done,
        }
    }
}

/// A handle to the notifier task of one worker thread.
///
/// Its channel is unbounded, but holds each wait at most once, and `wait.capacity` limits how many
/// waits are concurrent. A wait for many has two events more.
#[derive(Debug)]
pub(crate) struct CommitNotifier {
    notifications: mpsc::UnboundedSender<Notification>,
    counts: Arc<BatchCounts>,
}

impl CommitNotifier {
    /// Creates a notifier, and the receiving side of its channel.
    pub(crate) fn new() -> (Self, Notifications) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let counts = Arc::<BatchCounts>::default();
        let notifications = Notifications {
            receiver,
            counts: Arc::clone(&counts),
        };
        let notifier = Self {
            notifications: sender,
            counts,
        };
        (notifier, notifications)
    }

    /// Returns a watch of the task, until the notifier or the task is dropped.
    pub(crate) fn watch(&self) -> Watch {
        // The watch must not keep the task running.
        let (notifications, counts) = (self.notifications.downgrade(), Arc::clone(&self.counts));
        Watch::new(TASK, move || {
            let is_closed = notifications.upgrade()?.is_closed();
            (!is_closed).then(|| counts.progress().into())
        })
    }

    /// Sends a batch to the task, or completes its waiters here if the task has been dropped.
    fn send(&self, block: &DurableBlock, waiters: Vec<CommitWaiter>) {
        let block = block.clone();
        self.notify(Notification::Batch(NotificationBatch { block, waiters }));
    }

    /// Sends a notification to the task, or completes it here if the task has been dropped.
    fn notify(&self, notification: Notification) {
        self.counts.sent.fetch_add(1, Relaxed);
        match self.notifications.send(notification) {
            Ok(()) => {}
            Err(mpsc::error::SendError(Notification::Batch(batch))) => {
                let DurableBlock { ledger_info, block } = batch.block;
                for waiter in batch.waiters {
                    waiter.complete(ledger_info, &block);
                }
            }
            // An error means that the receiver was dropped: the wait was canceled.
            Err(mpsc::error::SendError(Notification::Event { events, event })) => {
                drop(events.send(event));
            }
        }
    }
}

/// The receiving side of a notifier's channel.
#[derive(Debug)]
pub(crate) struct Notifications {
    receiver: mpsc::UnboundedReceiver<Notification>,
    counts: Arc<BatchCounts>,
}

impl Notifications {
    /// Waits for the next notification. Returns `None` if the notifier is dropped and none is
    /// queued.
    pub(crate) async fn next(&mut self) -> Option<Notification> {
        self.receiver.recv().await
    }

    /// Returns the next notification if one is queued.
    #[cfg(test)]
    pub(crate) fn try_next(&mut self) -> Option<Notification> {
        self.receiver.try_recv().ok()
    }

    /// Counts a notification that is complete.
    pub(crate) fn count_completed(&self) {
        self.counts.completed.fetch_add(1, Relaxed);
    }
}

/// Sends an event of a wait for many behind its earlier ones, through the task of `notifier` if
/// there is one.
pub(crate) fn send_event(
    notifier: Option<&Arc<CommitNotifier>>,
    events: &WaitEvents,
    event: WaitEvent,
) {
    match notifier {
        Some(notifier) => {
            let events = events.clone();
            notifier.notify(Notification::Event { events, event });
        }
        // An error means that the receiver was dropped: the wait was canceled.
        None => drop(events.send(event)),
    }
}

/// Collects the waiters of one block into batches, by worker thread.
///
/// Waiters that are not flushed when the batcher is dropped are canceled.
pub(crate) struct NotificationBatcher<'a> {
    block: &'a DurableBlock,
    by_thread: Vec<(Arc<CommitNotifier>, Vec<CommitWaiter>)>,
}

impl<'a> NotificationBatcher<'a> {
    pub(crate) fn new(block: &'a DurableBlock) -> Self {
        Self {
            block,
            by_thread: Vec::new(),
        }
    }

    /// Adds a waiter to the batch of its thread, and sends the batch if it is full.
    ///
    /// Without a notifier, the waiter is completed immediately on the calling thread.
    pub(crate) fn push(&mut self, notifier: Option<Arc<CommitNotifier>>, waiter: CommitWaiter) {
        let Some(notifier) = notifier else {
            return waiter.complete(self.block.ledger_info, &self.block.block);
        };
        let index = self
            .by_thread
            .iter()
            .position(|(other, _)| Arc::ptr_eq(other, &notifier));
        let index = index.unwrap_or_else(|| {
            self.by_thread.push((notifier, Vec::new()));
            self.by_thread.len() - 1
        });
        let (notifier, waiters) = &mut self.by_thread[index];
        waiters.push(waiter);
        if waiters.len() >= BATCH_WAITERS_MAX {
            notifier.send(self.block, std::mem::take(waiters));
        }
    }

    /// Sends all batches that are not full.
    pub(crate) fn flush(self) {
        for (notifier, waiters) in self.by_thread {
            if !waiters.is_empty() {
                notifier.send(self.block, waiters);
            }
        }
    }
}
