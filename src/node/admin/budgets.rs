//! `/budgets`: the budgets of the queues of work, in estimated milliseconds.

use super::{
    actors::tune_error,
    change::{change_error, change_one},
    context::{Admin, BODY_BYTES_MAX, parse_body},
};
use crate::{
    config::{BUDGET_MS, Kind, Value},
    observe::budget_setting,
};
use actix_web::{
    HttpRequest, HttpResponse,
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
/// Responds with 400 if the capacity is out of range, with 404 if there is no such budget, and with
/// 409 if another change of it waits for its confirmation. Work that waits beyond a lower capacity
/// stays.
pub async fn change(
    request: HttpRequest,
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
    let key = match admin.node.budget(&name) {
        Ok(status) => budget_setting(status.name).expect("each budget has a setting"),
        Err(error) => return tune_error(&error),
    };
    if let Err(error) = change_one(&request, &admin, key, Value::Integer(capacity_ms)) {
        return change_error(&error);
    }
    match admin.node.budget(&name) {
        Ok(changed) => HttpResponse::Ok().json(changed),
        Err(error) => tune_error(&error),
    }
}
