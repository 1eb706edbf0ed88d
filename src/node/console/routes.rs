//! Routes of the console, which the admin listener authorizes like its own.

use super::{assets, health, login, overview, settings, traffic};
use actix_web::web::{self, ServiceConfig};
use ledger_api::wrong_method;

/// Registers the routes in the scope of the admin listener.
pub fn configure(config: &mut ServiceConfig) {
    config
        .service(
            web::resource("/")
                .route(web::get().to(overview::show))
                .default_service(wrong_method("GET")),
        )
        .service(
            web::resource("/login")
                .route(web::get().to(login::show))
                .route(web::post().to(login::log_in))
                .default_service(wrong_method("GET, POST")),
        )
        .service(
            web::resource("/logout")
                .route(web::post().to(login::log_out))
                .default_service(wrong_method("POST")),
        )
        .service(
            web::resource("/console/settings")
                .route(web::get().to(settings::show))
                .default_service(wrong_method("GET")),
        )
        .service(
            web::resource("/console/traffic")
                .route(web::get().to(traffic::show))
                .default_service(wrong_method("GET")),
        )
        .service(
            web::resource("/console/health")
                .route(web::get().to(health::show))
                .default_service(wrong_method("GET")),
        )
        .service(
            web::resource("/assets/console.css")
                .route(web::get().to(assets::style_sheet))
                .default_service(wrong_method("GET")),
        )
        .service(
            web::resource("/assets/console.js")
                .route(web::get().to(assets::script))
                .default_service(wrong_method("GET")),
        );
}
