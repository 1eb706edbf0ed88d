//! `/connections`: open, rejected and canceled connections of each listener since the start.

use crate::compose::OpenListeners;
use actix_web::{HttpResponse, web::Data};

/// `GET /connections`: responds with the counters of each listener.
pub async fn list(listeners: Data<OpenListeners>) -> HttpResponse {
    HttpResponse::Ok().json(listeners.status())
}
