//! What every handler shares: the node, the limits, and the names that follow from the vendor word.

use crate::{headers::LedgerHeaders, large::LargeAnswers};
use ledger_actors::NodeHandle;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of the interface; keys `api.*` of the configuration.
#[derive(Clone, Debug)]
pub struct ApiConfig {
    /// The largest body of a request, in bytes; above it the answer is 413.
    pub max_body_bytes: usize,
    /// How many requests may be in flight at once, over all workers; above it the answer is 503.
    /// Long polls count, and so do answers that are still being sent.
    pub max_in_flight: usize,
    /// How many requests of one connection may be in flight at once; above it the answer is 503.
    pub max_streams_per_connection: usize,
}

impl Default for ApiConfig {
    /// The limits that the node has where nothing sets them.
    fn default() -> Self {
        Self {
            max_body_bytes: 8 * 1024 * 1024,
            max_in_flight: 20_000,
            max_streams_per_connection: 128,
        }
    }
}

/// What every handler shares. Cheap to clone; clones share the places of requests in flight and of
/// large answers.
#[derive(Clone, Debug)]
pub struct ApiState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    node: NodeHandle,
    config: ApiConfig,
    headers: LedgerHeaders,
    signed_transaction_media_type: String,
    view_function_media_type: String,
    in_flight: Arc<Semaphore>,
    large_answers: LargeAnswers,
}

impl ApiState {
    /// The shared parts of an interface to `node`.
    pub fn new(node: NodeHandle, config: ApiConfig) -> Self {
        let vendor = node.chain().vendor();
        let media_type = |what: &str| format!("application/x.{}.{what}+bcs", vendor.lower());
        Self(Arc::new(Shared {
            headers: LedgerHeaders::new(vendor),
            signed_transaction_media_type: media_type("signed_transaction"),
            view_function_media_type: media_type("view_function"),
            node,
            in_flight: Arc::new(Semaphore::new(config.max_in_flight.min(Semaphore::MAX_PERMITS))),
            config,
            large_answers: LargeAnswers::default(),
        }))
    }

    pub(crate) fn node(&self) -> &NodeHandle {
        &self.0.node
    }

    pub(crate) fn config(&self) -> &ApiConfig {
        &self.0.config
    }

    pub(crate) fn headers(&self) -> &LedgerHeaders {
        &self.0.headers
    }

    /// The media type under which a signed transaction is submitted as BCS.
    pub(crate) fn signed_transaction_media_type(&self) -> &str {
        &self.0.signed_transaction_media_type
    }

    /// The media type under which a call of a view function is sent as BCS.
    pub(crate) fn view_function_media_type(&self) -> &str {
        &self.0.view_function_media_type
    }

    /// The places of answers that are large.
    pub(crate) fn large_answers(&self) -> &LargeAnswers {
        &self.0.large_answers
    }

    /// Takes a place among the requests in flight, or `None` where all are taken. It is given back
    /// when dropped, so that a request whose client went away cannot keep it.
    pub(crate) fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.in_flight).try_acquire_owned().ok()
    }
}
