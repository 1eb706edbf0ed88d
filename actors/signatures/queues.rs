//! The queue of a lane, bounded by the cost of the waiting signature checks.
//!
//! One transaction may cost as much as two hundred others, so a limit on the number of
//! transactions would not bound the waiting time. A queue accepts a transaction of any cost while
//! the cost of the waiting ones is below the capacity. With a stricter rule, a nearly full lane
//! would only accept plain transactions.
//!
//! Plain and costly transactions leave each other a part of the capacity. So a flood of one class
//! causes no rejection of the other class while that class needs no more than this part.

use super::scheduler::Lane;
use crossbeam_channel::{Receiver, Sender};
use ledger_metrics::{Computed, Counter, Metric, counters};
use ledger_types::{CheckedTransaction, Discard, SignedTransaction};
use serde::Serialize;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use tokio::sync::oneshot;

/// Maximum cost of a plain transaction; a higher cost is costly. One or two signers with an
/// ordinary key each cost less.
const PLAIN_COST_MAX: usize = 8;

/// Divisor of the capacity that yields the part that plain and costly transactions leave each
/// other.
const RESERVED_DIVISOR: usize = 4;

/// The capacity of a lane in units of cost. Clones share one capacity.
///
/// The counts order no other memory accesses, so relaxed atomics are sufficient.
#[derive(Clone, Debug)]
pub(super) struct QueueCapacity(Arc<Counts>);

/// The capacity and the counts of a queue.
#[derive(Debug)]
struct Counts {
    capacity: usize,
    /// Total cost of the waiting transactions.
    all: AtomicUsize,
    plain: AtomicUsize,
    costly: AtomicUsize,
}

/// A permit of a waiting transaction. Dropping it releases its cost.
#[derive(Debug)]
pub(super) struct QueuePermit {
    capacity: QueueCapacity,
    cost: usize,
}

impl QueueCapacity {
    /// Creates an unused capacity for work of the cost `capacity`, at least 1.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(Counts {
            capacity,
            all: AtomicUsize::new(0),
            plain: AtomicUsize::new(0),
            costly: AtomicUsize::new(0),
        }))
    }

    /// Returns the cost that may wait. The last accepted transaction may exceed it.
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// Returns the cost of the waiting transactions.
    pub fn used_cost(&self) -> usize {
        self.0.all.load(Relaxed)
    }

    /// Acquires a permit for a transaction of the given cost, at least 1. Returns `None` if the
    /// waiting transactions of all classes or of its class have reached their limit.
    pub fn try_acquire(&self, cost: usize) -> Option<QueuePermit> {
        let capacity = self.0.capacity;
        let class_limit = capacity - capacity / RESERVED_DIVISOR;
        add_if_below(&self.0.all, cost, capacity)?;
        if add_if_below(self.class_cost(cost), cost, class_limit).is_none() {
            self.0.all.fetch_sub(cost, Relaxed);
            return None;
        }
        let capacity = self.clone();
        Some(QueuePermit { capacity, cost })
    }

    fn class_cost(&self, cost: usize) -> &AtomicUsize {
        match cost {
            0..=PLAIN_COST_MAX => &self.0.plain,
            _ => &self.0.costly,
        }
    }
}

/// Adds `cost` to `sum` if the sum is below `limit`, and returns the previous sum. Returns `None`
/// otherwise.
fn add_if_below(sum: &AtomicUsize, cost: usize, limit: usize) -> Option<usize> {
    let added = |before| (before < limit).then(|| cost.saturating_add(before));
    sum.fetch_update(Relaxed, Relaxed, added).ok()
}

impl QueuePermit {
    /// Returns the cost of the transaction.
    pub fn cost(&self) -> usize {
        self.cost
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        self.capacity
            .class_cost(self.cost)
            .fetch_sub(self.cost, Relaxed);
        self.capacity.0.all.fetch_sub(self.cost, Relaxed);
    }
}

counters! {
    /// Counters of one lane.
    pub(super) struct LaneCounters;

    /// Snapshot of one lane. Counts are since the start of the node.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct LaneStatus {
        /// Name of the lane: `trusted` or `suspect`.
        pub lane: Computed<&'static str>,
        /// Cost of the checks that may wait, in ed25519 signatures that are checked one by one. The
        /// last accepted transaction may exceed it.
        pub capacity_signatures: Computed<usize>,
        /// Cost of the checks that wait now, in the same unit.
        pub waiting_signatures: Computed<usize>,
        /// Number of transactions that wait now.
        pub waiting: Computed<usize>,
        /// Transactions that were accepted.
        pub accepted: Counter,
        /// Transactions that were rejected because the lane was full.
        pub refused: Counter,
        /// Transactions that were checked. A canceled request's transaction is not.
        pub checked: Counter,
        /// Checked transactions with a bad signature.
        pub bad: Counter,
        /// Batches of checked transactions.
        pub batches: Counter,
    }
}

impl LaneCounters {
    /// Counts a batch of `checked` transactions, of which `bad` have a bad signature.
    pub(super) fn count_batch(&self, checked: usize, bad: usize) {
        self.checked.add(checked as u64);
        self.bad.add(bad as u64);
        self.batches.increment();
    }

    /// Returns the current values of a lane with this capacity, in which `waiting` transactions
    /// wait.
    pub(super) fn status(
        &self,
        lane: Lane,
        capacity: &QueueCapacity,
        waiting: usize,
    ) -> LaneStatus {
        LaneStatus {
            lane: match lane {
                Lane::Trusted => "trusted",
                Lane::Untrusted => "suspect",
            },
            capacity_signatures: capacity.capacity(),
            waiting_signatures: capacity.used_cost(),
            waiting,
            ..self.snapshot()
        }
    }
}

/// A transaction to verify, and the channel for the verdict.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) transaction: SignedTransaction,
    /// Permit of the transaction in the lane. A thread releases it when it checks the batch.
    pub(super) permit: QueuePermit,
    pub(super) verdict: oneshot::Sender<Result<CheckedTransaction, Discard>>,
}

/// Sending side of a lane's queue.
pub(super) type QueueSender = Sender<Box<Job>>;

/// Receiving side of a lane's queue.
pub(super) type QueueReceiver = Receiver<Box<Job>>;

/// One side of a lane's queue, with the lane's capacity and counters.
#[derive(Debug)]
pub(super) struct LaneQueue<Q> {
    pub(super) jobs: Q,
    pub(super) capacity: QueueCapacity,
    pub(super) counters: Arc<LaneCounters>,
}

/// One side of both lanes.
#[derive(Debug)]
pub(super) struct Lanes<Q> {
    pub(super) trusted: LaneQueue<Q>,
    pub(super) untrusted: LaneQueue<Q>,
}

impl<Q> Lanes<Q> {
    pub(super) fn of(&self, lane: Lane) -> &LaneQueue<Q> {
        match lane {
            Lane::Trusted => &self.trusted,
            Lane::Untrusted => &self.untrusted,
        }
    }
}

/// The queues from which a thread takes its work.
pub(super) type Work = Lanes<QueueReceiver>;

impl Clone for LaneQueue<QueueReceiver> {
    fn clone(&self) -> Self {
        Self {
            jobs: self.jobs.clone(),
            capacity: self.capacity.clone(),
            counters: Arc::clone(&self.counters),
        }
    }
}

pub(super) fn lane(capacity: usize) -> (LaneQueue<QueueSender>, LaneQueue<QueueReceiver>) {
    // The capacity bounds the channel: each job holds a permit of a cost of at least 1.
    let (sender, receiver) = crossbeam_channel::unbounded();
    let (capacity, counters) = (
        QueueCapacity::new(capacity),
        Arc::new(LaneCounters::default()),
    );
    let sending_side = LaneQueue {
        jobs: sender,
        capacity: capacity.clone(),
        counters: Arc::clone(&counters),
    };
    let receiving_side = LaneQueue {
        jobs: receiver,
        capacity,
        counters,
    };
    (sending_side, receiving_side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: usize = 1_000;
    const COST_MAX: usize = 200;

    fn fill(capacity: &QueueCapacity, cost: usize) -> Vec<QueuePermit> {
        std::iter::from_fn(|| capacity.try_acquire(cost)).collect()
    }

    #[test]
    fn counts_waiting_transactions_by_cost() {
        let capacity = QueueCapacity::new(CAPACITY);
        let costly = fill(&capacity, COST_MAX);
        assert_eq!(
            (costly.len(), capacity.used_cost()),
            (4, 800),
            "the last one may exceed three quarters"
        );
        drop(costly);
        assert_eq!(capacity.used_cost(), 0);
        assert_eq!(fill(&capacity, 1).len(), 750);
    }

    #[test]
    fn empty_queue_accepts_any_cost() {
        for cost in [1, COST_MAX] {
            let capacity = QueueCapacity::new(1);
            let permit = capacity.try_acquire(cost);
            assert!(
                permit.is_some()
                    && capacity.try_acquire(1).is_none()
                    && capacity.try_acquire(COST_MAX).is_none()
            );
        }
    }

    #[test]
    fn flood_of_one_class_leaves_capacity_to_the_other() {
        for (flood, other) in [(1, COST_MAX), (COST_MAX, 1)] {
            let capacity = QueueCapacity::new(CAPACITY);
            let _flood = fill(&capacity, flood);
            assert!(
                capacity.try_acquire(other).is_some(),
                "{other} beside a flood of {flood}"
            );
        }
    }

    proptest! {
        /// The occupied capacity never exceeds the limit by more than one transaction. No
        /// transaction is rejected while less than three quarters are occupied. Dropping all
        /// permits releases everything.
        #[test]
        fn capacity_is_bounded_and_released(steps in prop::collection::vec((1..=COST_MAX, any::<bool>()), 1..300)) {
            let capacity = QueueCapacity::new(CAPACITY);
            let mut permits = std::collections::VecDeque::new();
            for (cost, releases) in steps {
                if releases {
                    permits.pop_front();
                }
                let before = capacity.used_cost();
                match capacity.try_acquire(cost) {
                    Some(permit) => permits.push_back(permit),
                    None => prop_assert!(before >= CAPACITY - CAPACITY / RESERVED_DIVISOR),
                }
                prop_assert_eq!(capacity.used_cost(), permits.iter().map(QueuePermit::cost).sum::<usize>());
                prop_assert!(capacity.used_cost() < CAPACITY + COST_MAX);
            }
            permits.clear();
            let Counts { all, plain, costly, .. } = &*capacity.0;
            for sum in [all, plain, costly] {
                prop_assert_eq!(sum.load(Relaxed), 0);
            }
        }
    }
}
