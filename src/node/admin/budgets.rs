//! `/budgets`: the budgets of the queues of work, in estimated milliseconds.

use super::{
    actors::tune_error,
    context::{Admin, BODY_BYTES_MAX, parse_body},
};
use crate::config::{BUDGET_MS, Kind};
use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use ledger_api::{ErrorKind, UnencodedBody};
use serde::Deserialize;

/// Body of `PATCH /budgets/{name}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Maximum estimated duration of the work that waits, in milliseconds.
    capacity_ms: u64,
}

/// `GET /budgets`: responds with the status of all budgets.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.node.budgets())
}

/// `PATCH /budgets/{name}` with `{"capacity_ms": N}`: responds with the new status.
///
/// Responds with 400 if the capacity is out of range, and with 404 if there is no such budget. Work
/// that waits beyond a lower capacity stays.
pub async fn change(
    admin: Data<Admin>,
    name: Path<String>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let Change { capacity_ms } = match parse_body(body, "{\"capacity_ms\": N}") {
        Ok(change) => change,
        Err(problem) => return problem.response(),
    };
    if !BUDGET_MS.contains(&capacity_ms) {
        let allowed = Kind::Integer(BUDGET_MS);
        return ErrorKind::InvalidInput(format!(
            "capacity_ms = {capacity_ms} is not allowed: expected {allowed}"
        ))
        .response();
    }
    match admin.node.set_budget(&name, capacity_ms) {
        Ok(status) => {
            tracing::info!(budget = status.name, capacity_ms, "budget changed");
            HttpResponse::Ok().json(status)
        }
        Err(error) => tune_error(&error),
    }
}
