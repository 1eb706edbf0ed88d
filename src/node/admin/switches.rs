//! `/switches`: the parts of the REST interface that are enabled.

use super::context::{Admin, BODY_BYTES_MAX, parse_body};
use actix_web::{HttpResponse, web::Data};
use ledger_api::{SwitchChange, UnencodedBody};

/// `GET /switches`: responds with the state of all switches.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.api.switches.settings())
}

/// `PATCH /switches` with the switches to change, such as `{"submission_enabled": false}`: responds
/// with the new state of all switches.
///
/// It applies to every request that arrives after the response, until the next start.
pub async fn change(admin: Data<Admin>, body: UnencodedBody<BODY_BYTES_MAX>) -> HttpResponse {
    let change: SwitchChange = match parse_body(body, "such as {\"submission_enabled\": false}") {
        Ok(change) => change,
        Err(problem) => return problem.response(),
    };
    admin.api.switches.change(&change);
    let switches = admin.api.switches.settings();
    tracing::info!(?switches, "switches changed");
    HttpResponse::Ok().json(switches)
}
