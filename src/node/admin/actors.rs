//! `/actors`: the numbers of each mailbox, and its capacity to be changed while the node runs;
//! `/signatures`: those of the queues before the actors.

use super::{Admin, BODY_BYTES_MAX, body_of, refusal};
use crate::config::{Kind, MAILBOX_CAPACITY};
use actix_web::{
    Error, HttpResponse,
    http::StatusCode,
    web::{Bytes, Data, Path},
};
use ledger_actors::TuneError;
use ledger_api::{ErrorCode, ErrorKind};
use serde::Deserialize;

/// What can be changed of an actor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// How many requests may wait for it.
    mailbox_capacity: usize,
}

/// `GET /actors`.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.node.mailboxes())
}

/// `GET /actors/{name}`.
pub async fn show(admin: Data<Admin>, name: Path<String>) -> HttpResponse {
    let mailboxes = admin.node.mailboxes();
    match mailboxes
        .iter()
        .find(|status| status.actor == name.as_str())
    {
        Some(status) => HttpResponse::Ok().json(status),
        None => untuned(&TuneError::UnknownActor(name.into_inner())),
    }
}

/// `GET /signatures`: the lanes in which transactions wait for the check of their signatures.
pub async fn signatures(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.node.signature_lanes())
}

/// `PATCH /actors/{name}` with `{"mailbox_capacity": N}`: the new status.
pub async fn tune(
    admin: Data<Admin>,
    name: Path<String>,
    body: Result<Bytes, Error>,
) -> HttpResponse {
    let change: Change = match body_of(body, BODY_BYTES_MAX, "{\"mailbox_capacity\": N}") {
        Ok(change) => change,
        Err(problem) => return problem.response(),
    };
    let capacity = change.mailbox_capacity;
    if !MAILBOX_CAPACITY.contains(&(capacity as u64)) {
        let allowed = Kind::Integer(MAILBOX_CAPACITY);
        return ErrorKind::InvalidInput(format!(
            "mailbox_capacity = {capacity} is not allowed: expected {allowed}"
        ))
        .response();
    }
    match admin.node.set_mailbox_capacity(&name, capacity) {
        Ok(status) => {
            tracing::info!(
                actor = status.actor,
                capacity = status.capacity,
                "mailbox capacity changed"
            );
            HttpResponse::Ok().json(status)
        }
        Err(error) => untuned(&error),
    }
}

fn untuned(error: &TuneError) -> HttpResponse {
    let status = match error {
        TuneError::UnknownActor(_) => StatusCode::NOT_FOUND,
        TuneError::CapacityZero => StatusCode::BAD_REQUEST,
    };
    refusal(status, ErrorCode::InvalidInput, error.to_string())
}
