//! Data that the connections of a listener share.

use crate::{config::ConnectionConfig, head_error::HeadError, metrics::ListenerMetrics};
use actix_server::GracefulShutdownSignal;
use actix_web::HttpResponse;
use std::{cell::Cell, rc::Rc, sync::Arc};
use tokio::sync::Notify;

/// The signal that ends the waits of a connection's requests, so that they are answered in time.
#[derive(Clone, Debug)]
pub struct EndOfWaits {
    stopping: GracefulShutdownSignal,
    /// Whether a request of the thread has observed the stop.
    has_observed_stop: Rc<Cell<bool>>,
    /// The end of the client's side. `None` for HTTP/2, whose streams end by themselves.
    input: Option<Rc<InputEnd>>,
}

impl EndOfWaits {
    /// Creates the signal of the listener that `stopping` belongs to.
    pub fn new(stopping: &GracefulShutdownSignal) -> Self {
        Self {
            stopping: stopping.clone(),
            has_observed_stop: Rc::default(),
            input: None,
        }
    }

    /// Returns the signal of an HTTP/1.1 connection of the listener.
    pub fn with_input(&self, input: &Rc<InputEnd>) -> Self {
        Self {
            input: Some(Rc::clone(input)),
            ..self.clone()
        }
    }

    /// Waits until the listener begins to stop or the client has closed its side. Completes
    /// immediately after that.
    pub async fn reached(&self) {
        match &self.input {
            Some(input) => tokio::select! {
                () = self.stop_begun() => {}
                () = input.reached() => {}
            },
            None => self.stop_begun().await,
        }
    }

    /// Waits until the listener begins to stop. Completes immediately after that.
    pub async fn stop_begun(&self) {
        self.stopping.notified().await;
        self.has_observed_stop.set(true);
    }

    /// Returns whether a wait of this signal or a clone has ended because of the stop.
    pub fn has_observed_stop(&self) -> bool {
        self.has_observed_stop.get()
    }
}

/// The end of what the client of an HTTP/1.1 connection sends.
#[derive(Debug, Default)]
pub struct InputEnd {
    is_reached: Cell<bool>,
    /// Notifies the waits of the request in flight.
    notify: Notify,
}

impl InputEnd {
    /// Records that the client has closed its side.
    pub fn reach(&self) {
        self.is_reached.set(true);
        self.notify.notify_waiters();
    }

    /// Returns whether the client has closed its side.
    pub fn is_reached(&self) -> bool {
        self.is_reached.get()
    }

    /// Waits until the client has closed its side.
    async fn reached(&self) {
        // All parts of a connection run on one thread, so nothing comes between.
        if !self.is_reached() {
            self.notify.notified().await;
        }
    }
}

/// The configuration, metrics and signals of a listener, for its connections.
#[derive(Clone, Debug)]
pub struct ListenerContext<D> {
    /// Limits and deadlines of each connection.
    pub config: ConnectionConfig,
    /// Counters of rejected and closed connections.
    pub metrics: Arc<ListenerMetrics>,
    /// Resolves when the listener begins to stop.
    pub stopping: GracefulShutdownSignal,
    /// Makes the data of a new connection.
    pub on_connect: fn(EndOfWaits) -> D,
    /// Makes the response to a request that is rejected before the app gets it.
    pub respond_to_rejected: fn(&HeadError) -> HttpResponse,
}
