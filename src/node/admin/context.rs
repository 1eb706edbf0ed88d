//! State of the admin listener's handlers, and the bodies and errors that they share.

use super::forecast::StorageForecast;
use crate::access::{HostOriginPolicy, RequiredToken};
use actix_web::{Error, HttpResponse, http::StatusCode, web::Bytes};
use ledger_actors::NodeHandle;
use ledger_api::{ApiState, ErrorBody, ErrorCode, ErrorKind, extraction_error};
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// Maximum size of a request body of the switches and mailboxes, in bytes.
pub const BODY_BYTES_MAX: usize = 4096;

/// State of the handlers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admin {
    /// The node's actors.
    pub node: NodeHandle,
    /// The REST interface.
    pub api: ApiState,
    /// The `Host` and `Origin` headers that the listener accepts.
    pub policy: HostOriginPolicy,
    /// The token that requests must carry.
    pub token: RequiredToken,
    /// The directory of the ledger.
    pub data_dir: PathBuf,
    /// The time at which the ledger has no more space.
    pub forecast: StorageForecast,
}

/// Parses a JSON body. `form` describes the expected body, for the message of an error.
///
/// # Errors
///
/// Returns the problem of a body that is incomplete, larger than `bytes_max`, or not a `T`.
pub fn parse_body<T: DeserializeOwned>(
    body: Result<Bytes, Error>,
    bytes_max: usize,
    form: &str,
) -> Result<T, ErrorKind> {
    let body = body.map_err(|error| extraction_error(&error, bytes_max))?;
    serde_json::from_slice(&body)
        .map_err(|error| ErrorKind::Syntax(format!("the body must be {form}: {error}")))
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
