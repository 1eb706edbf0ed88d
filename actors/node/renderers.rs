//! Threads that render large responses and compress them.
//!
//! Rendering or compressing a large response takes milliseconds, which would delay the other
//! requests of an HTTP worker. Unlike the threads of [`tokio::task::spawn_blocking`], these exist
//! before the node is ready. tokio starts its threads on demand and panics if the system cannot
//! start one, for example because of a limit on processes.

use crate::{
    NodeError, WorkConfig,
    runtime::{
        fatal::FatalErrorReporter,
        work_meter::WorkMeter,
        work_queue::{JobTurn, QueueLimits, WorkQueue},
    },
};
use crossbeam_channel::{Receiver, Sender};
use ledger_limits::{CostModel, Work};
use std::{
    io,
    sync::{Arc, Weak},
    thread::{JoinHandle, available_parallelism},
};
use tokio::sync::oneshot;

/// Name of the threads in logs, metrics and error messages.
pub(crate) const THREAD: &str = "renderer";

/// Minimum number of threads, so that one long rendering does not delay all others.
const THREADS_MIN: usize = 2;

/// Maximum number of threads. `ledger-node` counts the views of as many parts of responses in the
/// sum of its limits on memory. Each may also hold the values of a parsed body, up to 64 MiB.
const THREADS_MAX: usize = 8;

/// Maximum number of jobs that wait for a thread. The shortest job takes about 100 us, so the
/// budget in time is reached first.
const QUEUE_CAPACITY: usize = 16_384;

/// Returns the number of renderer threads: one per core, within the bounds.
pub fn thread_count() -> usize {
    available_parallelism().map_or(THREADS_MIN, |cores| {
        cores.get().clamp(THREADS_MIN, THREADS_MAX)
    })
}

/// A handle to the threads' queue. It does not keep the threads alive; see [`RenderersGuard`].
#[derive(Debug)]
pub(crate) struct Renderers {
    turns: Weak<Sender<JobTurn>>,
    pub(super) queue: WorkQueue<()>,
}

/// A guard that keeps the threads alive. After it is dropped, they finish the queued jobs and end.
#[derive(Debug)]
pub(crate) struct RenderersGuard {
    _turns: Arc<Sender<JobTurn>>,
}

impl Renderers {
    /// Creates the queue with the limits of `config`, its guard, and the receiver of its turns,
    /// which the threads of [`Self::spawn`] serve.
    pub(crate) fn new(
        config: &WorkConfig,
        costs: Arc<CostModel>,
        meter: Arc<WorkMeter>,
    ) -> (Self, RenderersGuard, Receiver<JobTurn>) {
        let limits = QueueLimits {
            name: "renderings",
            budget: "work.render_budget_ms",
            budget_ms: config.render_budget_ms,
            jobs: "waiting renderings",
            jobs_max: QUEUE_CAPACITY,
        };
        let (queue, turns, receiver) = WorkQueue::new(limits, costs, meter);
        let turns = Arc::new(turns);
        let renderers = Self {
            turns: Arc::downgrade(&turns),
            queue,
        };
        (renderers, RenderersGuard { _turns: turns }, receiver)
    }

    /// Runs `run` on one of the threads and returns its result. `work` states its client and what
    /// it demands.
    ///
    /// `run` is dropped without being run if the returned future is dropped before a thread
    /// takes it.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the queue is full, and [`NodeError::Stopping`] if the
    /// node is stopping.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: Work,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NodeError> {
        let (reply, result) = oneshot::channel();
        {
            // Held for this call only: a job that waits must not keep the threads alive.
            let turns = self.turns.upgrade().ok_or(NodeError::Stopping)?;
            let estimate = self.queue.estimate(work);
            let run = move |(): &()| Ok(run());
            self.queue.push(&turns, (work, estimate), reply, run);
        }
        result.await.map_err(|_| NodeError::Stopping)?
    }

    /// Starts the threads, with the nice value of `config`.
    ///
    /// # Errors
    ///
    /// Returns the system's error if a thread cannot be started. Threads that were started end once
    /// the [`RenderersGuard`] is dropped.
    pub(crate) fn spawn(
        &self,
        config: &WorkConfig,
        turns: &Receiver<JobTurn>,
        reporter: &FatalErrorReporter,
        meter: &Arc<WorkMeter>,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let start = |_| {
            let thread = self.queue.worker(THREAD, config.nice, turns.clone(), ());
            thread.spawn(reporter, meter)
        };
        (0..thread_count()).map(start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Overload;
    use futures::FutureExt as _;
    use ledger_limits::{ClientKeys, Demand, WorkKind};
    use std::thread;

    const WORK: Work = Work::of_node(WorkKind::Render, Demand::rows(0));

    fn meter() -> Arc<WorkMeter> {
        Arc::new(WorkMeter::new(THREAD, thread_count()))
    }

    fn renderers(config: &WorkConfig) -> (Renderers, RenderersGuard, Receiver<JobTurn>) {
        Renderers::new(config, Arc::default(), meter())
    }

    /// Starts the threads and waits until they have ended.
    fn run_to_end(renderers: &Renderers, turns: &Receiver<JobTurn>) {
        let config = WorkConfig::default();
        let threads = renderers.spawn(&config, turns, &FatalErrorReporter::new(), &meter());
        for thread in threads.unwrap() {
            thread.join().unwrap();
        }
    }

    #[actix::test]
    async fn returns_the_result_of_work_on_a_named_thread() {
        let config = WorkConfig::default();
        let (renderers, guard, turns) = renderers(&config);
        let threads = renderers.spawn(&config, &turns, &FatalErrorReporter::new(), &meter());
        drop(turns);
        let name = renderers
            .run(WORK, || thread::current().name().map(str::to_owned))
            .await;
        assert_eq!(name.unwrap().as_deref(), Some(THREAD));
        drop(guard);
        let stopping = renderers.run(WORK, || ()).now_or_never();
        assert!(
            matches!(stopping, Some(Err(NodeError::Stopping))),
            "a handle keeps no thread alive"
        );
        for thread in threads.unwrap() {
            thread.join().unwrap();
        }
    }

    #[actix::test]
    async fn counts_work_that_it_rejects_beyond_its_budget() {
        let config = WorkConfig {
            render_budget_ms: 0,
            ..WorkConfig::default()
        };
        let meter = meter();
        let (renderers, _guard, _turns) =
            Renderers::new(&config, Arc::default(), Arc::clone(&meter));
        let rejected = renderers.run(WORK, || ()).now_or_never();
        let overload = Overload {
            limit: "work.render_budget_ms",
            value: 0,
            retry_after_secs: 1,
        };
        assert!(matches!(rejected, Some(Err(NodeError::Overloaded(error))) if error == overload));
        let status = meter.status();
        assert_eq!((status.depth, status.refused), (0, 1));
    }

    #[actix::test]
    async fn rejects_work_of_a_client_beyond_the_free_number_of_jobs() {
        let (renderers, _guard, _turns) = renderers(&WorkConfig::default());
        let mut queued = Vec::new();
        let rejected = loop {
            let mut rendered = Box::pin(renderers.run(WORK, || ()));
            match (&mut rendered).now_or_never() {
                None => queued.push(rendered),
                Some(rejected) => break rejected,
            }
        };
        let Err(NodeError::Overloaded(Overload { limit, value, .. })) = rejected else {
            panic!("{rejected:?}");
        };
        assert_eq!(
            (limit, value),
            ("waiting renderings", QUEUE_CAPACITY as u64)
        );
        assert_eq!(queued.len(), QUEUE_CAPACITY / 2);
    }

    #[actix::test]
    async fn finishes_queued_work_after_its_guard_is_dropped() {
        let (renderers, guard, turns) = renderers(&WorkConfig::default());
        let mut queued = Box::pin(renderers.run(WORK, || 7));
        assert!((&mut queued).now_or_never().is_none());
        drop(guard);
        run_to_end(&renderers, &turns);
        assert_eq!(queued.await.unwrap(), 7);
    }

    #[actix::test]
    async fn skips_work_whose_caller_was_dropped() {
        let (renderers, guard, turns) = renderers(&WorkConfig::default());
        let mut canceled = Box::pin(renderers.run(WORK, || panic!("its caller was dropped")));
        assert!((&mut canceled).now_or_never().is_none());
        drop((canceled, guard));
        run_to_end(&renderers, &turns);
    }

    #[actix::test]
    async fn renders_the_first_response_of_a_client_before_the_second_of_another() {
        let (renderers, guard, turns) = renderers(&WorkConfig::default());
        let keys = ClientKeys::default();
        let mut classes = (1..).map(|number| keys.key_of([127, 0, 0, number].into()));
        let one = classes.next().unwrap();
        let other = classes.find(|class| *class != one).unwrap();
        let (sent, order) = std::sync::mpsc::channel();
        let render = |client, name| {
            let sent = sent.clone();
            let mut rendered =
                Box::pin(renderers.run(Work { client, ..WORK }, move || sent.send(name)));
            assert!((&mut rendered).now_or_never().is_none());
            rendered
        };
        let _rendered = [
            render(one, "first of one"),
            render(one, "second of one"),
            render(other, "first of other"),
        ];
        drop(guard);
        let thread = renderers.queue.worker(THREAD, 0, turns, ());
        thread
            .spawn(&FatalErrorReporter::new(), &meter())
            .unwrap()
            .join()
            .unwrap();
        let order: Vec<_> = order.try_iter().collect();
        assert_eq!(order, ["first of one", "first of other", "second of one"]);
    }
}
