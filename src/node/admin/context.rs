//! State of the admin listener's handlers, and the bodies and errors that they share.

use super::{forecast::StorageForecast, phase::PhaseCell};
use crate::{access::Gate, consensus::PeerRegistry, observe::Observer, tunable::RunTimeSettings};
use actix_web::{HttpResponse, http::StatusCode};
use ledger_actors::NodeHandle;
use ledger_api::{ApiState, ErrorBody, ErrorCode, ErrorKind, UnencodedBody};
use ledger_limits::Limit;
use serde::de::DeserializeOwned;
use std::{path::PathBuf, sync::Arc};

/// Maximum size of a request body of the switches and mailboxes, in bytes.
pub const BODY_BYTES_MAX: usize = 4096;

/// Maximum number of streams of `/events`. Operators have a few pages open; each stream takes a
/// connection of the listener and one write per second.
pub const EVENT_STREAMS_MAX: usize = 16;

/// The limit on the streams of `/events`. Clones share it.
#[derive(Clone, Debug)]
pub struct EventStreams(pub Arc<Limit>);

impl Default for EventStreams {
    /// Creates the limit, without a stream.
    fn default() -> Self {
        Self(Arc::new(Limit::new(EVENT_STREAMS_MAX)))
    }
}

/// State of the handlers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admin {
    /// The node's actors.
    pub node: NodeHandle,
    /// The REST interface.
    pub api: ApiState,
    /// The run-time settings.
    pub settings: RunTimeSettings,
    /// The requests that the listener serves.
    pub gate: Gate,
    /// The directory of the ledger, or `None` if the ledger is in memory.
    pub data_dir: Option<PathBuf>,
    /// The phase of the node's life.
    pub phase: PhaseCell,
    /// The time at which the ledger has no more space.
    pub forecast: StorageForecast,
    /// The snapshots of actors, threads and queues.
    pub observer: Observer,
    /// The limit on the streams of `/events`.
    pub event_streams: EventStreams,
    /// The peers of a node of several validators. `None` on a chain of one node.
    pub peers: Option<Arc<dyn PeerRegistry>>,
}

/// Parses a JSON body. `form` describes the expected body, for the message of an error.
///
/// # Errors
///
/// Returns the problem of a body that is encoded, incomplete, larger than `BYTES_MAX`, or not a
/// `T`.
pub fn parse_body<T: DeserializeOwned, const BYTES_MAX: usize>(
    body: UnencodedBody<BYTES_MAX>,
    form: &str,
) -> Result<T, ErrorKind> {
    ledger_api::parse_body(&body.0?, &format!("the body must be {form}"))
}

/// Returns an error response in the form of the REST interface.
pub fn error_response(
    status: StatusCode,
    error_code: ErrorCode,
    message: impl Into<String>,
) -> HttpResponse {
    HttpResponse::build(status).json(ErrorBody {
        message: message.into(),
        error_code,
        vm_error_code: None,
    })
}
