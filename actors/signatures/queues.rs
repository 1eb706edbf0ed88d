//! The queue of a lane, bounded by the cost of the waiting signature checks and shared fairly.
//!
//! One transaction may cost as much as two hundred others, so a limit on the number of
//! transactions would not bound the waiting time. Clients take turns by cost, and a client may hold
//! at most as much of the capacity as is free ([`FairQueue`]). So a flood of one client, whether of
//! plain or of costly transactions, delays another client by one turn and causes none of its
//! rejections.

use super::scheduler::Lane;
use crate::runtime::{
    work_meter::{WorkMeter, WorkStatus},
    work_queue::age_ms,
};
use crossbeam_channel::{Receiver, Sender};
use ledger_limits::{Cancel, ClientKey, FairQueue, Limit, Permit, QueueFull};
use ledger_metrics::{Computed, Counter, Metric, counters};
use ledger_types::{CheckedTransaction, Discard, SignedTransaction};
use serde::Serialize;
use std::{sync::Arc, time::Instant};
use tokio::sync::oneshot;

/// Name of the threads. The kernel stores 15 characters of it.
pub(super) const THREAD: &str = "signature-check";

counters! {
    /// Counters of one lane.
    pub(super) struct LaneCounters;

    /// Snapshot of one lane. Counts are since the start of the node.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct LaneStatus {
        /// Name of the lane: `trusted` or `untrusted`.
        pub lane: Computed<&'static str>,
        /// Cost of the checks that may wait, in ed25519 signatures that are checked one by one. The
        /// last accepted transaction may exceed it.
        pub capacity_signatures: Computed<usize>,
        /// Cost of the checks that wait now, in the same unit.
        pub waiting_signatures: Computed<usize>,
        /// Number of transactions that wait now.
        pub waiting: Computed<usize>,
        /// Age of the oldest transaction that waits now, in milliseconds; 0 if none waits.
        pub oldest_waiting_ms: Computed<u64>,
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

    /// Returns the current values of a lane with this queue, in which `waiting` transactions wait.
    fn status(&self, lane: Lane, queue: &FairQueue<Job>, waiting: usize) -> LaneStatus {
        let count = |cost| usize::try_from(cost).unwrap_or(usize::MAX);
        LaneStatus {
            lane: match lane {
                Lane::Trusted => "trusted",
                Lane::Untrusted => "untrusted",
            },
            capacity_signatures: count(queue.capacity()),
            waiting_signatures: count(queue.waiting_cost()),
            waiting,
            oldest_waiting_ms: age_ms(queue.min_of_waiting(|job| job.queued_at)),
            ..self.snapshot()
        }
    }
}

/// The verdict on the signatures of a transaction.
pub(super) type Verdict = Result<CheckedTransaction, Discard>;

/// Transactions of one client to verify together, and the channel for their verdicts, in order.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) queued_at: Instant,
    pub(super) transactions: Vec<SignedTransaction>,
    /// Cost of all checks, at least 1 for each transaction.
    pub(super) cost: usize,
    pub(super) verdicts: oneshot::Sender<Vec<Verdict>>,
    /// Counts the transactions while the job waits.
    pub(super) _waiting: Permit<Arc<Limit>>,
}

impl Cancel for Job {
    fn is_canceled(&self) -> bool {
        self.verdicts.is_closed()
    }
}

/// The queue of a lane, with the lane's counters. Clones share both.
///
/// The queue measures cost in ed25519 signatures that are checked one by one, not in microseconds.
#[derive(Clone, Debug)]
pub(super) struct LaneQueue {
    pub(super) jobs: FairQueue<Job>,
    pub(super) counters: Arc<LaneCounters>,
    /// Counts the transactions of the waiting jobs.
    pub(super) waiting: Arc<Limit>,
}

impl LaneQueue {
    /// Creates an empty queue for work of the cost `capacity`, at least 1.
    fn new(capacity: usize) -> Self {
        Self {
            // Each job costs at least 1, so the capacity bounds their number too.
            jobs: FairQueue::new(capacity as u64, usize::MAX),
            counters: Arc::default(),
            waiting: Arc::default(),
        }
    }

    /// Returns the metrics of the queue, which is that of `lane`.
    pub(super) fn status(&self, lane: Lane) -> LaneStatus {
        self.counters.status(lane, &self.jobs, self.waiting.held())
    }
}

/// Both lanes. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub(super) trusted: LaneQueue,
    pub(super) untrusted: LaneQueue,
    /// Wakes a thread that waits for work. The channel holds a message for each thread, and a
    /// thread that has received one takes all work that it finds, so no job waits while a thread
    /// does.
    wake: Sender<()>,
    pub(super) woken: Receiver<()>,
    /// Counts the threads that check a costly transaction. Its maximum is the number of threads.
    pub(super) costly: Arc<Limit>,
    /// Metrics of the threads. A job of it is a batch.
    pub(super) meter: Arc<WorkMeter>,
}

impl Lanes {
    /// Creates both lanes, each with the capacity `capacity`, for a number of threads.
    pub(super) fn new(capacity: usize, threads: usize) -> Self {
        let (wake, woken) = crossbeam_channel::bounded(threads);
        Self {
            trusted: LaneQueue::new(capacity),
            untrusted: LaneQueue::new(capacity),
            wake,
            woken,
            costly: Arc::new(Limit::new(threads)),
            meter: Arc::new(WorkMeter::new(THREAD, threads)),
        }
    }

    /// Returns the metrics of the threads.
    pub(super) fn work_status(&self) -> WorkStatus {
        let lanes = [&self.trusted, &self.untrusted];
        let depth = lanes.iter().map(|lane| lane.jobs.len()).sum();
        WorkStatus {
            depth,
            oldest_waiting_ms: self.meter.oldest_waiting_ms(depth),
            refused: lanes
                .iter()
                .map(|lane| lane.counters.refused.snapshot())
                .sum(),
            ..self.meter.status()
        }
    }

    pub(super) fn of(&self, lane: Lane) -> &LaneQueue {
        match lane {
            Lane::Trusted => &self.trusted,
            Lane::Untrusted => &self.untrusted,
        }
    }

    /// Returns whether each thread checks a costly transaction, which takes several milliseconds.
    pub(super) fn are_threads_delayed(&self) -> bool {
        self.costly.held() >= self.costly.max()
    }

    /// Adds transactions of `client` to a lane as one job. Returns the receiver of their verdicts.
    ///
    /// # Errors
    ///
    /// Returns the job if the lane is full, or if the client holds its part of it.
    pub(super) fn try_push(
        &self,
        lane: Lane,
        client: ClientKey,
        transactions: Vec<SignedTransaction>,
    ) -> Result<oneshot::Receiver<Vec<Verdict>>, QueueFull<Job>> {
        let queue = self.of(lane);
        let count = transactions.len();
        let costs = transactions.iter().map(check_cost);
        let (verdicts, receiver) = oneshot::channel();
        let job = Job {
            queued_at: Instant::now(),
            cost: costs.fold(0, usize::saturating_add),
            transactions,
            verdicts,
            _waiting: Permit::acquire_many(Arc::clone(&queue.waiting), count),
        };
        if let Err(full) = queue.jobs.try_push(client, job.cost as u64, job) {
            queue.counters.refused.add(count as u64);
            return Err(full);
        }
        queue.counters.accepted.add(count as u64);
        // An error means that a message is waiting for each thread.
        let _ = self.wake.try_send(());
        Ok(receiver)
    }
}

/// Returns the cost of the check of a transaction, at least 1.
pub(super) fn check_cost(transaction: &SignedTransaction) -> usize {
    transaction.authenticator.check_cost().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_limits::ClientKeys;
    use std::{iter, net::Ipv4Addr};

    /// A job that is never canceled.
    struct Waiting;

    impl Cancel for Waiting {
        fn is_canceled(&self) -> bool {
            false
        }
    }

    const COST_MAX: u64 = 200;

    #[test]
    fn flood_of_one_client_leaves_capacity_to_another() {
        let other = ClientKeys::default().key_of(Ipv4Addr::LOCALHOST.into());
        for (flood, cost) in [(1, COST_MAX), (COST_MAX, 1)] {
            let queue = FairQueue::new(1_000, 1_000);
            let push = |client, cost| queue.try_push(client, cost, Waiting).ok();
            let pushed = iter::from_fn(|| push(ClientKey::NODE, flood)).count() as u64;
            assert!(
                (400..=500 + flood).contains(&(pushed * flood)),
                "{pushed} of {flood}"
            );
            assert!(
                push(other, cost).is_some(),
                "{cost} beside a flood of {flood}"
            );
        }
    }

    #[test]
    fn empty_queue_accepts_any_cost() {
        for cost in [1, COST_MAX] {
            let queue = FairQueue::new(1, 1);
            assert!(queue.try_push(ClientKey::NODE, cost, Waiting).is_ok());
            assert!(queue.try_push(ClientKey::NODE, 1, Waiting).is_err());
        }
    }
}
