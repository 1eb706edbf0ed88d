//! `/actors`: counters and capacities of the mailboxes; `/signatures`: the queues of the signature
//! check.

use super::{
    change::{change_error, change_one},
    context::{Admin, BODY_BYTES_MAX, error_response, parse_body},
};
use crate::config::{Kind, MAILBOX_CAPACITY, Value};
use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use ledger_actors::TuneError;
use ledger_api::{ErrorCode, ErrorKind, UnencodedBody};
use serde::Deserialize;

/// Body of `PATCH /actors/{name}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Maximum number of requests that wait for the actor.
    mailbox_capacity: u64,
}

/// `GET /actors`: responds with the status of all mailboxes.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.node.mailboxes())
}

/// `GET /actors/{name}`: responds with the status of one mailbox, or with 404.
pub async fn show(admin: Data<Admin>, name: Path<String>) -> HttpResponse {
    match admin.node.mailbox(&name) {
        Ok(status) => HttpResponse::Ok().json(status),
        Err(error) => tune_error(&error),
    }
}

/// `GET /signatures`: responds with the status of both queues of the signature check.
pub async fn signatures(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.node.signature_lanes())
}

/// `PATCH /actors/{name}` with `{"mailbox_capacity": N}`: responds with the new status.
///
/// Responds with 400 if the capacity is out of range, with 404 if there is no such actor, and with
/// 409 if another change of it waits for its confirmation.
pub async fn change(
    request: HttpRequest,
    admin: Data<Admin>,
    name: Path<String>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let change: Change = match parse_body(body, "{\"mailbox_capacity\": N}") {
        Ok(change) => change,
        Err(problem) => return problem.response(),
    };
    let capacity = change.mailbox_capacity;
    if !MAILBOX_CAPACITY.contains(&capacity) {
        let allowed = Kind::Integer(MAILBOX_CAPACITY);
        return ErrorKind::InvalidInput(format!(
            "mailbox_capacity = {capacity} is not allowed: expected {allowed}"
        ))
        .response();
    }
    let key = match admin.node.mailbox(&name) {
        Ok(status) => format!("actors.{}.mailbox_capacity", status.actor),
        Err(error) => return tune_error(&error),
    };
    match change_one(&request, &admin, &key, Value::Integer(capacity)) {
        Ok(()) => show(admin, name).await,
        Err(error) => change_error(&error),
    }
}

/// Returns the response to a change that was rejected.
pub(super) fn tune_error(error: &TuneError) -> HttpResponse {
    let status = match error {
        TuneError::UnknownActor { .. } | TuneError::UnknownBudget { .. } => StatusCode::NOT_FOUND,
        TuneError::CapacityZero => StatusCode::BAD_REQUEST,
    };
    error_response(status, ErrorCode::InvalidInput, error.to_string())
}
