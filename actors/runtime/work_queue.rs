//! Queues of jobs for the threads of a pool, in turns by client and bounded by estimated cost.
//!
//! The jobs wait in a [`FairQueue`]. A channel carries one [`JobTurn`] for each of them, so that the
//! threads are [`WorkerThread`]s, which wait for the channel and end with it. A thread that
//! receives a turn takes the job that is next at that moment.
//!
//! Of several threads, one takes no long job. So short jobs wait for no long job of another client.

use super::{clock::thread_processor_usecs, work_meter::WorkMeter, worker::WorkerThread};
use crate::error::{NodeError, Overload};
use crossbeam_channel::{Receiver, Sender};
use ledger_limits::{
    Cancel, Charge, CostModel, Estimate, FairQueue, Limit, Permit, QueueFull, ReachedLimit, Work,
};
use serde::Serialize;
use std::{ops::ControlFlow, sync::Arc, time::Instant};
use tokio::sync::oneshot;

/// Microseconds in a millisecond.
const USECS_PER_MS: u64 = 1_000;

/// Estimated duration from which on a job is long, in microseconds. The longest part of a page
/// takes a tenth of it, JSON of 8 MB twice as long.
const LONG_JOB_USECS: u64 = 25_000;

/// Permission for a thread to take one job. A job that was canceled while it waited leaves a turn
/// without a job.
#[derive(Debug)]
pub(crate) struct JobTurn;

/// The limits of a queue, with the names that operators see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// Name of the budget in metrics and on the admin listener.
    pub(crate) name: &'static str,
    /// Name of the budget in error messages: its setting, if it has one.
    pub(crate) budget: &'static str,
    /// Maximum estimated duration of the waiting jobs, in milliseconds.
    pub(crate) budget_ms: u64,
    /// Name of `jobs_max` in error messages: its setting, if it has one.
    pub(crate) jobs: &'static str,
    /// Maximum number of waiting jobs.
    pub(crate) jobs_max: usize,
}

/// A queue of jobs that threads run with a `C`. Clones share the queue, and keep no thread alive.
#[derive(Debug)]
pub(crate) struct WorkQueue<C> {
    limits: QueueLimits,
    jobs: FairQueue<Job<C>>,
    costs: Arc<CostModel>,
    meter: Arc<WorkMeter>,
    /// Limit on the long jobs that run: all threads but one, and at least one.
    long_jobs: Arc<Limit>,
}

impl<C> Clone for WorkQueue<C> {
    fn clone(&self) -> Self {
        Self {
            limits: self.limits,
            jobs: self.jobs.clone(),
            costs: Arc::clone(&self.costs),
            meter: Arc::clone(&self.meter),
            long_jobs: Arc::clone(&self.long_jobs),
        }
    }
}

/// A job with its estimated cost.
pub(crate) struct Job<C> {
    estimate: Estimate,
    queued_at: Instant,
    task: Box<dyn Task<C>>,
    /// Held by a long job that runs.
    _permit: Option<Permit<Arc<Limit>>>,
}

impl<C> std::fmt::Debug for Job<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Job").field(&self.estimate).finish()
    }
}

impl<C> Cancel for Job<C> {
    fn is_canceled(&self) -> bool {
        self.task.is_canceled()
    }
}

/// Work that delivers its own result.
trait Task<C>: Cancel + Send {
    fn run(self: Box<Self>, context: &C);
    fn reject(self: Box<Self>, error: NodeError);
}

/// Sending side of the result of a job.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, NodeError>>;

struct ReplyingTask<T, W> {
    work: W,
    reply: Reply<T>,
}

impl<T, W> Cancel for ReplyingTask<T, W> {
    fn is_canceled(&self) -> bool {
        self.reply.is_closed()
    }
}

// An error of `send` means that the receiver was dropped: the request was canceled.
impl<C, T, W> Task<C> for ReplyingTask<T, W>
where
    T: Send,
    W: FnOnce(&C) -> Result<T, NodeError> + Send,
{
    fn run(self: Box<Self>, context: &C) {
        let _ = self.reply.send((self.work)(context));
    }

    fn reject(self: Box<Self>, error: NodeError) {
        let _ = self.reply.send(Err(error));
    }
}

impl<C: Send + 'static> WorkQueue<C> {
    /// Creates an empty queue, and the channel of its turns. The threads end when all senders of
    /// the channel are dropped and the queued jobs have run.
    pub(crate) fn new(
        limits: QueueLimits,
        costs: Arc<CostModel>,
        meter: Arc<WorkMeter>,
    ) -> (Self, Sender<JobTurn>, Receiver<JobTurn>) {
        let budget_usecs = limits.budget_ms.saturating_mul(USECS_PER_MS);
        let (turns, receiver) = crossbeam_channel::bounded(limits.jobs_max);
        let long_jobs = Arc::new(Limit::new(meter.threads().saturating_sub(1).max(1)));
        let queue = Self {
            limits,
            jobs: FairQueue::new(budget_usecs, limits.jobs_max),
            costs,
            meter,
            long_jobs,
        };
        (queue, turns, receiver)
    }

    /// Estimates the cost of work.
    pub(crate) fn estimate(&self, work: Work) -> Estimate {
        self.costs.estimate(work.kind, work.demand)
    }

    /// Adds a job of a client whose result is sent to `reply`. If the queue is full, the result is
    /// [`NodeError::Overloaded`].
    pub(crate) fn push<T: Send + 'static>(
        &self,
        turns: &Sender<JobTurn>,
        (work, estimate): (Work, Estimate),
        reply: Reply<T>,
        run: impl FnOnce(&C) -> Result<T, NodeError> + Send + 'static,
    ) {
        let task = Box::new(ReplyingTask { work: run, reply });
        let job = Job {
            estimate,
            queued_at: Instant::now(),
            task,
            _permit: None,
        };
        let pushed = if work.is_continued {
            self.jobs.push_continued(work.client, estimate.usecs, job);
            Ok(())
        } else {
            self.jobs.try_push(work.client, estimate.usecs, job)
        };
        match pushed {
            Ok(()) => {
                // If the channel is full, the thread with the last turn takes the other jobs too. If
                // the threads have ended, the jobs are dropped, which their callers take for a node
                // that is stopping.
                if let Err(crossbeam_channel::TrySendError::Disconnected(_)) =
                    turns.try_send(JobTurn)
                {
                    while self.jobs.pop().is_some() {}
                }
                self.meter.set_depth(self.jobs.len());
            }
            Err(full) => {
                self.meter.count_refused();
                let error = self.overload(&full).into();
                full.job.task.reject(error);
            }
        }
    }

    fn overload(&self, full: &QueueFull<Job<C>>) -> Overload {
        let (limit, value) = match full.reached {
            ReachedLimit::Cost(usecs) => (self.limits.budget, usecs / USECS_PER_MS),
            ReachedLimit::Jobs(max) => (self.limits.jobs, max as u64),
        };
        Overload::new(limit, value, full.retry_after_secs)
    }

    /// Creates a thread with this name that runs the jobs. Its nice value is raised to `nice`.
    pub(crate) fn worker(
        &self,
        thread: &'static str,
        nice: u8,
        turns: Receiver<JobTurn>,
        context: C,
    ) -> WorkerThread<JobTurn> {
        let queue = self.clone();
        let step = move |JobTurn, turns: &Receiver<JobTurn>| {
            while let Some((charge, job)) = queue.next_job() {
                queue.run(charge, job, &context);
                // Continued jobs may exceed the turns that the channel has capacity for, and the
                // turn of a long job may have gone to a thread that could not take it.
                if !turns.is_empty() || queue.jobs.is_empty() {
                    break;
                }
            }
            ControlFlow::Continue(())
        };
        WorkerThread::new(thread, turns, step).with_nice(nice)
    }

    /// Takes the next job, and for a long one a permit. Skips long jobs while there is no permit.
    fn next_job(&self) -> Option<(Charge, Job<C>)> {
        let mut permit = None;
        let (charge, job) = self.jobs.pop_where(|_, _, job| {
            if job.estimate.usecs < LONG_JOB_USECS {
                return true;
            }
            permit = Permit::try_acquire(Arc::clone(&self.long_jobs));
            permit.is_some()
        })?;
        let job = Job {
            _permit: permit,
            ..job
        };
        Some((charge, job))
    }

    /// Runs a job, whose permit is released when this returns.
    fn run(&self, charge: Charge, job: Job<C>, context: &C) {
        if job.is_canceled() {
            // The client gets back the turn that the job would have taken.
            self.jobs.settle(charge, 0);
            return;
        }
        let taken_at = Instant::now();
        let waited = taken_at.saturating_duration_since(job.queued_at);
        self.meter.record_waited(waited, taken_at);
        let begun_usecs = thread_processor_usecs();
        job.task.run(context);
        let usecs = thread_processor_usecs().saturating_sub(begun_usecs);
        self.costs.record(job.estimate, usecs);
        self.jobs.settle(charge, usecs);
    }
}

/// Status of the budget of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetStatus {
    /// Name of the budget.
    pub name: &'static str,
    /// Estimated duration of the jobs that may wait, in milliseconds.
    pub capacity_ms: u64,
    /// Estimated duration of the jobs that wait now, in milliseconds.
    pub waiting_ms: u64,
    /// Number of jobs that wait now.
    pub waiting: usize,
    /// Age of the oldest job that waits now, in milliseconds; 0 if none waits.
    pub oldest_waiting_ms: u64,
    /// Number of jobs that were rejected because the queue was full, since the start of the node.
    pub rejected: u64,
}

/// Returns the age of the oldest waiting job in milliseconds, or 0 if none waits.
pub(crate) fn age_ms(oldest: Option<Instant>) -> u64 {
    oldest.map_or(0, |queued_at| {
        u64::try_from(queued_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    })
}

/// The operations on a queue that do not depend on its jobs.
pub(crate) trait Budget {
    /// Returns the name of the budget.
    fn name(&self) -> &'static str;

    /// Returns the status of the budget.
    fn status(&self) -> BudgetStatus;

    /// Changes the estimated duration of the jobs that may wait, in milliseconds, and returns the
    /// status. Jobs that wait beyond it stay.
    fn set_capacity_ms(&self, capacity_ms: u64) -> BudgetStatus;
}

impl<C> Budget for WorkQueue<C> {
    fn name(&self) -> &'static str {
        self.limits.name
    }

    fn status(&self) -> BudgetStatus {
        BudgetStatus {
            name: self.limits.name,
            capacity_ms: self.jobs.capacity() / USECS_PER_MS,
            waiting_ms: self.jobs.waiting_cost().div_ceil(USECS_PER_MS),
            waiting: self.jobs.len(),
            oldest_waiting_ms: age_ms(self.jobs.min_of_waiting(|job| job.queued_at)),
            rejected: self.meter.refused(),
        }
    }

    fn set_capacity_ms(&self, capacity_ms: u64) -> BudgetStatus {
        let usecs = capacity_ms.saturating_mul(USECS_PER_MS);
        self.jobs.set_capacity(usecs);
        self.status()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::fatal::FatalErrorReporter;
    use ledger_limits::{ClientKey, ClientKeys, Demand, WorkKind};

    const THREAD: &str = "test";

    /// Limits of a queue whose channel has capacity for one turn.
    const LIMITS: QueueLimits = QueueLimits {
        name: "jobs",
        budget: "budget of jobs",
        budget_ms: 1_000,
        jobs: "number of jobs",
        jobs_max: 1,
    };

    /// Adds a job that returns `number`, and returns the receiver of its result.
    fn push(
        queue: &WorkQueue<()>,
        turns: &Sender<JobTurn>,
        is_continued: bool,
        number: u32,
    ) -> oneshot::Receiver<Result<u32, NodeError>> {
        let (reply, result) = oneshot::channel();
        let work = Work {
            is_continued,
            ..Work::of_node(WorkKind::Page, Demand::rows(1))
        };
        let estimate = queue.estimate(work);
        queue.push(turns, (work, estimate), reply, move |(): &()| Ok(number));
        result
    }

    #[test]
    fn runs_continued_jobs_for_which_the_channel_has_no_turn() {
        let meter = Arc::new(WorkMeter::new(THREAD, 1));
        let (queue, turns, receiver) =
            WorkQueue::<()>::new(LIMITS, Arc::default(), Arc::clone(&meter));
        let results = [(false, 1), (true, 2), (true, 3)]
            .map(|(is_continued, number)| push(&queue, &turns, is_continued, number));
        assert_eq!((turns.len(), queue.status().waiting), (1, 3));
        drop(turns);
        let thread = queue.worker(THREAD, 0, receiver, ());
        let thread = thread.spawn(&FatalErrorReporter::new(), &meter).unwrap();
        thread.join().unwrap();
        let numbers = results.map(|mut result| result.try_recv().unwrap().unwrap());
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(queue.status().waiting, 0);
        assert_eq!(meter.status().waited.count(), 3);
    }

    /// Returns two clients of different classes.
    fn clients() -> [ClientKey; 2] {
        let keys = ClientKeys::default();
        let mut classes = (1..).map(|number| keys.key_of([127, 0, 0, number].into()));
        let one = classes.next().unwrap();
        [one, classes.find(|class| *class != one).unwrap()]
    }

    #[test]
    fn long_jobs_leave_one_thread_to_short_jobs_of_other_clients() {
        let meter = Arc::new(WorkMeter::new(THREAD, 2));
        let limits = QueueLimits {
            budget_ms: u64::MAX,
            jobs_max: 4,
            ..LIMITS
        };
        let (queue, turns, receiver) =
            WorkQueue::<()>::new(limits, Arc::default(), Arc::clone(&meter));
        let (begun_sender, begun) = crossbeam_channel::unbounded();
        let (running, end) = crossbeam_channel::bounded::<()>(0);
        let push = |number, client, is_long| {
            let (reply, result) = oneshot::channel();
            let demand = Demand::rows(if is_long { 1_000_000 } else { 1 });
            let work = Work {
                client,
                ..Work::of_node(WorkKind::Page, demand)
            };
            let estimate = queue.estimate(work);
            assert_eq!(estimate.usecs >= LONG_JOB_USECS, is_long);
            let (begun, end) = (begun_sender.clone(), end.clone());
            queue.push(&turns, (work, estimate), reply, move |(): &()| {
                begun.send(number).unwrap();
                assert!(end.recv().is_err(), "the end is a disconnection");
                Ok(())
            });
            result
        };
        let [one, other] = clients();
        let mut results = vec![push(1, one, true), push(2, one, true)];
        let threads = [(), ()].map(|()| {
            let thread = queue.worker(THREAD, 0, receiver.clone(), ());
            thread.spawn(&FatalErrorReporter::new(), &meter).unwrap()
        });
        assert_eq!(begun.recv(), Ok(1));
        results.push(push(3, other, false));
        assert_eq!(begun.recv(), Ok(3));
        drop(running);
        assert_eq!(begun.recv(), Ok(2));
        drop(turns);
        for thread in threads {
            thread.join().unwrap();
        }
        for mut result in results {
            result.try_recv().unwrap().unwrap();
        }
    }

    #[test]
    fn drops_jobs_after_the_threads_have_ended() {
        let meter = Arc::new(WorkMeter::new(THREAD, 1));
        let (queue, turns, receiver) = WorkQueue::<()>::new(LIMITS, Arc::default(), meter);
        drop(receiver);
        let mut result = push(&queue, &turns, false, 1);
        let error = result.try_recv().unwrap_err();
        assert_eq!(error, oneshot::error::TryRecvError::Closed);
        assert_eq!(queue.status().waiting, 0);
    }
}
