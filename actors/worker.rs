//! The work of a thread behind a queue, one step for each job, whoever has the steps done.

use crate::{failure::Failure, meters::WorkMeter};
use crossbeam_channel::Receiver;
use std::{io, ops::ControlFlow, sync::Arc, thread::JoinHandle, time::Instant};

/// Does a job; it may take more that wait. After a break the worker does no more.
type Step<J> = Box<dyn FnMut(J, &Receiver<J>) -> ControlFlow<()> + Send>;

/// Does the jobs of a queue. The queue is gone when the worker is.
pub(crate) struct Worker<J> {
    name: &'static str,
    jobs: Receiver<J>,
    step: Step<J>,
}

impl<J: Send + 'static> Worker<J> {
    /// A worker of this name for a queue. `step` has told of the failure where it breaks off.
    pub(crate) fn new(
        name: &'static str,
        jobs: Receiver<J>,
        step: impl FnMut(J, &Receiver<J>) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        let step = Box::new(step);
        Self { name, jobs, step }
    }

    /// Works on a thread until the other end of the queue is gone, or the work breaks off. `meter` counts.
    pub(crate) fn spawn(mut self, failure: &Failure, meter: &Arc<WorkMeter>) -> io::Result<JoinHandle<()>> {
        let meter = Arc::clone(meter);
        failure.spawn(self.name, move || {
            while let Ok(job) = self.jobs.recv() {
                meter.waiting(self.jobs.len());
                let begun = Instant::now();
                let flow = (self.step)(job, &self.jobs);
                let ended = Instant::now();
                meter.done(ended, ended - begun);
                meter.waiting(self.jobs.len());
                if flow.is_break() {
                    return;
                }
            }
        })
    }
}

#[cfg(test)]
impl<J> Worker<J> {
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a job waits.
    pub(crate) fn has_work(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Does one job, if one waits.
    pub(crate) fn step(&mut self) -> ControlFlow<()> {
        match self.jobs.try_recv() {
            Ok(job) => (self.step)(job, &self.jobs),
            Err(_) => ControlFlow::Continue(()),
        }
    }
}
