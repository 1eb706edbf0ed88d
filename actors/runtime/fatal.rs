//! Reports of broken invariants and panics, after which the process ends.

use crate::error::FatalError;
use std::{
    fmt::Display,
    io,
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
};
use tokio::sync::Notify;

/// A reporter of broken invariants and panics. Clones are cheap and share the first report.
///
/// The caller that runs the node waits for the first report, and then ends the process. There is no
/// supervisor that restarts actors or threads: the next start recovers from the last durable block.
#[derive(Clone, Debug)]
pub(crate) struct FatalErrorReporter(Arc<Shared>);

/// The state that clones of a reporter share.
#[derive(Debug)]
struct Shared {
    first: OnceLock<FatalError>,
    reported: Notify,
}

impl FatalErrorReporter {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            first: OnceLock::new(),
            reported: Notify::new(),
        }))
    }

    /// Logs a broken invariant that `thread` has detected, and records the report if it is the
    /// first.
    pub(crate) fn report(&self, thread: &'static str, cause: &dyn Display) {
        tracing::error!(thread, %cause, "fatal error: the node stops");
        let error = FatalError {
            thread,
            cause: cause.to_string().into(),
        };
        if self.0.first.set(error).is_ok() {
            self.0.reported.notify_waiters();
        }
    }

    /// Returns the first report, or `None` if there was none.
    pub(crate) fn get(&self) -> Option<&FatalError> {
        self.0.first.get()
    }

    /// Waits for the first report.
    ///
    /// The future can be dropped at any time. Several tasks can wait concurrently.
    pub(crate) async fn wait(&self) -> FatalError {
        loop {
            // Created before the check, so that a report between check and await is not missed.
            let reported = self.0.reported.notified();
            if let Some(error) = self.get() {
                return error.clone();
            }
            reported.await;
        }
    }

    /// Starts a thread with this name. A panic of the thread is reported.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the thread cannot be started.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let reporter = self.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _panic_guard = reporter.panic_guard(name);
            body();
        })
    }

    /// Returns a guard that reports a panic of this thread under the name `reported_as`.
    ///
    /// Only builds that unwind need it, because release builds abort on a panic.
    pub(crate) fn panic_guard(&self, reported_as: &'static str) -> PanicGuard<'_> {
        PanicGuard {
            reporter: self,
            reported_as,
        }
    }
}

/// A guard that reports a panic when it is dropped, see [`FatalErrorReporter::panic_guard`].
pub(crate) struct PanicGuard<'a> {
    reporter: &'a FatalErrorReporter,
    reported_as: &'static str,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.reporter.report(self.reported_as, &"it panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[actix::test]
    async fn reports_a_panic_and_retains_the_first_report() {
        let reporter = FatalErrorReporter::new();
        assert!(reporter.get().is_none());
        let thread = reporter
            .spawn("panicking", || panic!("injected by the test"))
            .unwrap();
        assert_eq!(reporter.wait().await.thread, "panicking");
        assert!(thread.join().is_err());
        reporter.report("other", &"late");
        assert_eq!(reporter.get().unwrap().thread, "panicking");
    }

    #[actix::test]
    async fn first_report_wakes_all_waiting_tasks() {
        let reporter = FatalErrorReporter::new();
        let waiting = futures::future::join(reporter.wait(), reporter.wait());
        let reporting = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            reporter.report("test", &"injected by the test");
        };
        let ((first, second), ()) = futures::join!(waiting, reporting);
        assert_eq!((first.thread, second.thread), ("test", "test"));
    }
}
