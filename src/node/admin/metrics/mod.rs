//! `/metrics`: all counters of the node in the text format of Prometheus, version 0.0.4.
//!
//! The files below hold name, type, labels and help text of each metric. A test compares them with
//! `config/metrics.md`. Label values are names of actors, threads, listeners and routes, never a
//! value that a client chooses. Names state their unit: seconds or bytes.

mod actors;
mod consensus;
mod family;
mod http;
mod ledger;
mod process;
mod relay;

use super::context::{Admin, error_response};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use family::Families;
use ledger_api::ErrorCode;
use ledger_http::ListenerRegistry;
use prometheus::TEXT_FORMAT;

/// `GET /metrics`.
pub async fn show(admin: Data<Admin>, listeners: Data<ListenerRegistry>) -> HttpResponse {
    let mut families = Families::default();
    actors::collect(&admin.node, &mut families);
    ledger::collect(&admin, &mut families);
    consensus::collect(&admin.node, &mut families);
    relay::collect(&admin.node, &mut families);
    http::collect(&admin, &listeners, &mut families);
    process::collect(&mut families);
    match families.text() {
        Ok(text) => HttpResponse::Ok().content_type(TEXT_FORMAT).body(text),
        Err(cause) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!("the metrics cannot be written: {cause}"),
        ),
    }
}
