//! Threads that render large responses and compress them.
//!
//! Rendering or compressing a large response takes milliseconds, which would delay the other
//! requests of an HTTP worker. Unlike the threads of [`tokio::task::spawn_blocking`], these exist
//! before the node is ready. tokio starts its threads on demand and panics if the system cannot
//! start one, for example because of a limit on processes.

use crate::{
    NodeError,
    runtime::{fatal::FatalErrorReporter, work_meter::WorkMeter, worker::WorkerThread},
};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use std::{
    io,
    ops::ControlFlow,
    sync::{Arc, Weak},
    thread::{JoinHandle, available_parallelism},
};
use tokio::sync::oneshot;

/// Name of the threads in logs, metrics and error messages.
pub(crate) const THREAD: &str = "renderer";

/// Minimum number of threads, so that one long rendering does not delay all others.
const THREADS_MIN: usize = 2;

/// Maximum number of threads: `ledger-api` renders at most 8 large responses at a time.
const THREADS_MAX: usize = 8;

/// Maximum number of jobs that wait for a thread.
///
/// `ledger-api` leases the memory of what its jobs own, and admits at most 8 large renderings and 8
/// compressions at a time. The other jobs take at most a few milliseconds each, so the queue holds
/// about a second of work.
const QUEUE_CAPACITY: usize = 512;

/// Returns the number of threads: one per core, within the bounds.
pub(crate) fn thread_count() -> usize {
    available_parallelism().map_or(THREADS_MIN, |cores| {
        cores.get().clamp(THREADS_MIN, THREADS_MAX)
    })
}

/// A unit of work that delivers its own result.
type Job = Box<dyn FnOnce() + Send>;

/// A handle to the threads' queue. It does not keep the threads alive; see [`RenderersGuard`].
#[derive(Debug)]
pub(crate) struct Renderers {
    jobs: Weak<Sender<Job>>,
    meter: Arc<WorkMeter>,
}

/// A guard that keeps the threads alive. After it is dropped, they finish the queued jobs and end.
#[derive(Debug)]
pub(crate) struct RenderersGuard {
    _jobs: Arc<Sender<Job>>,
}

impl Renderers {
    /// Creates the queue, its guard, and its receiver, which the threads of [`spawn`] serve.
    pub(crate) fn new(meter: Arc<WorkMeter>) -> (Self, RenderersGuard, Receiver<Job>) {
        Self::with_capacity(QUEUE_CAPACITY, meter)
    }

    fn with_capacity(
        capacity: usize,
        meter: Arc<WorkMeter>,
    ) -> (Self, RenderersGuard, Receiver<Job>) {
        let (sender, receiver) = crossbeam_channel::bounded(capacity);
        let sender = Arc::new(sender);
        let renderers = Self {
            jobs: Arc::downgrade(&sender),
            meter,
        };
        (renderers, RenderersGuard { _jobs: sender }, receiver)
    }

    /// Runs `work` on one of the threads and returns its result.
    ///
    /// `work` is dropped without being run if the returned future is dropped before a thread
    /// receives it.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Overloaded`] if the queue is full, and [`NodeError::Stopping`] if the
    /// node is stopping.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NodeError> {
        let (reply, result) = oneshot::channel();
        self.submit(Box::new(move || {
            if !reply.is_closed() {
                // An error means that the future was dropped while `work` ran.
                let _ = reply.send(work());
            }
        }))?;
        result.await.map_err(|_| NodeError::Stopping)
    }

    /// Queues a job.
    ///
    /// The sender is held for this call only: a job that waits must not keep the threads alive.
    fn submit(&self, job: Job) -> Result<(), NodeError> {
        let jobs = self.jobs.upgrade().ok_or(NodeError::Stopping)?;
        match jobs.try_send(job) {
            Ok(()) => {
                self.meter.set_depth(jobs.len());
                Ok(())
            }
            Err(TrySendError::Full(_)) => {
                self.meter.count_refused();
                Err(NodeError::Overloaded { actor: THREAD })
            }
            Err(TrySendError::Disconnected(_)) => Err(NodeError::Stopping),
        }
    }
}

/// Starts the threads.
///
/// # Errors
///
/// Returns the system's error if a thread cannot be started. Threads that were started end once the
/// [`RenderersGuard`] is dropped.
pub(crate) fn spawn(
    jobs: &Receiver<Job>,
    reporter: &FatalErrorReporter,
    meter: &Arc<WorkMeter>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let run = |job: Job, _: &Receiver<Job>| {
        job();
        ControlFlow::Continue(())
    };
    (0..thread_count())
        .map(|_| WorkerThread::new(THREAD, jobs.clone(), run).spawn(reporter, meter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::thread;

    fn meter() -> Arc<WorkMeter> {
        Arc::new(WorkMeter::new(THREAD, thread_count()))
    }

    #[actix::test]
    async fn returns_the_result_of_work_on_a_named_thread() {
        let (renderers, guard, jobs) = Renderers::new(meter());
        let threads = spawn(&jobs, &FatalErrorReporter::new(), &meter()).unwrap();
        drop(jobs);
        let name = renderers
            .run(|| thread::current().name().map(str::to_owned))
            .await;
        assert_eq!(name.unwrap().as_deref(), Some(THREAD));
        drop(guard);
        let stopping = renderers.run(|| ()).now_or_never();
        assert!(
            matches!(stopping, Some(Err(NodeError::Stopping))),
            "a handle keeps no thread alive"
        );
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[actix::test]
    async fn counts_work_that_it_rejects_beyond_its_capacity() {
        let meter = meter();
        let (renderers, _guard, _jobs) = Renderers::with_capacity(1, Arc::clone(&meter));
        let mut waiting = Box::pin(renderers.run(|| ()));
        assert!(
            (&mut waiting).now_or_never().is_none(),
            "the job waits for a thread"
        );
        let rejected = renderers.run(|| ()).now_or_never();
        assert!(matches!(
            rejected,
            Some(Err(NodeError::Overloaded { actor: THREAD }))
        ));
        let status = meter.status();
        assert_eq!((status.depth, status.refused), (1, 1));
    }

    #[actix::test]
    async fn finishes_queued_work_after_its_guard_is_dropped() {
        let (renderers, guard, jobs) = Renderers::new(meter());
        let mut queued = Box::pin(renderers.run(|| 7));
        assert!((&mut queued).now_or_never().is_none());
        drop(guard);
        let threads = spawn(&jobs, &FatalErrorReporter::new(), &meter()).unwrap();
        assert_eq!(queued.await.unwrap(), 7);
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[actix::test]
    async fn skips_work_whose_caller_was_dropped() {
        let (renderers, guard, jobs) = Renderers::new(meter());
        let mut canceled = Box::pin(renderers.run(|| panic!("its caller was dropped")));
        assert!((&mut canceled).now_or_never().is_none());
        drop((canceled, guard));
        for thread in spawn(&jobs, &FatalErrorReporter::new(), &meter()).unwrap() {
            thread.join().unwrap();
        }
    }
}
