//! `/switches`: which parts of the interface are on, to be turned while the node runs.

use super::{Admin, BODY_BYTES_MAX, body_of};
use actix_web::{
    Error, HttpResponse,
    web::{Bytes, Data},
};
use ledger_api::SwitchChange;

/// `GET /switches`.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.api.switches.settings())
}

/// `PATCH /switches` with those to be turned, such as `{"submission_enabled": false}`: the new positions of
/// all. They hold for every request that comes after the answer, until the next start.
pub async fn turn(admin: Data<Admin>, body: Result<Bytes, Error>) -> HttpResponse {
    let change: SwitchChange = match body_of(
        body,
        BODY_BYTES_MAX,
        "such as {\"submission_enabled\": false}",
    ) {
        Ok(change) => change,
        Err(problem) => return problem.response(),
    };
    admin.api.switches.change(&change);
    let switches = admin.api.switches.settings();
    tracing::info!(?switches, "switches of the interface changed");
    HttpResponse::Ok().json(switches)
}
