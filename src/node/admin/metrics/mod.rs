//! `/metrics`: everything that is counted of the node, in the text format of Prometheus, version 0.0.4.
//!
//! Names, types, labels and help texts stand beside what they show, in the files below; `config/metrics.md` lists
//! them all, which a test holds. Labels have few values: names of actors, threads, listeners and routes of the
//! table, and nothing that a client chose. Units follow the names: seconds and bytes.

mod actors;
mod family;
mod http;
mod ledger;
mod process;

use super::{Admin, refusal};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use family::Families;
use ledger_api::ErrorCode;
use ledger_http::ListenerRegistry;
use prometheus::TEXT_FORMAT;

/// `GET /metrics`.
pub async fn show(admin: Data<Admin>, listeners: Data<ListenerRegistry>) -> HttpResponse {
    let mut families = Families::default();
    actors::tell(&admin.node, &mut families);
    ledger::tell(&admin.node, &admin.data_dir, &mut families);
    http::tell(&admin.api, &listeners, &mut families);
    process::tell(&mut families);
    match families.text() {
        Ok(text) => HttpResponse::Ok().content_type(TEXT_FORMAT).body(text),
        Err(cause) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!("the metrics cannot be written: {cause}"),
        ),
    }
}
