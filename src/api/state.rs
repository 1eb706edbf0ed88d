//! What every handler shares: the node, the limits, and the names that follow from the vendor word.

use crate::headers::LedgerHeaders;
use ledger_actors::NodeHandle;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// The limits of the interface; keys `api.*` of the configuration.
#[derive(Clone, Debug)]
pub struct ApiConfig {
    /// The largest body of a request, in bytes; above it the answer is 413.
    pub max_body_bytes: usize,
    /// How many requests may be in flight at once, over all workers; above it the answer is 503.
    /// Long polls count.
    pub max_in_flight: usize,
}

/// What every handler shares. Cheap to clone; clones share one count of requests in flight.
#[derive(Clone, Debug)]
pub struct ApiState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    node: NodeHandle,
    config: ApiConfig,
    headers: LedgerHeaders,
    signed_transaction_media_type: String,
    in_flight: AtomicUsize,
}

impl ApiState {
    /// The shared parts of an interface to `node`.
    pub fn new(node: NodeHandle, config: ApiConfig) -> Self {
        let vendor = node.chain().vendor();
        Self(Arc::new(Shared {
            headers: LedgerHeaders::new(vendor),
            signed_transaction_media_type: format!("application/x.{}.signed_transaction+bcs", vendor.lower()),
            node,
            config,
            in_flight: AtomicUsize::new(0),
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

    /// Takes a place among the requests in flight, or `None` where all are taken.
    pub(crate) fn admit(&self) -> Option<InFlight> {
        let guard = InFlight(self.clone());
        let before = self.0.in_flight.fetch_add(1, Ordering::Relaxed);
        (before < self.0.config.max_in_flight).then_some(guard)
    }
}

/// A place among the requests in flight; given back when dropped, so that a request whose client
/// went away cannot keep it.
#[derive(Debug)]
pub(crate) struct InFlight(ApiState);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
