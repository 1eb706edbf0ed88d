//! Tests of the batches and of the tasks that complete them.

use super::*;
use crate::protocol::{
    notifier::{BATCH_WAITERS_MAX, CommitWaiter, NotificationBatcher},
    wait::WaitOutcome,
};
use ledger_test_support::{
    block::{block, ledger_info},
    draft::draft,
};
use std::{
    pin::{Pin, pin},
    task::{Context, Waker},
};
use tokio::sync::oneshot::{self, error::TryRecvError};

/// Number of transactions for two full batches and one that is flushed.
const TRANSACTIONS: u64 = 600;

type Receivers = Vec<oneshot::Receiver<WaitOutcome>>;

/// Returns a block with `transaction_count` transactions, and their versions.
fn durable_block(transaction_count: u64) -> (DurableBlock, Vec<u64>) {
    let transactions: Vec<_> = (0..transaction_count)
        .map(|number| draft(1, number).checked())
        .collect();
    let block = block(1, &transactions, &[]);
    let versions = (block.first_version..=block.last_version()).collect();
    let durable = DurableBlock {
        ledger_info: ledger_info(1_000),
        block: Arc::new(BlockHandle {
            block,
            wal_block: None,
        }),
    };
    (durable, versions)
}

/// Registers one waiter per notifier for each transaction, and notifies all of them.
///
/// Returns the receivers by notifier, in the order of the transactions.
fn notify_all<const N: usize>(
    durable: &DurableBlock,
    notifiers: [Option<&Arc<CommitNotifier>>; N],
) -> [Receivers; N] {
    let mut batcher = NotificationBatcher::new(durable);
    let mut receivers = notifiers.map(|_| Vec::new());
    for index in 0..durable.block.block.transactions.len() {
        for (notifier, receivers) in notifiers.into_iter().zip(&mut receivers) {
            let (reply, receiver) = oneshot::channel();
            batcher.push(
                notifier.cloned(),
                CommitWaiter::Transaction { reply, index },
            );
            receivers.push(receiver);
        }
    }
    batcher.flush();
    receivers
}

/// Returns the versions received since the last call.
fn received_versions(receivers: &mut Receivers) -> Vec<u64> {
    let received = receivers
        .iter_mut()
        .filter_map(|receiver| match receiver.try_recv() {
            Ok(WaitOutcome::Committed(_, committed)) => Some(committed.version),
            Ok(other) => panic!("unexpected outcome: {other:?}"),
            Err(_) => None,
        });
    received.collect()
}

fn poll_once(task: &mut Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
    task.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn notifies_waiters_without_a_notifier_immediately() {
    let (durable, versions) = durable_block(TRANSACTIONS);
    let [mut receivers] = notify_all(&durable, [None]);
    assert_eq!(received_versions(&mut receivers), versions);
}

#[test]
fn notifies_waiters_of_one_thread_in_batches() {
    let (durable, versions) = durable_block(TRANSACTIONS);
    let (notifier, mut queue) = CommitNotifier::new();
    let notifier = Arc::new(notifier);
    notify_all(&durable, [Some(&notifier)]);
    let sizes = std::iter::from_fn(|| match queue.try_next()? {
        Notification::Batch(batch) => Some(batch.waiters.len()),
        event @ Notification::Event { .. } => panic!("unexpected {event:?}"),
    });
    let sizes: Vec<_> = sizes.collect();
    let flushed = versions.len() - 2 * BATCH_WAITERS_MAX;
    assert_eq!(sizes, [BATCH_WAITERS_MAX, BATCH_WAITERS_MAX, flushed]);
}

#[test]
fn yields_between_groups_of_waiters() {
    let (durable, versions) = durable_block(TRANSACTIONS);
    let (notifier, task) = notifier();
    let (notifier, mut task) = (Arc::new(notifier), pin!(task));
    let [mut receivers] = notify_all(&durable, [Some(&notifier)]);
    assert!(poll_once(&mut task).is_pending());
    assert_eq!(
        received_versions(&mut receivers),
        versions[..WAITERS_PER_YIELD],
        "the first poll completes one group"
    );
    let mut remaining = versions[WAITERS_PER_YIELD..].to_vec();
    while !remaining.is_empty() {
        assert!(poll_once(&mut task).is_pending());
        let received = received_versions(&mut receivers);
        assert!(!received.is_empty(), "every poll makes progress");
        assert!(received.len() <= WAITERS_PER_YIELD, "{received:?}");
        assert!(remaining.starts_with(&received), "{received:?}");
        remaining.drain(..received.len());
    }
}

#[test]
fn notifies_each_thread_from_its_own_task() {
    let (durable, versions) = durable_block(TRANSACTIONS);
    let [(first, first_task), (second, _second_task)] = [notifier(), notifier()];
    let (first, second) = (Arc::new(first), Arc::new(second));
    let mut first_task = pin!(first_task);
    let [mut on_first, mut inline, mut on_second] =
        notify_all(&durable, [Some(&first), None, Some(&second)]);
    assert_eq!(received_versions(&mut inline), versions);
    assert!(received_versions(&mut on_first).is_empty());
    drop(first);
    while poll_once(&mut first_task).is_pending() {}
    assert_eq!(received_versions(&mut on_first), versions);
    assert!(received_versions(&mut on_second).is_empty());
}

#[test]
fn task_completes_queued_batches_after_its_notifier_is_dropped() {
    let (durable, versions) = durable_block(TRANSACTIONS);
    let (notifier, task) = notifier();
    let (notifier, mut task) = (Arc::new(notifier), pin!(task));
    let [mut receivers] = notify_all(&durable, [Some(&notifier)]);
    drop(notifier);
    while poll_once(&mut task).is_pending() {}
    assert_eq!(received_versions(&mut receivers), versions);
}

#[test]
fn cancels_queued_waiters_when_the_task_is_dropped() {
    let (durable, versions) = durable_block(3);
    let (notifier, task) = notifier();
    let notifier = Arc::new(notifier);
    let [mut receivers] = notify_all(&durable, [Some(&notifier)]);
    assert_eq!(receivers.len(), versions.len());
    drop(task);
    for receiver in &mut receivers {
        assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
    }
}

#[test]
fn notifies_waiters_immediately_after_the_task_is_dropped() {
    let (durable, versions) = durable_block(3);
    let (notifier, task) = notifier();
    drop(task);
    let [mut receivers] = notify_all(&durable, [Some(&Arc::new(notifier))]);
    assert_eq!(received_versions(&mut receivers), versions);
}
