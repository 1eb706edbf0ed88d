//! `/connections`: how many each listener has, and what it refused and cut since the start.

use actix_web::{HttpResponse, web::Data};
use ledger_http::ListenerRegistry;

/// `GET /connections`.
pub async fn list(listeners: Data<ListenerRegistry>) -> HttpResponse {
    HttpResponse::Ok().json(listeners.status())
}
