//! Who waits for which transaction.

use super::{
    messages::WaitEnd,
    relay::{Announced, Outgoing, Relay},
};
use ledger_crypto::{HashValue, map::HashMap};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Below this many, nobody looks for those who went away.
const SWEEP_MIN: usize = 64;

/// One of those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(u64);

#[derive(Debug)]
struct Waiter {
    id: WaiterId,
    end: oneshot::Sender<WaitEnd>,
    relay: Option<Arc<Relay>>,
}

/// Subscriptions by transaction hash.
///
/// How many clients wait at once is bounded by the handle (`wait.capacity`). Those who went away,
/// by their deadline or otherwise, are found at an insertion: whenever the number has doubled since
/// the last look, so that a look costs nothing in the long run, and no more are held than twice those
/// who were alive at the last look, or a constant.
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

    /// Lets all go who wait, without a word of how it ended.
    pub(super) fn let_go(&mut self) {
        self.by_hash.clear();
        self.count = 0;
    }

    /// Someone waits for `hash`, on a thread with a relay if one is given.
    pub(super) fn insert(
        &mut self,
        hash: HashValue,
        end: oneshot::Sender<WaitEnd>,
        relay: Option<Arc<Relay>>,
    ) -> WaiterId {
        if self.count >= self.sweep_at {
            self.sweep();
            self.sweep_at = (2 * self.count).max(SWEEP_MIN);
        }
        let id = WaiterId(self.next_id);
        // As many as there are numbers never wait in the life of a process.
        self.next_id = self.next_id.wrapping_add(1);
        self.by_hash
            .entry(hash)
            .or_default()
            .push(Waiter { id, end, relay });
        self.count += 1;
        id
    }

    /// Tells one of those who wait for `hash` how it ended, unless it was told before.
    pub(super) fn dismiss(&mut self, hash: &HashValue, id: WaiterId, end: WaitEnd) {
        let Some(waiters) = self.by_hash.get_mut(hash) else {
            return;
        };
        if let Some(place) = waiters.iter().position(|waiter| waiter.id == id) {
            let _ = waiters.swap_remove(place).end.send(end);
            self.count -= 1;
        }
        if waiters.is_empty() {
            self.by_hash.remove(hash);
        }
    }

    /// Tells everyone who waits for `hash` how it ended.
    pub(super) fn resolve(&mut self, hash: &HashValue, end: impl Fn() -> WaitEnd) {
        for waiter in self.by_hash.remove(hash).unwrap_or_default() {
            self.count -= 1;
            // Who went away does not need to know.
            let _ = waiter.end.send(end());
        }
    }

    /// Tells everyone who waits for a transaction of a block that it is durable.
    pub(super) fn announce(&mut self, announced: &Announced) {
        let mut outgoing = Outgoing::new(announced);
        for (index, executed) in announced.held.block.transactions.iter().enumerate() {
            for waiter in self.by_hash.remove(&executed.hash).unwrap_or_default() {
                self.count -= 1;
                outgoing.push(waiter.relay, (waiter.end, index));
            }
        }
        outgoing.flush();
    }

    fn sweep(&mut self) {
        self.by_hash.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.end.is_closed());
            !waiters.is_empty()
        });
        self.count = self.by_hash.values().map(Vec::len).sum();
    }
}

/// Three that differ.
#[cfg(test)]
pub(crate) fn waiter_ids() -> [WaiterId; 3] {
    [1, 2, 3].map(WaiterId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LeaveReason;

    fn hash(n: u64) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    fn expired() -> WaitEnd {
        WaitEnd::Left(LeaveReason::Expired { at_secs: 1 })
    }

    #[test]
    fn all_who_wait_for_a_hash_are_told_once_and_nobody_else() {
        let mut waiters = Waiters::new();
        let mut receivers = Vec::new();
        for n in [1, 1, 2] {
            let (sender, receiver) = oneshot::channel();
            waiters.insert(hash(n), sender, None);
            receivers.push(receiver);
        }
        waiters.resolve(&hash(1), expired);
        assert!(receivers[0].try_recv().is_ok() && receivers[1].try_recv().is_ok());
        assert!(matches!(
            receivers[2].try_recv(),
            Err(oneshot::error::TryRecvError::Empty)
        ));
        waiters.resolve(&hash(1), || unreachable!("nobody is left"));
        assert!(!waiters.is_empty());
        waiters.resolve(&hash(2), expired);
        assert!(waiters.is_empty());
    }

    #[test]
    fn who_is_dismissed_is_told_alone_and_once() {
        let mut waiters = Waiters::new();
        let [(first, mut of_first), (second, mut of_second)] =
            [oneshot::channel(), oneshot::channel()];
        let first = waiters.insert(hash(1), first, None);
        let second = waiters.insert(hash(1), second, None);
        assert_ne!(first, second);
        for other in [hash(2), hash(1), hash(1)] {
            waiters.dismiss(&other, first, WaitEnd::NotPending(None));
        }
        assert!(matches!(of_first.try_recv(), Ok(WaitEnd::NotPending(None))));
        assert!(of_second.try_recv().is_err() && !waiters.is_empty());
        waiters.dismiss(&hash(1), second, WaitEnd::NotPending(None));
        assert!(of_second.try_recv().is_ok() && waiters.is_empty() && waiters.by_hash.is_empty());
    }

    #[test]
    fn those_who_went_away_do_not_pile_up() {
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
            waiters.resolve(&hash(n), expired);
        }
        assert!(alive.iter_mut().all(|receiver| receiver.try_recv().is_ok()));
    }
}
