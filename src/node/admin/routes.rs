//! Routes of the admin listener.

use super::{
    actors,
    authorize::authorize,
    budgets, checks, connections, consensus,
    context::{Admin, BODY_BYTES_MAX},
    filter, flight, metrics, observe, peers, settings, storage, switches,
    tls::{self, Certificates},
    traffic,
};
use actix_web::{
    middleware::from_fn,
    web::{self, ServiceConfig},
};
use ledger_api::{unknown_route, wrong_method};
use ledger_http::ListenerRegistry;

/// Registers the routes. `certificates` are those of the listeners, and `listeners` are the
/// listeners whose connections are reported. `pages` registers the routes of the console, which
/// are authorized in the same way.
pub fn configure(
    config: &mut ServiceConfig,
    admin: &Admin,
    certificates: &Certificates,
    listeners: &ListenerRegistry,
    pages: fn(&mut ServiceConfig),
) {
    config.service(
        web::scope("")
            .app_data(web::Data::new(admin.clone()))
            .app_data(web::Data::new(certificates.clone()))
            .app_data(web::Data::new(listeners.clone()))
            .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
            .wrap(from_fn(authorize))
            .service(
                web::resource("/actors")
                    .route(web::get().to(actors::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/actors/{name}")
                    .route(web::get().to(actors::show))
                    .route(web::patch().to(actors::change))
                    .default_service(wrong_method("GET, PATCH")),
            )
            .service(
                web::resource("/budgets")
                    .route(web::get().to(budgets::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/budgets/{name}")
                    .route(web::patch().to(budgets::change))
                    .default_service(wrong_method("PATCH")),
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
                web::resource("/settings")
                    .app_data(web::PayloadConfig::new(settings::CHANGE_BYTES_MAX))
                    .route(web::get().to(settings::list))
                    .route(web::patch().to(settings::change))
                    .default_service(wrong_method("GET, PATCH")),
            )
            .service(
                web::resource("/settings/confirm")
                    .route(web::post().to(settings::confirm))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/settings/undo")
                    .route(web::post().to(settings::undo))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/settings/keep")
                    .route(web::post().to(settings::keep))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/switches")
                    .route(web::get().to(switches::show))
                    .route(web::patch().to(switches::change))
                    .default_service(wrong_method("GET, PATCH")),
            )
            .service(
                web::resource("/checks")
                    .route(web::get().to(checks::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/livez")
                    .route(web::get().to(checks::live))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/readyz")
                    .route(web::get().to(checks::ready))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/connections")
                    .route(web::get().to(connections::list))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/consensus")
                    .route(web::get().to(consensus::show))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/peers")
                    .route(web::get().to(peers::list))
                    .route(web::post().to(peers::admit))
                    .default_service(wrong_method("GET, POST")),
            )
            .service(
                web::resource("/storage")
                    .route(web::get().to(storage::show))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/flight")
                    .route(web::post().to(flight::write))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/tls/reload")
                    .route(web::post().to(tls::reload))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/traffic")
                    .route(web::get().to(traffic::show))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/traffic/deny")
                    .route(web::post().to(traffic::deny))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/traffic/allow")
                    .route(web::post().to(traffic::allow))
                    .default_service(wrong_method("POST")),
            )
            .service(
                web::resource("/snapshot")
                    .route(web::get().to(observe::snapshot))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/history")
                    .route(web::get().to(observe::history))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/events")
                    .route(web::get().to(observe::events))
                    .default_service(wrong_method("GET")),
            )
            .service(
                web::resource("/metrics")
                    .route(web::get().to(metrics::show))
                    .default_service(wrong_method("GET")),
            )
            .configure(pages)
            .default_service(unknown_route()),
    );
}
