//! `/connections`: open, rejected and canceled connections of each listener since the start.

use actix_web::{HttpResponse, web::Data};
use ledger_http::ListenerRegistry;

/// `GET /connections`: responds with the counters of each listener.
pub async fn list(listeners: Data<ListenerRegistry>) -> HttpResponse {
    HttpResponse::Ok().json(listeners.status())
}
