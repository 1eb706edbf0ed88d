//! The operator's listener: each actor's mailbox, the lanes of signatures, and the switches of a running node.

mod actors;
mod origin;

use actix_web::{
    HttpResponse,
    http::StatusCode,
    middleware::from_fn,
    web::{self, ServiceConfig},
};
use ledger_actors::NodeHandle;
use ledger_api::{ErrorBody, ErrorCode, unknown_route, wrong_method};
use std::net::SocketAddr;

/// The largest body that a switch takes, in bytes.
const BODY_BYTES_MAX: usize = 4096;

/// What the listener's routes know. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admin {
    node: NodeHandle,
    listen: SocketAddr,
}

impl Admin {
    /// The operator's view of `node`, for a listener that is configured to listen on `listen`.
    pub fn new(node: NodeHandle, listen: SocketAddr) -> Self {
        Self { node, listen }
    }
}

/// Registers the routes.
pub fn configure(config: &mut ServiceConfig, admin: &Admin) {
    config.service(
        web::scope("")
            .app_data(web::Data::new(admin.clone()))
            .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
            .wrap(from_fn(origin::check))
            .service(
                web::resource("/actors")
                    .route(web::get().to(actors::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/actors/{name}")
                    .route(web::get().to(actors::show))
                    .route(web::patch().to(actors::tune))
                    .default_service(wrong_method("GET, PATCH")),
            )
            .service(
                web::resource("/signatures")
                    .route(web::get().to(actors::signatures))
                    .default_service(wrong_method("GET")),
            )
            .default_service(unknown_route()),
    );
}

/// An error answer in the form of the interface.
fn refusal(status: StatusCode, error_code: ErrorCode, message: impl Into<String>) -> HttpResponse {
    HttpResponse::build(status).json(ErrorBody {
        message: message.into(),
        error_code,
        vm_error_code: None,
    })
}
