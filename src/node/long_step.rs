//! Steps of a start or of a command that are reported while they take long.

use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Time after which a step is reported, and between two reports. A program without any output for
/// longer seems stuck.
const INTERVAL: Duration = Duration::from_secs(1);

/// A step that runs. It ends when this is dropped.
#[derive(Debug)]
pub struct LongStep {
    /// Taken by the end of the step.
    end: Option<Sender<()>>,
    /// `None` if the system had no thread for the reports.
    thread: Option<JoinHandle<()>>,
}

impl LongStep {
    /// Begins a step. Calls `report` with the time since then every second until the step ends.
    pub fn begin(report: impl Fn(Duration) + Send + 'static) -> Self {
        Self::begin_with(INTERVAL, report)
    }

    fn begin_with(interval: Duration, report: impl Fn(Duration) + Send + 'static) -> Self {
        let (end, ended) = mpsc::channel();
        let begun = Instant::now();
        let reports = move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                report(begun.elapsed());
            }
        };
        let thread = thread::Builder::new().name("long-step".to_owned());
        Self {
            end: Some(end),
            thread: thread.spawn(reports).ok(),
        }
    }
}

impl Drop for LongStep {
    /// Ends the step. No report follows.
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the report does not concern the step.
            let _ = thread.join();
        }
    }
}

/// Returns the bytes that the process has read from files and other sources, or `None` if the
/// system does not count them.
pub fn read_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let process = procfs::process::Process::myself().ok()?;
        Some(process.io().ok()?.rchar)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_step_until_it_ends() {
        let (reports, reported) = mpsc::channel();
        let step = LongStep::begin_with(Duration::from_millis(1), move |elapsed| {
            // Nobody receives the reports after the test.
            let _ = reports.send(elapsed);
        });
        let first = reported.recv().unwrap();
        assert!(reported.recv().unwrap() > first);
        drop(step);
        while reported.try_recv().is_ok() {}
        assert_eq!(
            reported.recv(),
            Err(mpsc::RecvError),
            "the thread has ended"
        );
    }

    #[test]
    fn short_steps_are_not_reported() {
        drop(LongStep::begin(|_| panic!("reported")));
    }
}
