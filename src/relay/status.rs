//! Whether the relay runs.

use std::sync::Arc;
use tokio::sync::watch;

/// Whether the relay runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayState {
    /// It accepts and dials connections.
    Running,
    /// It was stopped.
    Stopped,
    /// Its thread panicked. It does not start again.
    Panicked,
}

/// Publishes the state. The first state other than [`RelayState::Running`] is kept.
#[derive(Clone, Debug)]
pub(crate) struct Stopper(Arc<watch::Sender<RelayState>>);

impl Stopper {
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(RelayState::Running)))
    }

    pub fn subscribe(&self) -> watch::Receiver<RelayState> {
        self.0.subscribe()
    }

    pub fn stop(&self, state: RelayState) {
        self.0.send_if_modified(|current| {
            let is_first = *current == RelayState::Running;
            if is_first {
                *current = state;
            }
            is_first
        });
    }

    /// Waits until the relay has a reason to stop.
    pub async fn stopped(&self) {
        let mut state = self.subscribe();
        // The sender is part of `self`, so the channel is open.
        let _ = state.wait_for(|state| *state != RelayState::Running).await;
    }
}

/// Stops the relay if the task or thread that holds it panics. tokio catches the panic of a task.
pub(crate) struct PanicGuard(pub Stopper);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(RelayState::Panicked);
        }
    }
}
