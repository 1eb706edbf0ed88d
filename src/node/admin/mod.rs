//! The operator's listener: each actor's mailbox, the lanes of signatures, the switches of a running node, and
//! all that is counted, for Prometheus.

mod actors;
mod connections;
mod filter;
mod metrics;
mod storage;
mod switches;
mod tls;
mod visit;

use crate::access::{Token, Visitors};
use actix_web::{
    Error, HttpResponse,
    http::StatusCode,
    middleware::from_fn,
    web::{self, Bytes, ServiceConfig},
};
use ledger_actors::NodeHandle;
use ledger_api::{
    ApiState, ErrorBody, ErrorCode, Problem, extraction_problem, unknown_route, wrong_method,
};
use ledger_http::{CertificateHolder, ListenerRegistry};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use tls::ApiCertificate;

/// The largest body that a switch takes, in bytes.
const BODY_BYTES_MAX: usize = 4096;

/// What the listener's routes know. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admin {
    node: NodeHandle,
    api: ApiState,
    visitors: Visitors,
    token: Option<Token>,
    certificate: ApiCertificate,
    data_dir: PathBuf,
}

impl Admin {
    /// The operator's view of `node` and of its interface `api`, for those `visitors` who carry the `token`
    /// where there is one. The API is served with `certificate`; the ledger lies in `data_dir`.
    pub fn new(
        node: NodeHandle,
        api: ApiState,
        visitors: Visitors,
        token: Option<Token>,
        certificate: Option<CertificateHolder>,
        data_dir: PathBuf,
    ) -> Self {
        Self {
            node,
            api,
            visitors,
            token,
            certificate: ApiCertificate(certificate),
            data_dir,
        }
    }
}

/// Registers the routes; `listeners` are those of the node.
pub fn configure(config: &mut ServiceConfig, admin: &Admin, listeners: &ListenerRegistry) {
    config.service(
        web::scope("")
            .app_data(web::Data::new(admin.clone()))
            .app_data(web::Data::new(admin.certificate.clone()))
            .app_data(web::Data::new(listeners.clone()))
            .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
            .wrap(from_fn(visit::check))
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
            .service(
                web::resource("/filter")
                    .app_data(web::PayloadConfig::new(filter::BODY_BYTES_MAX))
                    .route(web::get().to(filter::show))
                    .route(web::put().to(filter::replace))
                    .default_service(wrong_method("GET, PUT")),
            )
            .service(
                web::resource("/switches")
                    .route(web::get().to(switches::show))
                    .route(web::patch().to(switches::turn))
                    .default_service(wrong_method("GET, PATCH")),
            )
            .service(
                web::resource("/connections")
                    .route(web::get().to(connections::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/storage")
                    .route(web::get().to(storage::show))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/tls/reload")
                    .route(web::post().to(tls::reload))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/metrics")
                    .route(web::get().to(metrics::show))
                    .default_service(wrong_method("GET")),
            )
            .default_service(unknown_route()),
    );
}

/// A body in JSON; `form` says how it is to look.
///
/// # Errors
/// What is wrong with a body that did not come whole, is larger than `bytes_max`, or is no `T`.
fn body_of<T: DeserializeOwned>(
    body: Result<Bytes, Error>,
    bytes_max: usize,
    form: &str,
) -> Result<T, Problem> {
    let body = body.map_err(|error| extraction_problem(&error, bytes_max))?;
    serde_json::from_slice(&body)
        .map_err(|error| Problem::Syntax(format!("the body is to be {form}: {error}")))
}

/// An error answer in the form of the interface.
fn refusal(status: StatusCode, error_code: ErrorCode, message: impl Into<String>) -> HttpResponse {
    HttpResponse::build(status).json(ErrorBody {
        message: message.into(),
        error_code,
        vm_error_code: None,
    })
}
