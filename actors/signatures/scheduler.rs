//! Selection of the next lane and of the size of a batch, independent of threads.
//!
//! A bad signature costs more than a valid one, because it breaks the batch that contains it, and
//! a search must then find it. So transactions of untrusted clients have a lane of their own. The
//! untrusted lane always has a share of the work, so a well-behaved client in it is served late
//! but is served.
//!
//! Shares and batches are measured by the cost of the checks and not by the number of
//! transactions: a transaction with 32 passkeys costs as much as two hundred plain ones.

use ledger_limits::FairQueue;

/// Cost at which a batch of the trusted lane ends, in ed25519 signatures that are verified alone.
///
/// A larger batch would save little more per signature, and later transactions wait for the whole
/// batch: about 2 ms. A transaction of a higher cost is a batch of its own.
pub(crate) const TRUSTED_BATCH_MAX: usize = 64;

/// Cost at which a batch of the untrusted lane ends, in the same unit.
///
/// The value is small, because a batch with bad signatures gains nothing from its size, and
/// trusted transactions wait for it.
pub(crate) const UNTRUSTED_BATCH_MAX: usize = 8;

/// Cost of trusted transactions per cost of untrusted transactions while both lanes wait.
///
/// A flood of bad signatures takes at most a quarter of the work from the trusted lane.
pub(crate) const TRUSTED_PER_UNTRUSTED: usize = 3;

/// Cost by which a client may be behind the others in one lane because of its work in the other
/// lane: some 30 ms of a thread. A new connection of a busy client waits that much longer.
const LEAD_MAX: u64 = 1_000;

/// A queue of transactions that wait for signature verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Lane of clients whose last transactions were accepted.
    Trusted,
    /// Lane of clients that are new or have recently sent a bad signature, and of simulations,
    /// whose signatures need not be valid. It is served after the trusted lane, with a guaranteed
    /// share of the work.
    Untrusted,
}

/// Transactions of one lane that are verified as one batch, in the order of their clients' turns.
#[derive(Debug)]
pub(crate) struct Batch<J> {
    pub(crate) lane: Lane,
    /// Cost of all checks, in ed25519 signatures that are verified alone.
    pub(crate) cost: usize,
    pub(crate) jobs: Vec<J>,
}

/// State of the fair share between the two lanes.
#[derive(Debug, Default)]
pub(crate) struct LaneScheduler {
    /// Cost of trusted transactions verified while both lanes waited, minus
    /// [`TRUSTED_PER_UNTRUSTED`] times the cost of the untrusted ones. Negative after a costly
    /// untrusted transaction has exceeded its lane's share; later turns compensate for it.
    trusted_surplus: i64,
}

impl LaneScheduler {
    /// Takes the next batch from the lane whose turn it is. Returns `None` if both lanes are
    /// empty. `cost_of` returns the cost of a job's check, at least 1.
    pub(crate) fn next_batch<J>(
        &mut self,
        trusted: &FairQueue<J>,
        untrusted: &FairQueue<J>,
        cost_of: impl Fn(&J) -> usize,
    ) -> Option<Batch<J>> {
        let (lane, cost_max) = self.next_lane(trusted.len(), untrusted.len())?;
        let (queue, other) = match lane {
            Lane::Trusted => (trusted, untrusted),
            Lane::Untrusted => (untrusted, trusted),
        };
        let (mut jobs, mut cost) = (Vec::new(), 0usize);
        // A batch ends together for all its clients, so a costly transaction joins no others.
        while cost < cost_max
            && let Some((charge, job)) = queue
                .pop_where(|_, next, _| jobs.is_empty() || cost as u64 + next <= cost_max as u64)
        {
            // A client whose connections are in both lanes has the share of one client.
            other.charge(charge, LEAD_MAX);
            cost = cost.saturating_add(cost_of(&job).max(1));
            jobs.push(job);
        }
        self.record_served(lane, cost);
        Some(Batch { lane, cost, jobs })
    }

    /// Returns the next lane and the cost at which its batch ends. `trusted` and `untrusted` are
    /// the numbers of waiting jobs.
    fn next_lane(&mut self, trusted: usize, untrusted: usize) -> Option<(Lane, usize)> {
        if trusted == 0 || untrusted == 0 {
            // One lane is empty, so neither lane is owed a share.
            self.trusted_surplus = 0;
        }
        match (trusted, untrusted) {
            (0, 0) => None,
            (0, _) => Some((Lane::Untrusted, UNTRUSTED_BATCH_MAX)),
            (_, 0) => Some((Lane::Trusted, TRUSTED_BATCH_MAX)),
            _ => match usize::try_from(self.trusted_surplus).unwrap_or(0) / TRUSTED_PER_UNTRUSTED {
                0 => Some((Lane::Trusted, TRUSTED_BATCH_MAX)),
                due => Some((Lane::Untrusted, due.min(UNTRUSTED_BATCH_MAX))),
            },
        }
    }

    fn record_served(&mut self, lane: Lane, cost: usize) {
        let weighted_cost = match lane {
            Lane::Trusted => cost,
            Lane::Untrusted => cost.saturating_mul(TRUSTED_PER_UNTRUSTED),
        };
        let weighted_cost = i64::try_from(weighted_cost).unwrap_or(i64::MAX);
        self.trusted_surplus = match lane {
            Lane::Trusted => self.trusted_surplus.saturating_add(weighted_cost),
            Lane::Untrusted => self.trusted_surplus.saturating_sub(weighted_cost),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_limits::{Cancel, ClientKey, ClientKeys};
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// A job, with its index in its lane or its cost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Numbered(usize);

    impl Cancel for Numbered {
        fn is_canceled(&self) -> bool {
            false
        }
    }

    /// Returns a queue that accepts every job of a test.
    fn queue() -> FairQueue<Numbered> {
        FairQueue::new(u64::MAX, usize::MAX)
    }

    fn push(queue: &FairQueue<Numbered>, number: usize) {
        let pushed = queue.try_push(ClientKey::NODE, 1, Numbered(number));
        pushed.expect("the queue has capacity");
    }

    /// Both lanes, with jobs of one client. A job is its index in its lane.
    struct Lanes {
        trusted: FairQueue<Numbered>,
        untrusted: FairQueue<Numbered>,
        sent: [usize; 2],
    }

    impl Lanes {
        fn new() -> Self {
            Self {
                trusted: queue(),
                untrusted: queue(),
                sent: [0; 2],
            }
        }

        fn add_jobs(&mut self, trusted: usize, untrusted: usize) {
            let arrivals = [(&self.trusted, trusted), (&self.untrusted, untrusted)];
            for ((queue, count), sent) in arrivals.into_iter().zip(&mut self.sent) {
                for _ in 0..count {
                    push(queue, *sent);
                    *sent += 1;
                }
            }
        }

        fn next_batch(&self, scheduler: &mut LaneScheduler) -> Option<Batch<Numbered>> {
            scheduler.next_batch(&self.trusted, &self.untrusted, |_| 1)
        }
    }

    proptest! {
        #[test]
        fn serves_each_job_once_in_lane_order_in_bounded_batches(
            arrivals in prop::collection::vec((0usize..200, 0usize..200), 1..20),
        ) {
            let (mut lanes, mut scheduler) = (Lanes::new(), LaneScheduler::default());
            let mut served = [Vec::new(), Vec::new()];
            let mut record = |batch: Batch<Numbered>| {
                let (lane_index, max) = match batch.lane {
                    Lane::Trusted => (0, TRUSTED_BATCH_MAX),
                    Lane::Untrusted => (1, UNTRUSTED_BATCH_MAX),
                };
                let bounded = (1..=max).contains(&batch.jobs.len());
                served[lane_index].extend(batch.jobs);
                bounded
            };
            for (trusted, untrusted) in arrivals {
                lanes.add_jobs(trusted, untrusted);
                if let Some(batch) = lanes.next_batch(&mut scheduler) {
                    prop_assert!(record(batch));
                }
            }
            while let Some(batch) = lanes.next_batch(&mut scheduler) {
                prop_assert!(record(batch));
            }
            for (served, sent) in served.into_iter().zip(lanes.sent) {
                prop_assert_eq!(served, (0..sent).map(Numbered).collect::<Vec<_>>());
            }
        }

        /// While both lanes wait, the untrusted lane gets no more than its share, and no sequence
        /// of trusted batches is long enough to starve it.
        #[test]
        fn each_lane_gets_its_share_while_both_wait(
            arrivals in prop::collection::vec((1usize..100, 1usize..100), 20..200),
        ) {
            let (mut lanes, mut scheduler) = (Lanes::new(), LaneScheduler::default());
            let (mut trusted, mut untrusted, mut trusted_batches) = (0, 0, 0);
            for (more_trusted, more_untrusted) in arrivals {
                // The last batch may have emptied a lane. Both lanes wait before each turn.
                lanes.add_jobs(more_trusted, more_untrusted);
                let batch = lanes.next_batch(&mut scheduler).unwrap();
                match batch.lane {
                    Lane::Trusted => {
                        trusted += batch.jobs.len();
                        trusted_batches += 1;
                    }
                    Lane::Untrusted => {
                        untrusted += batch.jobs.len();
                        trusted_batches = 0;
                    }
                }
                prop_assert!(untrusted * TRUSTED_PER_UNTRUSTED <= trusted, "{untrusted} of {trusted}");
                prop_assert!(trusted_batches <= TRUSTED_PER_UNTRUSTED, "{trusted_batches} in a row");
            }
        }

        /// The same property with jobs of different costs. After a costly job has exceeded the
        /// share of the untrusted lane, later turns compensate for it.
        #[test]
        fn measures_shares_by_cost(
            arrivals in prop::collection::vec((1usize..200, 1usize..200), 20..200),
        ) {
            const COST_MAX: usize = 200;
            let (trusted, untrusted) = (queue(), queue());
            let mut scheduler = LaneScheduler::default();
            let mut served = [0, 0];
            for (trusted_cost, untrusted_cost) in arrivals {
                for _ in 0..TRUSTED_BATCH_MAX {
                    for (queue, cost) in [(&trusted, trusted_cost), (&untrusted, untrusted_cost)] {
                        let pushed = queue.try_push(ClientKey::NODE, cost as u64, Numbered(cost));
                        pushed.expect("the queue has capacity");
                    }
                }
                let batch = scheduler.next_batch(&trusted, &untrusted, |job| job.0).unwrap();
                let (lane_index, max) = match batch.lane {
                    Lane::Trusted => (0, TRUSTED_BATCH_MAX),
                    Lane::Untrusted => (1, UNTRUSTED_BATCH_MAX),
                };
                let cost: usize = batch.jobs.iter().map(|job| job.0).sum();
                served[lane_index] += cost;
                prop_assert!(cost <= max || batch.jobs.len() == 1, "{cost} in a batch");
                let [trusted, untrusted] = served;
                prop_assert!(untrusted * TRUSTED_PER_UNTRUSTED <= trusted + COST_MAX * TRUSTED_PER_UNTRUSTED);
            }
            prop_assert!(served[1] > 0, "the untrusted lane got no share");
        }

        /// While one lane is empty, the other lane neither saves nor owes any share.
        #[test]
        fn lane_gains_no_share_while_the_other_is_empty(count in 1usize..1_000, is_trusted: bool) {
            let (mut lanes, mut scheduler) = (Lanes::new(), LaneScheduler::default());
            lanes.add_jobs(if is_trusted { count } else { 0 }, if is_trusted { 0 } else { count });
            while lanes.next_batch(&mut scheduler).is_some() {}
            lanes.add_jobs(1, 1);
            prop_assert_eq!(lanes.next_batch(&mut scheduler).unwrap().lane, Lane::Trusted);
        }
    }

    #[test]
    fn batch_ends_at_the_cost_of_its_lane() {
        for (trusted, untrusted, lane, served) in [
            (5, 3, Lane::Trusted, 5),
            (200, 0, Lane::Trusted, TRUSTED_BATCH_MAX),
            (0, 3, Lane::Untrusted, 3),
            (0, 200, Lane::Untrusted, UNTRUSTED_BATCH_MAX),
        ] {
            let (mut lanes, mut scheduler) = (Lanes::new(), LaneScheduler::default());
            lanes.add_jobs(trusted, untrusted);
            let batch = lanes.next_batch(&mut scheduler).unwrap();
            assert_eq!((batch.lane, batch.jobs.len()), (lane, served));
        }
    }

    #[test]
    fn costly_transaction_is_a_batch_of_its_own() {
        let keys = ClientKeys::default();
        let other = keys.key_of(Ipv4Addr::LOCALHOST.into());
        let (trusted, untrusted) = (queue(), queue());
        let costly = TRUSTED_BATCH_MAX + 1;
        // In turns: the costly ones of one client, and the plain ones of another.
        for _ in 0..3 {
            trusted.try_push(other, 1, Numbered(1)).unwrap();
            let pushed = trusted.try_push(ClientKey::NODE, costly as u64, Numbered(costly));
            pushed.unwrap();
        }
        let mut scheduler = LaneScheduler::default();
        let mut next_batch = || {
            let batch = scheduler.next_batch(&trusted, &untrusted, |job| job.0)?;
            Some((batch.cost, batch.jobs.len()))
        };
        let batches: Vec<_> = std::iter::from_fn(&mut next_batch).collect();
        assert_eq!(batches, [(3, 3), (costly, 1), (costly, 1), (costly, 1)]);
    }

    #[test]
    fn batch_begins_with_the_client_that_has_the_next_turn() {
        let keys = ClientKeys::default();
        let (trusted, untrusted) = (queue(), queue());
        (0..200).for_each(|number| push(&trusted, number));
        let other = keys.key_of(Ipv4Addr::LOCALHOST.into());
        trusted.try_push(other, 1, Numbered(1_000)).unwrap();
        let batch = LaneScheduler::default().next_batch(&trusted, &untrusted, |_| 1);
        let position = batch.unwrap().jobs.iter().position(|job| job.0 == 1_000);
        assert!(
            position.is_some_and(|position| position <= 1),
            "{position:?}"
        );
    }

    #[test]
    fn client_in_both_lanes_gets_no_more_than_a_client_in_one() {
        let keys = ClientKeys::default();
        let (both, one) = (ClientKey::NODE, keys.key_of(Ipv4Addr::LOCALHOST.into()));
        for cost in [1, 30, 200] {
            let (trusted, untrusted) = (queue(), queue());
            for _ in 0..10_000 {
                // The number of a job is the number of its client.
                trusted.try_push(both, cost, Numbered(0)).unwrap();
                untrusted.try_push(both, cost, Numbered(0)).unwrap();
                trusted.try_push(one, cost, Numbered(1)).unwrap();
            }
            let mut scheduler = LaneScheduler::default();
            let mut served = [0u32; 2];
            for _ in 0..400 {
                let cost_of = |_: &Numbered| usize::try_from(cost).unwrap();
                let batch = scheduler.next_batch(&trusted, &untrusted, cost_of);
                for job in batch.unwrap().jobs {
                    served[job.0] += 1;
                }
            }
            let [both, one] = served;
            assert!(both.abs_diff(one) * 10 <= one, "{served:?} of cost {cost}");
        }
    }

    #[test]
    fn serves_one_untrusted_job_after_three_trusted_ones() {
        let (mut lanes, mut scheduler) = (Lanes::new(), LaneScheduler::default());
        lanes.add_jobs(0, 10);
        let order: Vec<_> = (0..8)
            .map(|_| {
                lanes.add_jobs(1, 0);
                lanes.next_batch(&mut scheduler).unwrap().lane
            })
            .collect();
        use Lane::{Trusted as T, Untrusted as U};
        // The fourth trusted job waits while the first untrusted job is served.
        assert_eq!(order[..5], [T, T, T, U, T]);
        assert_eq!(
            order.iter().filter(|lane| **lane == U).count(),
            2,
            "{order:?}"
        );
    }
}
