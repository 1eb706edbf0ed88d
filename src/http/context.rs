//! Data that the connections of a listener share.

use crate::{config::ConnectionConfig, head_error::HeadError, metrics::ListenerMetrics};
use actix_server::GracefulShutdownSignal;
use actix_web::HttpResponse;
use std::sync::Arc;

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
    pub on_connect: fn() -> D,
    /// Makes the response to a request that is rejected before the app gets it.
    pub respond_to_rejected: fn(&HeadError) -> HttpResponse,
}
