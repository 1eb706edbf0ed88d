//! Waiters: clients that wait for the commitment of a transaction, or for a version of the Head.

use super::many_waiters::ManyWaiters;
use crate::protocol::{
    notifier::{CommitNotifier, CommitWaiter, DurableBlock, NotificationBatcher},
    wait::{WaitOutcome, WaiterId},
};
use ledger_crypto::{HashValue, map::HashMap};
use ledger_types::LedgerInfo;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::oneshot;

/// Minimum number of waiters at which an insertion sweeps canceled waiters.
const SWEEP_MIN: usize = 64;

/// A client that waits for one transaction.
#[derive(Debug)]
struct Waiter {
    /// Number of its [`WaiterId::One`].
    id: u64,
    reply: oneshot::Sender<WaitOutcome>,
    notifier: Option<Arc<CommitNotifier>>,
}

/// A client that waits until the Head has a version.
#[derive(Debug)]
struct VersionWaiter {
    reply: oneshot::Sender<()>,
    notifier: Option<Arc<CommitNotifier>>,
}

/// Waiters by transaction hash and by version.
///
/// The node's handle limits the number of concurrent waits (`wait.capacity`).
///
/// Canceled waiters, for example after their deadline, are swept on insertion, whenever the number
/// of waiters has doubled since the last sweep. Amortized cost is O(1). So the collection holds at
/// most twice the waiters that the last sweep retained, or [`SWEEP_MIN`] if that is more.
#[derive(Debug)]
pub(super) struct Waiters {
    by_hash: HashMap<HashValue, Vec<Waiter>>,
    /// In ascending order, so that a block finds those that it completes without a look at others.
    by_version: BTreeMap<u64, Vec<VersionWaiter>>,
    /// Waits for many transactions. They are not swept, because a message ends each of them.
    pub(super) many: ManyWaiters,
    /// Total number of the other waiters, including canceled waiters that are not swept yet.
    count: usize,
    next_id: u64,
    /// Number of waiters at which the next insertion sweeps.
    sweep_at: usize,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self {
            by_hash: HashMap::default(),
            by_version: BTreeMap::new(),
            many: ManyWaiters::default(),
            count: 0,
            next_id: 0,
            sweep_at: SWEEP_MIN,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.many.is_empty()
    }

    /// Cancels all waits by dropping their replies. Waits for many end with the ledger info of the
    /// Head, once the mempool has checked their hashes.
    pub(super) fn cancel_all(&mut self, ledger_info: LedgerInfo) {
        self.by_hash.clear();
        self.by_version.clear();
        self.count = 0;
        self.many.end_all(ledger_info);
    }

    /// Adds a waiter for the transaction `hash`, and returns its identifier.
    ///
    /// `notifier` is the notifier of the waiter's HTTP worker thread, if that thread has one.
    pub(super) fn insert(
        &mut self,
        hash: HashValue,
        reply: oneshot::Sender<WaitOutcome>,
        notifier: Option<Arc<CommitNotifier>>,
    ) -> WaiterId {
        self.sweep_if_due();
        let id = self.next_id;
        // Identifiers do not repeat, because no process has 2^64 waits.
        self.next_id = self.next_id.wrapping_add(1);
        self.by_hash.entry(hash).or_default().push(Waiter {
            id,
            reply,
            notifier,
        });
        self.count += 1;
        WaiterId::One(id)
    }

    /// Adds a waiter for a version that the Head does not have yet.
    ///
    /// `notifier` is the notifier of the waiter's HTTP worker thread, if that thread has one.
    pub(super) fn insert_version(
        &mut self,
        version: u64,
        reply: oneshot::Sender<()>,
        notifier: Option<Arc<CommitNotifier>>,
    ) {
        self.sweep_if_due();
        let waiters = self.by_version.entry(version).or_default();
        waiters.push(VersionWaiter { reply, notifier });
        self.count += 1;
    }

    /// Completes the waiter `id` for `hash`, if it is still pending.
    pub(super) fn complete(&mut self, hash: &HashValue, id: WaiterId, outcome: WaitOutcome) {
        let Some(waiters) = self.by_hash.get_mut(hash) else {
            return;
        };
        if let Some(index) = waiters
            .iter()
            .position(|waiter| WaiterId::One(waiter.id) == id)
        {
            // An error means that the receiver was dropped: the wait was canceled.
            let _ = waiters.swap_remove(index).reply.send(outcome);
            self.count -= 1;
        }
        if waiters.is_empty() {
            self.by_hash.remove(hash);
        }
    }

    /// Completes all waiters for `hash`.
    pub(super) fn complete_all(&mut self, hash: &HashValue, outcome: impl Fn() -> WaitOutcome) {
        for waiter in self.by_hash.remove(hash).unwrap_or_default() {
            self.count -= 1;
            // An error means that the receiver was dropped: the wait was canceled.
            let _ = waiter.reply.send(outcome());
        }
    }

    /// Notifies all waiters for transactions of a durable block, and for versions up to that of the
    /// Head with the block, in batches per HTTP worker thread.
    pub(super) fn notify_block(&mut self, durable: &DurableBlock) {
        let mut batcher = NotificationBatcher::new(durable);
        for (index, executed) in durable.block.block.transactions.iter().enumerate() {
            for waiter in self.by_hash.remove(&executed.hash).unwrap_or_default() {
                self.count -= 1;
                let reply = waiter.reply;
                batcher.push(waiter.notifier, CommitWaiter::Transaction { reply, index });
            }
        }
        let newest = durable.ledger_info.version;
        while let Some(lowest) = self.by_version.first_entry()
            && *lowest.key() <= newest
        {
            for waiter in lowest.remove() {
                self.count -= 1;
                batcher.push(waiter.notifier, CommitWaiter::Version(waiter.reply));
            }
        }
        // Before the waits for many, whose look-ups may take milliseconds.
        batcher.flush();
        self.many.notify_block(durable);
    }

    /// Removes canceled waiters if the number of waiters has doubled since the last sweep.
    fn sweep_if_due(&mut self) {
        if self.count >= self.sweep_at {
            self.sweep();
            self.sweep_at = (2 * self.count).max(SWEEP_MIN);
        }
    }

    /// Removes canceled waiters.
    fn sweep(&mut self) {
        self.by_hash.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.reply.is_closed());
            !waiters.is_empty()
        });
        self.by_version.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.reply.is_closed());
            !waiters.is_empty()
        });
        let by_hash = self.by_hash.values().map(Vec::len).sum::<usize>();
        self.count = by_hash + self.by_version.values().map(Vec::len).sum::<usize>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RemovalReason, state::committed::BlockHandle};
    use ledger_test_support::block::{block, ledger_info};

    fn hash(n: u64) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    fn expired() -> WaitOutcome {
        WaitOutcome::Removed(RemovalReason::Expired { at_secs: 1 })
    }

    #[test]
    fn completes_only_the_waiters_for_the_given_hash() {
        let mut waiters = Waiters::new();
        let mut receivers = Vec::new();
        for n in [1, 1, 2] {
            let (sender, receiver) = oneshot::channel();
            waiters.insert(hash(n), sender, None);
            receivers.push(receiver);
        }
        waiters.complete_all(&hash(1), expired);
        assert!(receivers[0].try_recv().is_ok() && receivers[1].try_recv().is_ok());
        assert!(matches!(
            receivers[2].try_recv(),
            Err(oneshot::error::TryRecvError::Empty)
        ));
        waiters.complete_all(&hash(1), || unreachable!("no waiter is left"));
        assert!(!waiters.is_empty());
        waiters.complete_all(&hash(2), expired);
        assert!(waiters.is_empty());
    }

    #[test]
    fn completes_only_the_waiter_with_the_given_id() {
        let mut waiters = Waiters::new();
        let [(first, mut first_outcome), (second, mut second_outcome)] =
            [oneshot::channel(), oneshot::channel()];
        let first = waiters.insert(hash(1), first, None);
        let second = waiters.insert(hash(1), second, None);
        assert_ne!(first, second);
        for other in [hash(2), hash(1), hash(1)] {
            waiters.complete(&other, first, WaitOutcome::NotPending(None));
        }
        assert!(matches!(
            first_outcome.try_recv(),
            Ok(WaitOutcome::NotPending(None))
        ));
        assert!(second_outcome.try_recv().is_err() && !waiters.is_empty());
        waiters.complete(&hash(1), second, WaitOutcome::NotPending(None));
        assert!(
            second_outcome.try_recv().is_ok() && waiters.is_empty() && waiters.by_hash.is_empty()
        );
    }

    /// A waiter for each version, and the version of the Head with the block.
    #[test]
    fn notifies_only_waiters_for_versions_that_the_head_has() {
        let mut waiters = Waiters::new();
        let mut receivers = Vec::new();
        for version in [5, 9, 1_000, 1_001, u64::MAX] {
            let (sender, receiver) = oneshot::channel();
            waiters.insert_version(version, sender, None);
            receivers.push(receiver);
        }
        let durable = DurableBlock {
            ledger_info: ledger_info(1_000),
            block: Arc::new(BlockHandle {
                block: block(1, &[], &[]),
                wal_block: None,
            }),
        };
        waiters.notify_block(&durable);
        let reached = receivers
            .iter_mut()
            .map(|receiver| receiver.try_recv().is_ok());
        assert_eq!(
            reached.collect::<Vec<_>>(),
            [true, true, true, false, false]
        );
        assert_eq!(waiters.count, 2);
        waiters.cancel_all(ledger_info(1_000));
        assert!(waiters.is_empty() && receivers[3].try_recv().is_err());
    }

    #[test]
    fn sweeps_canceled_waiters_for_versions() {
        let mut waiters = Waiters::new();
        let (sender, _open) = oneshot::channel();
        waiters.insert_version(7, sender, None);
        for version in 0..100_000 {
            let (sender, _) = oneshot::channel();
            waiters.insert_version(version % 5_000, sender, None);
        }
        assert!(waiters.count <= SWEEP_MIN, "{} waiters", waiters.count);
        assert!(waiters.by_version.len() <= SWEEP_MIN);
    }

    #[test]
    fn sweeps_canceled_waiters() {
        let mut waiters = Waiters::new();
        let mut open_receivers = Vec::new();
        for n in 0..100_000u64 {
            let (sender, receiver) = oneshot::channel();
            waiters.insert(hash(n % 5_000), sender, None);
            if n % 1_000 == 0 {
                open_receivers.push(receiver);
            }
        }
        let bound = 2 * open_receivers.len() + SWEEP_MIN;
        assert!(waiters.count <= bound, "{} waiters", waiters.count);
        for n in 0..5_000 {
            waiters.complete_all(&hash(n), expired);
        }
        assert!(
            open_receivers
                .iter_mut()
                .all(|receiver| receiver.try_recv().is_ok())
        );
    }
}
