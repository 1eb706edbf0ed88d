//! The one route table, and how a row of it becomes an actix route.
//!
//! To add a route: one line in [`table`], one handler in a file of `endpoints/`.

use crate::{
    admission,
    answer::Answer,
    call::Call,
    cors::{cors, for_pages_only},
    endpoints::{
        accounts, auxiliary_info, batch, blocks, encode_submission, events, gas, health, index, info,
        listings, modules, simulate, submit, summaries, tables, transactions, view,
    },
    error::ApiError,
    fallback::{unknown_route, wrong_method},
    state::ApiState,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::Method,
    middleware::from_fn,
    web::{self, ServiceConfig},
};
use futures::future::{FutureExt, LocalBoxFuture};
use std::rc::Rc;

/// A row: method, path below `/v1`, handler.
struct Route {
    method: Method,
    path: &'static str,
    handler: Handler,
}

type Handler = Rc<dyn Fn(Call) -> LocalBoxFuture<'static, Result<Answer, ApiError>>>;

fn route<F>(method: Method, path: &'static str, handler: impl Fn(Call) -> F + 'static) -> Route
where
    F: Future<Output = Result<Answer, ApiError>> + 'static,
{
    Route {
        method,
        path,
        handler: Rc::new(move |call| handler(call).boxed_local()),
    }
}

/// The routes, in the order in which they are tried.
fn table() -> Vec<Route> {
    use Method as M;
    vec![
        route(M::GET, "", index::index),
        route(M::GET, "/", index::index),
        route(M::GET, "/-/healthy", health::healthy),
        route(M::GET, "/info", info::info),
        route(M::GET, "/estimate_gas_price", gas::estimate),
        route(M::GET, "/transactions", listings::transactions),
        route(M::POST, "/transactions", submit::submit),
        route(M::POST, "/transactions/batch", batch::batch),
        route(M::POST, "/transactions/simulate", simulate::simulate),
        route(
            M::POST,
            "/transactions/encode_submission",
            encode_submission::encode_submission,
        ),
        route(M::GET, "/transactions/by_hash/{txn_hash}", transactions::by_hash),
        route(
            M::GET,
            "/transactions/wait_by_hash/{txn_hash}",
            transactions::wait_by_hash,
        ),
        route(
            M::GET,
            "/transactions/by_version/{txn_version}",
            transactions::by_version,
        ),
        route(
            M::GET,
            "/transactions/auxiliary_info",
            auxiliary_info::auxiliary_info,
        ),
        route(M::GET, "/accounts/{address}", accounts::account),
        route(
            M::GET,
            "/accounts/{address}/resource/{resource_type}",
            accounts::resource,
        ),
        route(
            M::GET,
            "/accounts/{address}/module/{module_name}",
            modules::module,
        ),
        route(M::GET, "/accounts/{address}/modules", modules::modules),
        route(
            M::GET,
            "/accounts/{address}/balance/{asset_type}",
            accounts::balance,
        ),
        route(M::GET, "/accounts/{address}/transactions", listings::of_account),
        route(
            M::GET,
            "/accounts/{address}/transaction_summaries",
            summaries::of_account,
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{creation_number}",
            events::by_creation_number,
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{event_handle}/{field_name}",
            events::by_handle,
        ),
        route(M::POST, "/tables/{table_handle}/item", tables::item),
        route(M::POST, "/tables/{table_handle}/raw_item", tables::raw_item),
        route(M::POST, "/view", view::view),
        route(M::GET, "/blocks/by_height/{block_height}", blocks::by_height),
        route(M::GET, "/blocks/by_version/{version}", blocks::by_version),
    ]
}

/// Adds the interface below `/v1` to an actix app, and answers with the error body wherever the
/// app has no route.
pub fn configure(config: &mut ServiceConfig, state: &ApiState) {
    let admission_state = state.clone();
    let mut scope = web::scope("/v1")
        .wrap(from_fn(move |request, next| {
            admission::admit(admission_state.clone(), request, next)
        }))
        // Around admission: what a browser asks before its request takes no place.
        .wrap(cors(state.headers().names()))
        .wrap(from_fn(for_pages_only))
        .default_service(unknown_route());
    for (path, routes) in by_path(table()) {
        scope = scope.service(resource(path, routes, state));
    }
    config.service(scope).default_service(unknown_route());
}

/// The routes of each path, paths in the order of their first row.
fn by_path(table: Vec<Route>) -> Vec<(&'static str, Vec<Route>)> {
    let mut paths: Vec<(&'static str, Vec<Route>)> = Vec::new();
    for route in table {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, routes)) => routes.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    paths
}

/// One path with its methods; 405 with `Allow` for any other method.
fn resource(path: &'static str, routes: Vec<Route>, state: &ApiState) -> actix_web::Resource {
    let names: Vec<_> = routes.iter().map(|route| route.method.to_string()).collect();
    let allowed = names.join(", ");
    let mut resource = web::resource(path);
    for Route { method, handler, .. } in routes {
        let state = state.clone();
        resource = resource.route(web::method(method).to(move |request, payload: web::Payload| {
            serve(state.clone(), Rc::clone(&handler), request, payload)
        }));
    }
    resource.default_service(wrong_method(allowed))
}

async fn serve(
    state: ApiState,
    handler: Handler,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    let call = Call {
        state: state.clone(),
        request,
        payload: payload.into_inner(),
    };
    match handler(call).await {
        Ok(answer) => answer.into_response(state.headers()),
        Err(error) => error.response(state.headers()),
    }
}
