//! Data that the connections of a listener share.

use crate::{config::ConnectionConfig, head_error::HeadError, metrics::ListenerMetrics};
use actix_server::GracefulShutdownSignal;
use actix_web::HttpResponse;
use std::{cell::Cell, rc::Rc, sync::Arc};

/// The signal that ends the waits of a connection's requests, so that they are answered in time.
#[derive(Clone, Debug)]
pub struct EndOfWaits {
    stopping: GracefulShutdownSignal,
    /// Whether a request of the thread has observed the signal.
    is_reached: Rc<Cell<bool>>,
}

impl EndOfWaits {
    /// Creates the signal of the listener that `stopping` belongs to.
    pub fn new(stopping: &GracefulShutdownSignal) -> Self {
        Self {
            stopping: stopping.clone(),
            is_reached: Rc::default(),
        }
    }

    /// Waits until the listener begins to stop. Completes immediately after that.
    pub async fn reached(&self) {
        self.stopping.notified().await;
        self.is_reached.set(true);
    }

    /// Returns whether [`Self::reached`] of this signal or a clone has completed.
    pub fn is_reached(&self) -> bool {
        self.is_reached.get()
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
