//! The clients that wait for transactions.

use crate::protocol::{
    notifier::{CommitNotifier, CommitWaiter, DurableBlock, NotificationBatcher},
    wait::{WaitOutcome, WaiterId},
};
use ledger_crypto::{HashValue, map::HashMap};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Minimum number of waiters from which canceled ones are swept.
const SWEEP_MIN: usize = 64;

/// One client that waits.
#[derive(Debug)]
struct Waiter {
    id: WaiterId,
    reply: oneshot::Sender<WaitOutcome>,
    notifier: Option<Arc<CommitNotifier>>,
}

/// Waiters by transaction hash.
///
/// The handle limits the number of concurrent waits (`wait.capacity`). Waiters that were canceled, by
/// their deadline or otherwise, are swept on insertion, whenever the number of waiters has doubled since
/// the last sweep: amortized cost is O(1). So at most twice the waiters of the last sweep are held, or
/// [`SWEEP_MIN`].
#[derive(Debug)]
pub(super) struct Waiters {
    by_hash: HashMap<HashValue, Vec<Waiter>>,
    count: usize,
    next_id: u64,
    sweep_at: usize,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self {
            by_hash: HashMap::default(),
            count: 0,
            next_id: 0,
            sweep_at: SWEEP_MIN,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Cancels all waits, by dropping their replies.
    pub(super) fn cancel_all(&mut self) {
        self.by_hash.clear();
        self.count = 0;
    }

    /// Adds a waiter for `hash`. `notifier` is that of its HTTP worker thread.
    pub(super) fn insert(
        &mut self,
        hash: HashValue,
        reply: oneshot::Sender<WaitOutcome>,
        notifier: Option<Arc<CommitNotifier>>,
    ) -> WaiterId {
        if self.count >= self.sweep_at {
            self.sweep();
            self.sweep_at = (2 * self.count).max(SWEEP_MIN);
        }
        let id = WaiterId(self.next_id);
        // A process never has 2^64 waits.
        self.next_id = self.next_id.wrapping_add(1);
        self.by_hash.entry(hash).or_default().push(Waiter {
            id,
            reply,
            notifier,
        });
        self.count += 1;
        id
    }

    /// Completes one waiter for `hash`, if it still waits.
    pub(super) fn complete(&mut self, hash: &HashValue, id: WaiterId, outcome: WaitOutcome) {
        let Some(waiters) = self.by_hash.get_mut(hash) else {
            return;
        };
        if let Some(index) = waiters.iter().position(|waiter| waiter.id == id) {
            // An error means that the wait was canceled.
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
            // An error means that the wait was canceled.
            let _ = waiter.reply.send(outcome());
        }
    }

    /// Notifies all waiters for transactions of a durable block, in batches by thread.
    pub(super) fn notify_block(&mut self, durable: &DurableBlock) {
        let mut batcher = NotificationBatcher::new(durable);
        for (index, executed) in durable.block.block.transactions.iter().enumerate() {
            for waiter in self.by_hash.remove(&executed.hash).unwrap_or_default() {
                self.count -= 1;
                let reply = waiter.reply;
                batcher.push(waiter.notifier, CommitWaiter { reply, index });
            }
        }
        batcher.flush();
    }

    fn sweep(&mut self) {
        self.by_hash.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.reply.is_closed());
            !waiters.is_empty()
        });
        self.count = self.by_hash.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RemovalReason;

    fn hash(n: u64) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    fn expired() -> WaitOutcome {
        WaitOutcome::Removed(RemovalReason::Expired { at_secs: 1 })
    }

    #[test]
    fn completes_all_waiters_for_a_hash_once_and_no_others() {
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
    fn completes_one_waiter_once() {
        let mut waiters = Waiters::new();
        let [(first, mut of_first), (second, mut of_second)] =
            [oneshot::channel(), oneshot::channel()];
        let first = waiters.insert(hash(1), first, None);
        let second = waiters.insert(hash(1), second, None);
        assert_ne!(first, second);
        for other in [hash(2), hash(1), hash(1)] {
            waiters.complete(&other, first, WaitOutcome::NotPending(None));
        }
        assert!(matches!(
            of_first.try_recv(),
            Ok(WaitOutcome::NotPending(None))
        ));
        assert!(of_second.try_recv().is_err() && !waiters.is_empty());
        waiters.complete(&hash(1), second, WaitOutcome::NotPending(None));
        assert!(of_second.try_recv().is_ok() && waiters.is_empty() && waiters.by_hash.is_empty());
    }

    #[test]
    fn sweeps_canceled_waiters() {
        let mut waiters = Waiters::new();
        let mut alive = Vec::new();
        for n in 0..100_000u64 {
            let (sender, receiver) = oneshot::channel();
            waiters.insert(hash(n % 5_000), sender, None);
            if n % 1_000 == 0 {
                alive.push(receiver);
            }
        }
        let bound = 2 * alive.len() + SWEEP_MIN;
        assert!(waiters.count <= bound, "{} are held", waiters.count);
        for n in 0..5_000 {
            waiters.complete_all(&hash(n), expired);
        }
        assert!(alive.iter_mut().all(|receiver| receiver.try_recv().is_ok()));
    }
}
