//! A queue in which clients take turns, bounded by the cost of the waiting jobs.
//!
//! The owner of a queue chooses the unit of its costs: microseconds, signatures or bytes.
//!
//! The order is start-time fair queueing. Each client has a tag, which rises by the cost of each of
//! its jobs. The queue returns the first job of the client with the lowest tag. A client that has
//! not waited begins at the tag that the queue has reached, so it neither accumulates turns nor
//! waits for the older jobs of others.
//!
//! A client may hold at most as much of the capacity as is free: alone one half, and among `n`
//! clients that all want more one part of `n + 1`. The free part admits the next client at once.

use crate::ClientKey;
use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Maximum of [`QueueFull::retry_after_secs`]. A client that waits longer than a minute may miss
/// that the load has ended.
const RETRY_AFTER_SECS_MAX: u64 = 60;

/// Number of rejections, as a part of the waiting jobs, after which the queue is searched for
/// canceled jobs again. A search visits every job, so its cost is that of eight visits per
/// rejection.
const SEARCH_AFTER_PART: usize = 8;

/// Number of jobs for which a client without waiting jobs retains memory. Without a limit, a flood
/// from many addresses in turns would leave the memory of its largest backlog in every class.
const RETAINED_JOBS: usize = 4;

/// A job that can be canceled while it waits.
pub trait Cancel {
    /// Returns whether nobody waits for the result of the job.
    fn is_canceled(&self) -> bool;
}

/// A queue of jobs with turns by [`ClientKey`]. Clones share the queue.
#[derive(Debug)]
pub struct FairQueue<J>(Arc<Shared<J>>);

impl<J> Clone for FairQueue<J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Shared<J> {
    capacity: AtomicU64,
    jobs_max: usize,
    state: Mutex<State<J>>,
}

/// The client and the estimated cost of a job that was taken from a queue. [`FairQueue::settle`]
/// replaces the estimate by the measured cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    client: ClientKey,
    cost: u64,
}

/// A job that the queue rejected, with the limit that was reached.
#[derive(Debug, PartialEq, Eq)]
pub struct QueueFull<J> {
    /// The rejected job.
    pub job: J,
    /// The limit that was reached.
    pub reached: ReachedLimit,
    /// Time after which the waiting jobs are done at the measured rate, in seconds, from 1 to 60.
    pub retry_after_secs: u64,
}

/// The limit for which a queue rejected a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// The estimated cost of the waiting jobs, with the capacity.
    Cost(u64),
    /// The number of waiting jobs, with its maximum.
    Jobs(usize),
}

#[derive(Debug)]
struct State<J> {
    clients: Box<[Client<J>]>,
    /// Clients with waiting jobs, in the order of their turns: by tag, then by arrival.
    turns: BTreeSet<(u64, u64, ClientKey)>,
    next_arrival: u64,
    /// Lowest tag of the clients that waited at the last turn.
    reached_tag: u64,
    waiting_cost: u64,
    waiting_jobs: usize,
    rejections_since_search: usize,
    drain: Drain,
}

/// The waiting jobs of one client.
#[derive(Debug)]
struct Client<J> {
    jobs: VecDeque<(u64, J)>,
    tag: u64,
    /// Position among clients with equal tags, if the client has waiting jobs.
    arrival: u64,
    waiting_cost: u64,
}

/// The cost that was taken from the queue since jobs began to wait.
#[derive(Debug)]
struct Drain {
    since: Instant,
    taken_cost: u64,
}

impl<J> FairQueue<J> {
    /// Creates an empty queue for at most `jobs_max` jobs, whose costs are at most
    /// `capacity`.
    pub fn new(capacity: u64, jobs_max: usize) -> Self {
        let client = || Client {
            jobs: VecDeque::new(),
            tag: 0,
            arrival: 0,
            waiting_cost: 0,
        };
        let state = State {
            clients: (0..ClientKey::COUNT).map(|_| client()).collect(),
            turns: BTreeSet::new(),
            next_arrival: 0,
            reached_tag: 0,
            waiting_cost: 0,
            waiting_jobs: 0,
            rejections_since_search: 0,
            drain: Drain {
                since: Instant::now(),
                taken_cost: 0,
            },
        };
        Self(Arc::new(Shared {
            capacity: AtomicU64::new(capacity),
            jobs_max,
            state: Mutex::new(state),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the capacity, in the unit of the costs.
    pub fn capacity(&self) -> u64 {
        self.0.capacity.load(Relaxed)
    }

    /// Changes the capacity. Jobs that wait beyond it stay.
    pub fn set_capacity(&self, capacity: u64) {
        self.0.capacity.store(capacity, Relaxed);
    }

    /// Returns the estimated cost of all waiting jobs.
    pub fn waiting_cost(&self) -> u64 {
        self.state().waiting_cost
    }

    /// Returns the number of waiting jobs.
    pub fn len(&self) -> usize {
        self.state().waiting_jobs
    }

    /// Returns whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the lowest `key` of the first jobs of all clients that wait. With the time of the
    /// arrival as key, that is the one of the oldest job, unless a client has a continued one.
    pub fn min_of_waiting<K: Ord>(&self, key: impl Fn(&J) -> K) -> Option<K> {
        let state = self.state();
        let clients = state.turns.iter().map(|(_, _, key)| key.index());
        let first = clients.filter_map(|index| state.clients[index].jobs.front());
        first.map(|(_, job)| key(job)).min()
    }

    /// Adds a job that continues admitted work of `client`, before its other jobs and regardless of
    /// the capacity. The caller bounds the number of such jobs.
    pub fn push_continued(&self, client: ClientKey, cost: u64, job: J) {
        self.state().push_first(client, cost.max(1), job);
    }

    /// Takes the next job, or returns `None` if none waits.
    pub fn pop(&self) -> Option<(Charge, J)> {
        self.pop_where(|_, _, _| true)
    }

    /// Takes the next job that `is_allowed` accepts, or returns `None`. Its arguments are client,
    /// estimated cost and job, for the first job of each client in the order of their turns.
    pub fn pop_where(
        &self,
        is_allowed: impl FnMut(ClientKey, u64, &J) -> bool,
    ) -> Option<(Charge, J)> {
        self.state().pop_where(is_allowed)
    }

    /// Replaces the estimated cost of a job that was taken by its measured cost, so that a client
    /// whose jobs take longer than estimated has fewer turns.
    pub fn settle(&self, charge: Charge, measured_cost: u64) {
        self.state().settle(charge, measured_cost);
    }

    /// Charges the client of a job that was taken from another queue, if jobs wait in this one. A
    /// client with jobs in both queues then has the share of one client.
    ///
    /// Its tag is afterwards at most `lead_max` above the one that the queue has reached. So a
    /// client that has used only the other queue for a long time waits here for a bounded time.
    pub fn charge(&self, charge: Charge, lead_max: u64) {
        self.state().charge(charge, lead_max);
    }
}

impl<J: Cancel> FairQueue<J> {
    /// Adds a job of `client` with an estimated cost, counted as at least 1.
    ///
    /// # Errors
    ///
    /// Returns the job if the waiting jobs have reached the capacity, or if the client would hold
    /// more of it than is free. A client without waiting jobs is only rejected in the first case.
    pub fn try_push(&self, client: ClientKey, cost: u64, job: J) -> Result<(), QueueFull<J>> {
        let (capacity, jobs_max) = (self.capacity(), self.0.jobs_max);
        let cost = cost.max(1);
        // Declared before the guard, so that the jobs are dropped after the lock is released: a job
        // may own a large transaction or response.
        let mut _canceled = Vec::new();
        let mut state = self.state();
        let mut reached = state.reached_limit(client, cost, capacity, jobs_max);
        if reached.is_some() && state.is_search_due() {
            _canceled = state.remove_canceled();
            reached = state.reached_limit(client, cost, capacity, jobs_max);
        }
        let Some(reached) = reached else {
            state.push(client, cost, job);
            return Ok(());
        };
        Err(QueueFull {
            job,
            reached,
            retry_after_secs: state.retry_after_secs(),
        })
    }
}

impl<J> State<J> {
    /// Returns the limit that a further job of `client` would exceed, or `None` if it may wait.
    fn reached_limit(
        &self,
        client: ClientKey,
        cost: u64,
        capacity: u64,
        jobs_max: usize,
    ) -> Option<ReachedLimit> {
        let free_cost = capacity.saturating_sub(self.waiting_cost);
        let free_jobs = jobs_max.saturating_sub(self.waiting_jobs);
        let client = &self.clients[client.index()];
        let is_first = client.jobs.is_empty();
        let has_budget = is_first || client.waiting_cost.saturating_add(cost) <= free_cost;
        if free_cost == 0 || !has_budget {
            return Some(ReachedLimit::Cost(capacity));
        }
        let has_place = is_first || client.jobs.len() < free_jobs;
        (free_jobs == 0 || !has_place).then_some(ReachedLimit::Jobs(jobs_max))
    }

    fn push(&mut self, key: ClientKey, cost: u64, job: J) {
        self.count(key, cost);
        self.clients[key.index()].jobs.push_back((cost, job));
        self.begin_if_first(key);
    }

    fn push_first(&mut self, key: ClientKey, cost: u64, job: J) {
        self.count(key, cost);
        self.clients[key.index()].jobs.push_front((cost, job));
        self.begin_if_first(key);
    }

    /// Counts a job that is about to wait.
    fn count(&mut self, key: ClientKey, cost: u64) {
        if self.waiting_jobs == 0 {
            self.drain = Drain {
                since: Instant::now(),
                taken_cost: 0,
            };
        }
        self.waiting_jobs += 1;
        self.waiting_cost = self.waiting_cost.saturating_add(cost);
        let client = &mut self.clients[key.index()];
        client.waiting_cost = client.waiting_cost.saturating_add(cost);
    }

    /// Adds a client to the turns if its first job has just been added.
    fn begin_if_first(&mut self, key: ClientKey) {
        let client = &mut self.clients[key.index()];
        if client.jobs.len() == 1 {
            client.tag = client.tag.max(self.reached_tag);
            self.begin_waiting(key);
        }
    }

    /// Adds a client with waiting jobs to the turns, behind the others with its tag.
    fn begin_waiting(&mut self, key: ClientKey) {
        let client = &mut self.clients[key.index()];
        client.arrival = self.next_arrival;
        self.next_arrival += 1;
        self.turns.insert((client.tag, client.arrival, key));
    }

    fn pop_where(
        &mut self,
        mut is_allowed: impl FnMut(ClientKey, u64, &J) -> bool,
    ) -> Option<(Charge, J)> {
        let &(reached_tag, _, _) = self.turns.first()?;
        let turn = *self.turns.iter().find(|(_, _, key)| {
            let first = self.clients[key.index()].jobs.front();
            first.is_some_and(|(cost, job)| is_allowed(*key, *cost, job))
        })?;
        self.turns.remove(&turn);
        let (tag, _, key) = turn;
        let client = &mut self.clients[key.index()];
        let (cost, job) = client.jobs.pop_front()?;
        // Not the tag of this turn: the clients before it have not had theirs.
        self.reached_tag = reached_tag;
        client.tag = tag.saturating_add(cost);
        self.drain.taken_cost = self.drain.taken_cost.saturating_add(cost);
        self.release(key, cost);
        if !self.clients[key.index()].jobs.is_empty() {
            self.begin_waiting(key);
        }
        let charge = Charge { client: key, cost };
        Some((charge, job))
    }

    /// Stops counting a job that was removed.
    fn release(&mut self, key: ClientKey, cost: u64) {
        let client = &mut self.clients[key.index()];
        client.waiting_cost = client.waiting_cost.saturating_sub(cost);
        if client.jobs.is_empty() {
            client.jobs.shrink_to(RETAINED_JOBS);
        }
        self.waiting_cost = self.waiting_cost.saturating_sub(cost);
        self.waiting_jobs -= 1;
    }

    fn settle(&mut self, charge: Charge, measured_cost: u64) {
        let tag = self.clients[charge.client.index()].tag;
        let corrected = tag
            .saturating_add(measured_cost)
            .saturating_sub(charge.cost);
        self.move_to(charge.client, corrected.max(self.reached_tag));
    }

    fn charge(&mut self, charge: Charge, lead_max: u64) {
        if self.waiting_jobs == 0 {
            return;
        }
        let tag = self.clients[charge.client.index()].tag;
        let charged = tag.max(self.reached_tag).saturating_add(charge.cost);
        let highest = self.reached_tag.saturating_add(lead_max);
        self.move_to(charge.client, charged.min(highest).max(tag));
    }

    /// Changes the tag of a client, and its turn if jobs of it wait.
    fn move_to(&mut self, key: ClientKey, tag: u64) {
        let client = &mut self.clients[key.index()];
        let was_waiting = self.turns.remove(&(client.tag, client.arrival, key));
        client.tag = tag;
        if was_waiting {
            self.turns.insert((tag, client.arrival, key));
        }
    }

    fn is_search_due(&mut self) -> bool {
        self.rejections_since_search += 1;
        self.rejections_since_search > self.waiting_jobs / SEARCH_AFTER_PART
    }

    /// Returns the estimated time until all waiting jobs are taken, in seconds.
    ///
    /// The rate is that of the jobs that were taken since the queue was last empty. If none was
    /// taken, the estimate is the time since then.
    fn retry_after_secs(&self) -> u64 {
        let elapsed = self.drain.since.elapsed();
        let rest = match self.drain.taken_cost {
            0 => elapsed,
            taken => {
                let factor = self.waiting_cost as f64 / taken as f64;
                Duration::try_from_secs_f64(elapsed.as_secs_f64() * factor).unwrap_or(elapsed)
            }
        };
        (rest.as_secs() + 1).min(RETRY_AFTER_SECS_MAX)
    }
}

impl<J: Cancel> State<J> {
    /// Removes the canceled jobs and returns them, so that the caller drops them without the lock.
    fn remove_canceled(&mut self) -> Vec<J> {
        self.rejections_since_search = 0;
        let mut removed = Vec::new();
        let waiting: Vec<_> = self.turns.iter().map(|&(_, _, key)| key).collect();
        for key in waiting {
            let client = &mut self.clients[key.index()];
            let mut costs = Vec::new();
            // Each job is taken and returned once, so the others keep their order.
            for _ in 0..client.jobs.len() {
                let Some((cost, job)) = client.jobs.pop_front() else {
                    break;
                };
                if job.is_canceled() {
                    costs.push(cost);
                    removed.push(job);
                } else {
                    client.jobs.push_back((cost, job));
                }
            }
            if client.jobs.is_empty() {
                self.turns.remove(&(client.tag, client.arrival, key));
            }
            for cost in costs {
                self.release(key, cost);
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests;
