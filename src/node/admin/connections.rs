//! `/connections`: how many each listener has, and what it refused and cut since the start.

use crate::compose::ListenerRegistry;
use actix_web::{HttpResponse, web::Data};

/// `GET /connections`.
pub async fn list(listeners: Data<ListenerRegistry>) -> HttpResponse {
    HttpResponse::Ok().json(listeners.status())
}
