//! The task of an HTTP worker thread that completes the waits of the thread.
//!
//! The committer sends the task a batch of waiters, and the task completes them on their thread.
//! This is cheaper than completing each waiter from the committer:
//!
//! * The committer locks the worker's task queue once per batch, not once per waiter.
//! * A batch has its own reference count of the block, so threads do not contend for a shared one.

use crate::{
    protocol::notifier::{
        CommitNotifier, DurableBlock, Notification, NotificationBatch, Notifications,
    },
    state::committed::BlockHandle,
};
use std::{future::poll_fn, sync::Arc, task::Poll};

/// Maximum number of waiters that the task completes before it yields. A waiter for many counts as
/// as many as it receives transactions.
///
/// The yield lets the worker send their responses while the transactions are still in CPU caches.
const WAITERS_PER_YIELD: usize = 32;

/// Creates a notifier and its task, which the caller must run on the worker thread.
///
/// The task ends when the notifier is dropped and all queued batches are complete. If the task is
/// dropped first, waiters of queued batches are canceled, and waiters of later batches are
/// completed on the sending thread.
pub(crate) fn notifier() -> (CommitNotifier, impl Future<Output = ()> + use<>) {
    let (notifier, notifications) = CommitNotifier::new();
    (notifier, run(notifications))
}

/// Runs the notifier task of a worker thread.
async fn run(mut notifications: Notifications) {
    while let Some(notification) = notifications.next().await {
        match notification {
            Notification::Batch(batch) => complete(batch).await,
            // An error means that the receiver was dropped: the wait was canceled.
            Notification::Event { events, event } => drop(events.send(event)),
        }
        notifications.count_completed();
    }
}

/// Completes all waiters of a batch, yielding after every [`WAITERS_PER_YIELD`] of them.
async fn complete(batch: NotificationBatch) {
    let DurableBlock { ledger_info, block } = batch.block;
    // The batch has its own reference count; see the module documentation.
    let block = Arc::new(BlockHandle::clone(&block));
    let mut waiters = batch.waiters.into_iter();
    while waiters.len() > 0 {
        let mut weight = 0;
        while weight < WAITERS_PER_YIELD
            && let Some(waiter) = waiters.next()
        {
            weight += waiter.weight();
            waiter.complete(ledger_info, &block);
        }
        yield_without_io().await;
    }
}

/// Yields once to the other tasks of the thread.
///
/// Unlike [`tokio::task::yield_now`], this wakes the task immediately. tokio defers the wake-up
/// until it has polled for I/O events, which would cost a system call per yield.
async fn yield_without_io() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests;
