//! The work of a thread behind a queue, one step for each job, whoever has the steps done.

use super::{fatal::FatalErrorReporter, work_meter::WorkMeter};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::{
    io,
    ops::ControlFlow,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Does a job; it may take more that wait. After a break the worker does no more. Where it says after which time
/// without a job it has something to do, it is called without one then.
type Step<J> = Box<dyn FnMut(Option<J>, &Receiver<J>) -> ControlFlow<(), Option<Duration>> + Send>;

/// Does the jobs of a queue. The queue is gone when the worker is.
pub(crate) struct WorkerThread<J> {
    name: &'static str,
    jobs: Receiver<J>,
    step: Step<J>,
    /// When it has something to do without a job, if it has.
    pause: Option<Duration>,
}

impl<J: Send + 'static> WorkerThread<J> {
    /// A worker of this name for a queue. `step` has told of the failure where it breaks off.
    pub(crate) fn new(
        name: &'static str,
        jobs: Receiver<J>,
        mut step: impl FnMut(J, &Receiver<J>) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        Self::pausing(name, jobs, move |job, waiting| {
            job.map_or(ControlFlow::Continue(()), |job| step(job, waiting))
                .map_continue(|()| None)
        })
    }

    /// As [`Self::new`]; where a step gives a time, and no job comes within it, there is a step without one.
    pub(crate) fn pausing(
        name: &'static str,
        jobs: Receiver<J>,
        step: impl FnMut(Option<J>, &Receiver<J>) -> ControlFlow<(), Option<Duration>> + Send + 'static,
    ) -> Self {
        Self {
            name,
            jobs,
            step: Box::new(step),
            pause: None,
        }
    }

    /// The next job, or `None` where there is something to do without one.
    fn next(&self) -> Result<Option<J>, RecvTimeoutError> {
        match self.pause {
            None => self.jobs.recv().map(Some).map_err(RecvTimeoutError::from),
            Some(pause) => match self.jobs.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => Ok(None),
                job => job.map(Some),
            },
        }
    }

    /// Works on a thread until the other end of the queue is gone, or the work breaks off. `meter` counts.
    pub(crate) fn spawn(
        mut self,
        failure: &FatalErrorReporter,
        meter: &Arc<WorkMeter>,
    ) -> io::Result<JoinHandle<()>> {
        let meter = Arc::clone(meter);
        failure.spawn(self.name, move || {
            while let Ok(job) = self.next() {
                meter.set_depth(self.jobs.len());
                let begun = Instant::now();
                let flow = self.work(job);
                let ended = Instant::now();
                meter.record_job(ended, ended - begun);
                meter.set_depth(self.jobs.len());
                if flow.is_break() {
                    return;
                }
            }
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
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a job waits, or there is something to do without one.
    pub(crate) fn has_work(&self) -> bool {
        self.pause.is_some() || !self.jobs.is_empty()
    }

    /// How long it waits for a job before it does what is to do without one.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause
    }

    /// Does one job, if one waits, or what is to do without one.
    pub(crate) fn step(&mut self) -> ControlFlow<()> {
        let job = self.jobs.try_recv().ok();
        self.work(job)
    }
}
