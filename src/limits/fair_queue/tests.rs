//! Tests of the order, the capacity and the cancellation of jobs.

use super::*;
use proptest::prelude::*;
use std::{collections::BTreeMap, sync::Weak};

/// A job with the number of its client, which a test can cancel.
#[derive(Clone, Debug)]
struct Job {
    client: u16,
    canceled: Arc<AtomicU64>,
}

impl Cancel for Job {
    fn is_canceled(&self) -> bool {
        self.canceled.load(Relaxed) != 0
    }
}

fn key(client: u16) -> ClientKey {
    ClientKey(client)
}

fn push(queue: &FairQueue<Job>, client: u16, cost: u64) -> Option<Job> {
    let job = Job {
        client,
        canceled: Arc::default(),
    };
    let pushed = queue.try_push(key(client), cost, job.clone());
    pushed.is_ok().then_some(job)
}

fn pop(queue: &FairQueue<Job>) -> Option<u16> {
    queue.pop().map(|(_, job)| job.client)
}

#[test]
fn serves_the_first_job_of_a_client_before_the_second_of_another() {
    let queue = FairQueue::new(1_000, 1_000);
    for _ in 0..4 {
        push(&queue, 1, 10).unwrap();
    }
    assert_eq!(pop(&queue), Some(1));
    push(&queue, 2, 10).unwrap();
    assert_eq!(pop(&queue), Some(2));
    let rest: Vec<_> = std::iter::from_fn(|| pop(&queue)).collect();
    assert_eq!(rest, [1, 1, 1]);
    assert_eq!((queue.len(), queue.waiting_cost()), (0, 0));
}

#[test]
fn a_client_that_exceeds_its_estimates_has_fewer_turns() {
    let queue = FairQueue::new(1_000_000, 1_000);
    let mut measured = BTreeMap::from([(1, 0), (2, 0)]);
    for _ in 0..300 {
        push(&queue, 1, 10);
        push(&queue, 2, 10);
        let (charge, job) = queue.pop().unwrap();
        let actual_usecs = if job.client == 1 { 90 } else { 10 };
        *measured.get_mut(&job.client).unwrap() += actual_usecs;
        queue.settle(charge, actual_usecs);
    }
    let difference = measured[&1].abs_diff(measured[&2]);
    assert!(difference <= 100, "{measured:?}");
}

#[test]
fn jobs_that_are_not_allowed_keep_their_turns() {
    let queue = FairQueue::new(u64::MAX, 10_000);
    push(&queue, 1, 500).unwrap();
    for _ in 0..2 {
        push(&queue, 2, 10).unwrap();
    }
    push(&queue, 3, 10).unwrap();
    let cheap = || queue.pop_where(|_, cost, _| cost < 100);
    let of_client = || queue.pop_where(|client, _, _| client == key(3));
    let client = |taken: Option<(Charge, Job)>| taken.map(|(_, job)| job.client);
    assert_eq!(client(cheap()), Some(2));
    assert_eq!(client(of_client()), Some(3));
    assert_eq!(client(of_client()), None);
    push(&queue, 4, 10).unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| pop(&queue)).collect();
    assert_eq!(
        rest,
        [1, 4, 2],
        "a new client begins at the turn of the first"
    );
    assert_eq!((queue.len(), queue.waiting_cost()), (0, 0));
}

#[test]
fn finds_the_lowest_key_of_the_first_jobs_of_all_clients() {
    let queue = FairQueue::<Job>::new(u64::MAX, 10_000);
    let lowest = || queue.min_of_waiting(|job| job.client);
    assert_eq!(lowest(), None);
    for client in [3, 2, 4, 3] {
        push(&queue, client, 10).unwrap();
    }
    assert_eq!(lowest(), Some(2));
    queue.pop_where(|client, _, _| client == key(2)).unwrap();
    assert_eq!(lowest(), Some(3));
}

#[test]
fn a_client_with_jobs_in_two_queues_has_one_share_of_both() {
    let queues = [(); 2].map(|()| FairQueue::new(u64::MAX, 10_000));
    for _ in 0..1_000 {
        push(&queues[0], 1, 10);
        push(&queues[1], 1, 10);
        push(&queues[0], 2, 10);
    }
    let mut taken = [0u32; 2];
    // The first queue has three of four turns.
    for turn in 0..400 {
        let from = usize::from(turn % 4 == 3);
        let (charge, job) = queues[from].pop().unwrap();
        taken[usize::from(job.client) - 1] += 1;
        queues[1 - from].charge(charge, 100);
    }
    assert!(taken[0].abs_diff(taken[1]) <= 4, "{taken:?}");
}

#[test]
fn charges_of_another_queue_delay_a_client_by_at_most_the_given_lead() {
    let queue = FairQueue::new(u64::MAX, 10_000);
    let other = FairQueue::new(u64::MAX, 10_000);
    push(&other, 1, 1_000_000);
    let (charge, _) = other.pop().unwrap();
    queue.charge(charge, 100);
    push(&queue, 1, 10);
    assert_eq!(pop(&queue), Some(1), "nobody waited at the charge");
    for _ in 0..100 {
        push(&queue, 2, 10);
    }
    queue.charge(charge, 100);
    push(&queue, 1, 10);
    let before = std::iter::from_fn(|| pop(&queue)).take_while(|client| *client == 2);
    assert!((9..=12).contains(&before.count()));
}

#[test]
fn a_client_alone_holds_half_of_the_capacity_and_leaves_the_rest() {
    let queue = FairQueue::new(100, 1_000);
    let alone = std::iter::from_fn(|| push(&queue, 1, 1)).count();
    assert_eq!(alone, 50);
    let second = std::iter::from_fn(|| push(&queue, 2, 1)).count();
    assert_eq!(second, 25);
    assert!(push(&queue, 3, 1_000).is_some(), "a first job of any cost");
    assert!(push(&queue, 4, 1).is_none(), "the capacity is exceeded");
}

#[test]
fn counts_jobs_as_well_as_their_cost() {
    let queue = FairQueue::new(u64::MAX, 10);
    assert_eq!(std::iter::from_fn(|| push(&queue, 1, 0)).count(), 5);
    assert_eq!(queue.waiting_cost(), 5);
}

#[test]
fn continued_jobs_precede_the_others_of_their_client_and_are_always_admitted() {
    let queue = FairQueue::new(100, 2);
    let job = |client| Job {
        client,
        canceled: Arc::default(),
    };
    assert!(queue.try_push(key(1), 1, job(1)).is_ok());
    assert!(
        queue.try_push(key(1), 1, job(1)).is_err(),
        "half of the jobs"
    );
    assert!(queue.try_push(key(2), 50, job(2)).is_ok());
    queue.push_continued(key(1), 1_000, job(11));
    assert_eq!((queue.len(), queue.waiting_cost()), (3, 1_051));
    let order: Vec<_> = std::iter::from_fn(|| pop(&queue)).collect();
    assert_eq!(
        order,
        [11, 2, 1],
        "the turn of another client comes between"
    );
    assert_eq!((queue.len(), queue.waiting_cost()), (0, 0));
}

#[test]
fn canceled_jobs_leave_a_full_queue() {
    let queue = FairQueue::new(100, 1_000);
    let jobs: Vec<_> = std::iter::from_fn(|| push(&queue, 1, 1)).collect();
    let full = queue.try_push(key(1), 1, jobs[0].clone()).unwrap_err();
    let limit = ReachedLimit::Cost(100);
    assert_eq!((full.reached, full.retry_after_secs), (limit, 1));
    for job in &jobs {
        job.canceled.store(1, Relaxed);
    }
    let rejected = (0..=jobs.len()).take_while(|_| push(&queue, 1, 1).is_none());
    assert!(rejected.count() <= jobs.len() / SEARCH_AFTER_PART);
    assert_eq!((queue.len(), queue.waiting_cost()), (1, 1));
}

/// A canceled job that records, when it is dropped, whether the lock of its queue is held.
struct Dropped {
    queue: Weak<Shared<Self>>,
    under_lock: Arc<Mutex<Vec<bool>>>,
}

impl Cancel for Dropped {
    fn is_canceled(&self) -> bool {
        true
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.upgrade() {
            let is_locked = queue.state.try_lock().is_err();
            self.under_lock.lock().unwrap().push(is_locked);
        }
    }
}

#[test]
fn drops_canceled_jobs_after_the_lock_is_released() {
    let queue = FairQueue::new(2, 1_000);
    let under_lock = Arc::default();
    let push = || {
        let job = Dropped {
            queue: Arc::downgrade(&queue.0),
            under_lock: Arc::clone(&under_lock),
        };
        queue.try_push(key(1), 1, job).is_ok()
    };
    assert!(push());
    assert!(push(), "accepted because the canceled job leaves the queue");
    assert_eq!(*under_lock.lock().unwrap(), [false]);
}

#[test]
fn asks_for_a_retry_when_the_waiting_jobs_are_drained_at_the_measured_rate() {
    let queue = FairQueue::new(100, 1_000);
    for client in 1..=10 {
        push(&queue, client, 10).unwrap();
    }
    for client in 11..=12 {
        pop(&queue).unwrap();
        push(&queue, client, 10).unwrap();
    }
    let retry_after_secs = || {
        let job = Job {
            client: 13,
            canceled: Arc::default(),
        };
        let full = queue.try_push(key(13), 10, job).unwrap_err();
        full.retry_after_secs
    };
    // 20 of the estimated microseconds were taken, and 100 wait.
    queue.state().drain.since -= Duration::from_secs(4);
    let secs = retry_after_secs();
    assert!((21..60).contains(&secs), "{secs}");
    queue.state().drain.since -= Duration::from_secs(60);
    assert_eq!(retry_after_secs(), RETRY_AFTER_SECS_MAX);
}

#[test]
fn a_client_retains_little_memory_after_its_jobs() {
    let queue = FairQueue::new(u64::MAX, 4_000);
    let allocated = || queue.state().clients[1].jobs.capacity();
    for is_canceled in [true, false] {
        let jobs: Vec<_> = std::iter::from_fn(|| push(&queue, 1, 1)).collect();
        assert_eq!(jobs.len(), 2_000);
        if is_canceled {
            for job in &jobs {
                job.canceled.store(1, Relaxed);
            }
            let removed = queue.state().remove_canceled();
            assert_eq!(removed.len(), jobs.len());
        } else {
            while pop(&queue).is_some() {}
        }
        assert!(queue.is_empty());
        assert!(allocated() <= 2 * RETAINED_JOBS, "{}", allocated());
    }
}

#[test]
fn the_capacity_changes_while_jobs_wait() {
    let queue = FairQueue::new(2, 1_000);
    push(&queue, 1, 1).unwrap();
    assert!(push(&queue, 1, 1).is_none());
    queue.set_capacity(4);
    assert!(push(&queue, 1, 1).is_some());
    assert_eq!(queue.capacity(), 4);
}

proptest! {
    /// While several clients have waiting jobs, the costs that they were served since they all
    /// began to wait differ by at most the two largest jobs. Counts agree with the content.
    #[test]
    fn waiting_clients_are_served_equal_costs(
        costs in prop::collection::vec((1..6_u16, 1..50_u64), 20..200),
    ) {
        let queue = FairQueue::new(u64::MAX, usize::MAX);
        let mut waiting: BTreeMap<u16, usize> = BTreeMap::new();
        for &(client, cost) in &costs {
            prop_assert!(push(&queue, client, cost).is_some());
            *waiting.entry(client).or_default() += 1;
        }
        prop_assert_eq!(queue.waiting_cost(), costs.iter().map(|&(_, cost)| cost).sum::<u64>());
        let mut served: BTreeMap<u16, u64> = waiting.keys().map(|&client| (client, 0)).collect();
        while let Some((charge, job)) = queue.pop() {
            *served.get_mut(&job.client).unwrap() += charge.cost;
            let count = waiting.get_mut(&job.client).unwrap();
            *count -= 1;
            if *count == 0 {
                break;
            }
            let (least, most) = (served.values().min().unwrap(), served.values().max().unwrap());
            prop_assert!(most - least <= 100, "{:?}", served);
        }
        prop_assert_eq!(queue.len(), queue.state().clients.iter().map(|client| client.jobs.len()).sum::<usize>());
    }
}
