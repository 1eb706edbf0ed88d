//! Worker threads behind a queue. The work is a step per job, which a thread or a test executes.

use super::{
    fatal::FatalErrorReporter,
    nice::raise_nice_value,
    progress::{Progress, Watch},
    work_meter::WorkMeter,
};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::{
    io,
    ops::ControlFlow,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Executes a job, or runs without one after a pause. It may take further jobs from the queue.
///
/// `Break` ends the worker. `Continue` with a pause requests a step without a job if none arrives
/// within the pause.
type Step<J> = Box<dyn FnMut(Option<J>, &Receiver<J>) -> ControlFlow<(), Option<Duration>> + Send>;

/// Returns the time that a job has waited in the queue, if it is known.
type Waited<J> = Box<dyn Fn(&J) -> Option<Duration> + Send>;

/// A worker that executes the jobs of a queue. Dropping it disconnects the queue.
pub(crate) struct WorkerThread<J> {
    name: &'static str,
    jobs: Receiver<J>,
    step: Step<J>,
    /// Nice value to which the thread raises its own. 0 keeps that of the process, which may be
    /// negative.
    nice: u8,
    /// Time without a job after which the worker runs a step without one.
    pause: Option<Duration>,
    /// `None` if the step itself records how long its jobs have waited.
    waited: Option<Waited<J>>,
}

impl<J: Send + 'static> WorkerThread<J> {
    /// Creates a worker with this name for a queue. `step` must report a failure before it
    /// returns `Break`.
    pub(crate) fn new(
        name: &'static str,
        jobs: Receiver<J>,
        mut step: impl FnMut(J, &Receiver<J>) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        Self::with_pause(name, jobs, move |job, waiting| {
            job.map_or(ControlFlow::Continue(()), |job| step(job, waiting))
                .map_continue(|()| None)
        })
    }

    /// Creates a worker as [`Self::new`] does. If `step` returns a pause and no job arrives
    /// within it, the worker calls `step` without a job.
    pub(crate) fn with_pause(
        name: &'static str,
        jobs: Receiver<J>,
        step: impl FnMut(Option<J>, &Receiver<J>) -> ControlFlow<(), Option<Duration>> + Send + 'static,
    ) -> Self {
        Self {
            name,
            jobs,
            step: Box::new(step),
            nice: 0,
            pause: None,
            waited: None,
        }
    }

    /// Returns the worker with a thread that raises its nice value to `nice`.
    pub(crate) fn with_nice(self, nice: u8) -> Self {
        Self { nice, ..self }
    }

    /// Returns the worker with a thread that records the time for which each received job has
    /// waited, as `waited` returns it.
    pub(crate) fn with_waited(
        self,
        waited: impl Fn(&J) -> Option<Duration> + Send + 'static,
    ) -> Self {
        Self {
            waited: Some(Box::new(waited)),
            ..self
        }
    }

    /// Waits for the next job. Returns `None` if the pause has elapsed, and an error if all
    /// senders are dropped.
    fn next(&self) -> Result<Option<J>, RecvTimeoutError> {
        match self.pause {
            None => self.jobs.recv().map(Some).map_err(RecvTimeoutError::from),
            Some(pause) => match self.jobs.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => Ok(None),
                job => job.map(Some),
            },
        }
    }

    /// Starts a thread that works until all senders are dropped or a step returns `Break`. The
    /// thread records each step in `meter`, which also receives the watch of its progress.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the thread cannot be started.
    pub(crate) fn spawn(
        mut self,
        reporter: &FatalErrorReporter,
        meter: &Arc<WorkMeter>,
    ) -> io::Result<JoinHandle<()>> {
        let meter = Arc::clone(meter);
        let progress = Arc::<Progress>::default();
        meter.watches().add(&self.watch(&progress, &meter));
        reporter.spawn(self.name, move || {
            if self.nice > 0
                && let Err(error) = raise_nice_value(self.nice)
            {
                tracing::warn!(%error, thread = self.name, "the nice value could not be raised");
            }
            while let Ok(job) = self.next() {
                meter.set_depth(self.jobs.len());
                let begun = Instant::now();
                if let (Some(waited), Some(job)) = (&self.waited, &job)
                    && let Some(waited) = waited(job)
                {
                    meter.record_waited(waited, begun);
                }
                let flow = progress.count(|| self.work(job));
                let ended = Instant::now();
                meter.record_job(ended, ended - begun);
                meter.set_depth(self.jobs.len());
                if flow.is_break() {
                    break;
                }
            }
            // The last unit of work: the writer closes the store when it is dropped.
            progress.count(|| drop(self));
        })
    }

    /// Returns a watch of the thread. Its queue is watched even after the thread has ended, because
    /// jobs wait in it then.
    fn watch(&self, progress: &Arc<Progress>, meter: &Arc<WorkMeter>) -> Watch {
        let (progress, jobs) = (Arc::clone(progress), self.jobs.clone());
        // The meter holds the watch.
        let meter = Arc::downgrade(meter);
        Watch::new(self.name, move || {
            let jobs_ended = meter.upgrade()?.jobs_ended();
            Some(progress.sample(!jobs.is_empty(), jobs_ended))
        })
    }
}

impl<J> WorkerThread<J> {
    fn work(&mut self, job: Option<J>) -> ControlFlow<()> {
        (self.step)(job, &self.jobs).map_continue(|pause| self.pause = pause)
    }
}

#[cfg(test)]
impl<J> WorkerThread<J> {
    /// Returns the name of the worker.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether a job waits or the last step has requested a pause.
    pub(crate) fn has_work(&self) -> bool {
        self.pause.is_some() || !self.jobs.is_empty()
    }

    /// Returns the pause that the last step has requested.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause
    }

    /// Executes one step: with a job if one waits, without a job otherwise.
    pub(crate) fn step(&mut self) -> ControlFlow<()> {
        let job = self.jobs.try_recv().ok();
        self.work(job)
    }
}
