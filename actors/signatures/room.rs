//! How much work may wait in a lane, counted as what its checks cost.
//!
//! One transaction may cost as much as two hundred others, so that a number of transactions would bound no
//! wait. What comes is let in while less waits than may, whatever it costs itself: a lane that is nearly full
//! would else take plain transactions only, and a costly one would never find room. Plain and costly ones
//! leave each other a part, so that a flood of either refuses none of the other for as long as those are few.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What costs more is costly: one or two signers with an ordinary key each cost less.
const PLAIN_COST_MAX: usize = 8;

/// The part of a lane that plain and costly transactions leave each other.
const LEFT_TO_OTHERS: usize = 4;

/// The room of a lane; clones are the same room. Its counts order no other memory, hence relaxed.
#[derive(Clone, Debug)]
pub(super) struct QueueCapacity(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    capacity: usize,
    /// What all cost that wait.
    all: AtomicUsize,
    plain: AtomicUsize,
    costly: AtomicUsize,
}

/// The place of a transaction that waits; given back when dropped.
#[derive(Debug)]
pub(super) struct QueuePermit {
    capacity: QueueCapacity,
    cost: usize,
}

impl QueueCapacity {
    /// An empty room for work of this cost, at least 1.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(Counts {
            capacity,
            all: AtomicUsize::new(0),
            plain: AtomicUsize::new(0),
            costly: AtomicUsize::new(0),
        }))
    }

    /// How much may wait, but for the last, which may bring it beyond.
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// How much waits.
    pub fn taken(&self) -> usize {
        self.0.all.load(Relaxed)
    }

    /// Takes a place for work of a cost, at least 1; `None` where too much waits.
    pub fn take(&self, cost: usize) -> Option<QueuePermit> {
        let capacity = self.0.capacity;
        let of_its_kind = capacity - capacity / LEFT_TO_OTHERS;
        add_below(&self.0.all, cost, capacity)?;
        if add_below(self.kind(cost), cost, of_its_kind).is_none() {
            self.0.all.fetch_sub(cost, Relaxed);
            return None;
        }
        let capacity = self.clone();
        Some(QueuePermit { capacity, cost })
    }

    fn kind(&self, cost: usize) -> &AtomicUsize {
        match cost {
            0..=PLAIN_COST_MAX => &self.0.plain,
            _ => &self.0.costly,
        }
    }
}

/// Adds where the sum is below a limit before.
fn add_below(sum: &AtomicUsize, cost: usize, limit: usize) -> Option<usize> {
    let added = |before| (before < limit).then(|| cost.saturating_add(before));
    sum.fetch_update(Relaxed, Relaxed, added).ok()
}

impl QueuePermit {
    /// What it was taken for.
    pub fn cost(&self) -> usize {
        self.cost
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        self.capacity.kind(self.cost).fetch_sub(self.cost, Relaxed);
        self.capacity.0.all.fetch_sub(self.cost, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: usize = 1_000;
    const COST_MAX: usize = 200;

    fn fill(capacity: &QueueCapacity, cost: usize) -> Vec<QueuePermit> {
        std::iter::from_fn(|| capacity.take(cost)).collect()
    }

    #[test]
    fn what_waits_is_counted_as_it_costs() {
        let capacity = QueueCapacity::new(CAPACITY);
        let costly = fill(&capacity, COST_MAX);
        assert_eq!(
            (costly.len(), capacity.taken()),
            (4, 800),
            "the last may go beyond three quarters"
        );
        drop(costly);
        assert_eq!(capacity.taken(), 0);
        assert_eq!(fill(&capacity, 1).len(), 750);
    }

    /// One of the smallest rooms has any transaction, but no other beside it.
    #[test]
    fn an_empty_room_takes_whatever_comes() {
        for cost in [1, COST_MAX] {
            let capacity = QueueCapacity::new(1);
            let permit = capacity.take(cost);
            assert!(
                permit.is_some() && capacity.take(1).is_none() && capacity.take(COST_MAX).is_none()
            );
        }
    }

    #[test]
    fn plain_and_costly_ones_leave_each_other_room() {
        for (flood, other) in [(1, COST_MAX), (COST_MAX, 1)] {
            let capacity = QueueCapacity::new(CAPACITY);
            let _flood = fill(&capacity, flood);
            assert!(
                capacity.take(other).is_some(),
                "{other} beside a flood of {flood}"
            );
        }
    }

    proptest! {
        /// Whoever comes and goes: never more than the capacity and one transaction beyond it, nobody is
        /// refused below the quarter that is left to each kind, and nothing stays taken.
        #[test]
        fn room_is_bounded_and_comes_back(steps in prop::collection::vec((1..=COST_MAX, any::<bool>()), 1..300)) {
            let capacity = QueueCapacity::new(CAPACITY);
            let mut permits = std::collections::VecDeque::new();
            for (cost, leaves) in steps {
                if leaves {
                    permits.pop_front();
                }
                let before = capacity.taken();
                match capacity.take(cost) {
                    Some(permit) => permits.push_back(permit),
                    None => prop_assert!(before >= CAPACITY - CAPACITY / LEFT_TO_OTHERS),
                }
                prop_assert_eq!(capacity.taken(), permits.iter().map(QueuePermit::cost).sum::<usize>());
                prop_assert!(capacity.taken() < CAPACITY + COST_MAX);
            }
            permits.clear();
            let Counts { all, plain, costly, .. } = &*capacity.0;
            for sum in [all, plain, costly] {
                prop_assert_eq!(sum.load(Relaxed), 0);
            }
        }
    }
}
