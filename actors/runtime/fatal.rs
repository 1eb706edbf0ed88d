//! The end of the process by a broken invariant.

use crate::error::FatalError;
use std::{
    fmt::Display,
    io,
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
};
use tokio::sync::Notify;

/// Reports broken invariants and panics. Cheap to clone.
///
/// Whoever runs the node waits for the first report and then ends the process: recovery from the last
/// durable block is the only supervisor.
#[derive(Clone, Debug)]
pub(crate) struct FatalErrorReporter(Arc<Shared>);

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

    /// Reports a broken invariant that `thread` found. The first report stays.
    pub(crate) fn report(&self, thread: &'static str, cause: &dyn Display) {
        tracing::error!(thread, %cause, "the node can do no more work");
        let error = FatalError {
            thread,
            cause: cause.to_string().into(),
        };
        if self.0.first.set(error).is_ok() {
            self.0.reported.notify_waiters();
        }
    }

    /// Returns the first report, if there was one.
    pub(crate) fn get(&self) -> Option<&FatalError> {
        self.0.first.get()
    }

    /// Waits for the first report. Safe to drop and to call again.
    pub(crate) async fn wait(&self) -> FatalError {
        loop {
            // Created before the look, so that a report in between is not missed.
            let reported = self.0.reported.notified();
            if let Some(error) = self.get() {
                return error.clone();
            }
            reported.await;
        }
    }

    /// Starts a thread with this name, whose panic is reported.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it starts no thread.
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
    /// Only builds that unwind need it: a release build aborts at a panic.
    pub(crate) fn panic_guard(&self, reported_as: &'static str) -> PanicGuard<'_> {
        PanicGuard {
            reporter: self,
            reported_as,
        }
    }
}

/// See [`FatalErrorReporter::panic_guard`].
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
    async fn reports_a_panic_of_a_thread_and_keeps_the_first_report() {
        let reporter = FatalErrorReporter::new();
        assert!(reporter.get().is_none());
        let thread = reporter
            .spawn("doomed", || panic!("as the test wants it"))
            .unwrap();
        assert_eq!(reporter.wait().await.thread, "doomed");
        assert!(thread.join().is_err());
        reporter.report("other", &"late");
        assert_eq!(reporter.get().unwrap().thread, "doomed");
    }

    #[actix::test]
    async fn wakes_all_that_wait_for_the_first_report() {
        let reporter = FatalErrorReporter::new();
        let waiting = futures::future::join(reporter.wait(), reporter.wait());
        let reporting = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            reporter.report("test", &"as the test wants it");
        };
        let ((one, other), ()) = futures::join!(waiting, reporting);
        assert_eq!((one.thread, other.thread), ("test", "test"));
    }
}
