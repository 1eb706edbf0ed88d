//! What is in the pool, and why transactions left it.

use crate::LeaveReason;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Why transactions leave, in the order in which they are counted.
const REASONS: [&str; 5] = ["committed", "expired", "evicted", "replaced", "rejected"];

/// An amount of transactions.
#[derive(Debug, Default)]
struct Amount {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

impl Amount {
    fn set(&self, (count, bytes): (usize, usize)) {
        self.count.store(count, Relaxed);
        self.bytes.store(bytes, Relaxed);
    }

    fn read(&self) -> (usize, usize) {
        (self.count.load(Relaxed), self.bytes.load(Relaxed))
    }
}

/// The meter of the pool, which the mempool keeps.
#[derive(Debug, Default)]
pub(crate) struct PoolMeter {
    all: Amount,
    parked: Amount,
    left: [AtomicU64; REASONS.len()],
}

impl PoolMeter {
    /// What the pool holds now, and what of it waits for an earlier transaction of its account; each as a count
    /// and bytes.
    pub(crate) fn holds(&self, all: (usize, usize), parked: (usize, usize)) {
        self.all.set(all);
        self.parked.set(parked);
    }

    /// So many left as their block is durable.
    pub(crate) fn committed(&self, transactions: usize) {
        self.left[0].fetch_add(transactions as u64, Relaxed);
    }

    /// One left unexecuted.
    pub(crate) fn left(&self, reason: &LeaveReason) {
        let index = match reason {
            LeaveReason::Expired { .. } => 1,
            LeaveReason::Evicted(_) => 2,
            LeaveReason::Replaced(_) => 3,
            LeaveReason::Rejected(_) => 4,
        };
        self.left[index].fetch_add(1, Relaxed);
    }

    pub(super) fn status(&self) -> PoolStatus {
        let (transactions, bytes) = self.all.read();
        let (parked, parked_bytes) = self.parked.read();
        let counts = self.left.each_ref().map(|count| count.load(Relaxed));
        PoolStatus {
            transactions,
            bytes,
            parked,
            parked_bytes,
            left: REASONS.into_iter().zip(counts).collect(),
        }
    }
}

/// What is seen of the pool.
#[derive(Clone, Debug)]
pub struct PoolStatus {
    /// Transactions in it, those of blocks that are not durable included.
    pub transactions: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Transactions among them that wait for an earlier one of their account.
    pub parked: usize,
    /// Their bytes.
    pub parked_bytes: usize,
    /// How many left since the start of the node, by reason.
    pub left: Vec<(&'static str, u64)>,
}
