//! How the end of the node's work is told: a failing disk, a broken invariant, a panic.

use crate::FatalError;
use std::{sync::Arc, thread};
use tokio::sync::watch;

/// Where the first fatal error is told. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Arc<watch::Sender<Option<FatalError>>>);

impl Failure {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// Tells a fatal error; the first one stays.
    pub(crate) fn report(&self, thread: &'static str, cause: &dyn std::fmt::Display) {
        let error = FatalError {
            thread,
            cause: cause.to_string().into(),
        };
        tracing::error!(thread, %cause, "the node can do no more work");
        self.0.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(error);
            is_first
        });
    }

    /// The error, if there was one.
    pub(crate) fn get(&self) -> Option<FatalError> {
        self.0.borrow().clone()
    }

    /// Ends when there is an error.
    pub(crate) async fn wait(&self) -> FatalError {
        let mut changes = self.0.subscribe();
        loop {
            if let Some(error) = changes.borrow_and_update().clone() {
                return error;
            }
            // The sender lives as long as `self`, so this ends only by a change.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Starts a named thread. Should it panic, that is told, with the name.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<thread::JoinHandle<()>> {
        let failure = self.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _alarm = failure.alarm(name);
            body();
        })
    }

    /// Tells of a panic of this thread while the alarm lives, in the name of `who`. For builds that
    /// unwind: a release build aborts at a panic.
    pub(crate) fn alarm(&self, who: &'static str) -> Alarm<'_> {
        Alarm { failure: self, who }
    }
}

/// See [`Failure::alarm`].
pub(crate) struct Alarm<'a> {
    failure: &'a Failure,
    who: &'static str,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.failure.report(self.who, &"it panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix::test]
    async fn a_panicking_thread_is_told_and_the_first_error_stays() {
        let failure = Failure::new();
        assert!(failure.get().is_none());
        let thread = failure
            .spawn("doomed", || panic!("as the test wants it"))
            .unwrap();
        assert_eq!(failure.wait().await.thread, "doomed");
        assert!(thread.join().is_err());
        failure.report("other", &"late");
        assert_eq!(failure.get().unwrap().thread, "doomed");
    }
}
