//! How the end of the node's work is told: a failing disk, a broken invariant, a thread that panicked.

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
        let alarm = Alarm {
            failure: self.clone(),
            name,
        };
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _alarm = alarm;
            body();
        })
    }
}

struct Alarm {
    failure: Failure,
    name: &'static str,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            self.failure.report(self.name, &"the thread panicked");
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
