//! The one route table, and how a row of it becomes an actix route.
//!
//! To add a route: one line in [`table`], one handler in a file of `endpoints/`, one description in a file of
//! `openapi/operations/`.

use crate::{
    admission::{self, HeldByBody},
    answer::Reply,
    call::Call,
    compression,
    cors::cors,
    endpoints::{
        accounts, auxiliary_info, batch, blocks, encode_submission, events, gas, graphql, health, index,
        info, listings, modules, resources, simulate, spec, state_values, submit, summaries, tables,
        transactions, view,
    },
    error::ApiError,
    fallback::{unknown_route, wrong_method},
    format::Format,
    openapi::{Operation, operations},
    state::ApiState,
    switches::Switch,
    trace,
};
use actix_web::{
    HttpMessage as _, HttpRequest, HttpResponse,
    dev::Payload,
    http::{Method, header::RETRY_AFTER},
    middleware::from_fn,
    web::{self, ServiceConfig},
};
use futures::future::{FutureExt, LocalBoxFuture, TryFutureExt};
use std::{rc::Rc, sync::Arc};

/// A row: method, path below `/v1`, handler, and what the interface's document says of it.
pub(crate) struct Route {
    method: Method,
    path: &'static str,
    handler: Handler,
    operation: Rc<Operation>,
}

impl Route {
    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path below `/v1`, its parameters in braces.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// What the document says of it.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }
}

type Handler = Rc<dyn Fn(Call) -> LocalBoxFuture<'static, Result<HttpResponse, ApiError>>>;

fn route<F, R>(
    method: Method,
    path: &'static str,
    handler: impl Fn(Call) -> F + 'static,
    operation: Operation,
) -> Route
where
    F: Future<Output = Result<R, ApiError>> + 'static,
    R: Reply,
{
    Route {
        method,
        path,
        handler: Rc::new(move |call| {
            let state = call.state.clone();
            let reply = handler(call).map_ok(move |reply| reply.into_response(state.headers()));
            reply.boxed_local()
        }),
        operation: Rc::new(operation),
    }
}

/// What clients ask most: these paths are tried before all others, in this order, as the server tries one pattern
/// after the other. A path fits one pattern at most, so that the order decides nothing else.
const TRIED_FIRST: [&str; 8] = [
    "/transactions",
    "/transactions/wait_by_hash/{txn_hash}",
    "/transactions/by_hash/{txn_hash}",
    "/accounts/{address}/balance/{asset_type}",
    "/accounts/{address}",
    "/accounts/{address}/events/{creation_number}",
    "/blocks/by_height/{block_height}",
    "/blocks/by_version/{version}",
];

/// The routes, in the order of the document.
pub(crate) fn table() -> Vec<Route> {
    use Method as M;
    use operations as of;
    vec![
        route(M::GET, "", index::index, of::node::index()),
        route(M::GET, "/", index::index, of::node::index()),
        route(M::GET, "/-/healthy", health::healthy, of::node::healthy()),
        route(M::GET, "/info", info::info, of::node::info()),
        route(M::GET, "/spec", spec::page, of::spec::page()),
        route(M::GET, "/spec.json", spec::json, of::spec::json()),
        route(M::GET, "/spec.yaml", spec::yaml, of::spec::yaml()),
        route(M::GET, "/spec/{part}", spec::part, of::spec::part()),
        route(
            M::GET,
            "/estimate_gas_price",
            gas::estimate,
            of::node::gas_price(),
        ),
        route(
            M::GET,
            "/transactions",
            listings::transactions,
            of::transactions::list(),
        ),
        route(
            M::POST,
            "/transactions",
            submit::submit,
            of::submissions::submit(),
        ),
        route(
            M::POST,
            "/transactions/batch",
            batch::batch,
            of::submissions::batch(),
        ),
        route(
            M::POST,
            "/transactions/simulate",
            simulate::simulate,
            of::submissions::simulate(),
        ),
        route(
            M::POST,
            "/transactions/encode_submission",
            encode_submission::encode_submission,
            of::submissions::encode(),
        ),
        route(
            M::GET,
            "/transactions/by_hash/{txn_hash}",
            transactions::by_hash,
            of::transactions::by_hash(),
        ),
        route(
            M::GET,
            "/transactions/wait_by_hash/{txn_hash}",
            transactions::wait_by_hash,
            of::transactions::wait_by_hash(),
        ),
        route(
            M::GET,
            "/transactions/by_version/{txn_version}",
            transactions::by_version,
            of::transactions::by_version(),
        ),
        route(
            M::GET,
            "/transactions/auxiliary_info",
            auxiliary_info::auxiliary_info,
            of::transactions::auxiliary_info(),
        ),
        route(
            M::GET,
            "/accounts/{address}",
            accounts::account,
            of::accounts::account(),
        ),
        route(
            M::GET,
            "/accounts/{address}/resources",
            resources::of_account,
            of::accounts::resources(),
        ),
        route(
            M::GET,
            "/accounts/{address}/resource/{resource_type}",
            accounts::resource,
            of::accounts::resource(),
        ),
        route(
            M::GET,
            "/accounts/{address}/module/{module_name}",
            modules::module,
            of::accounts::module(),
        ),
        route(
            M::GET,
            "/accounts/{address}/modules",
            modules::modules,
            of::accounts::modules(),
        ),
        route(
            M::GET,
            "/accounts/{address}/balance/{asset_type}",
            accounts::balance,
            of::accounts::balance(),
        ),
        route(
            M::GET,
            "/accounts/{address}/transactions",
            listings::of_account,
            of::transactions::of_account(),
        ),
        route(
            M::GET,
            "/accounts/{address}/transaction_summaries",
            summaries::of_account,
            of::transactions::summaries(),
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{creation_number}",
            events::by_creation_number,
            of::events::by_creation_number(),
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{event_handle}/{field_name}",
            events::by_handle,
            of::events::by_handle(),
        ),
        route(
            M::POST,
            "/tables/{table_handle}/item",
            tables::item,
            of::tables::item(),
        ),
        route(
            M::POST,
            "/tables/{table_handle}/raw_item",
            tables::raw_item,
            of::tables::raw_item(),
        ),
        route(
            M::POST,
            "/experimental/state_values/raw",
            state_values::raw,
            of::state_values::raw(),
        ),
        route(M::POST, "/view", view::view, of::view::view()),
        graphql_route(),
        route(
            M::GET,
            "/blocks/by_height/{block_height}",
            blocks::by_height,
            of::blocks::by_height(),
        ),
        route(
            M::GET,
            "/blocks/by_version/{version}",
            blocks::by_version,
            of::blocks::by_version(),
        ),
    ]
}

/// The row that [`configure_graphql`] serves by itself.
fn graphql_route() -> Route {
    route(
        Method::POST,
        "/graphql",
        graphql::graphql,
        operations::graphql::graphql(),
    )
}

/// Adds the interface below `/v1` to an actix app, and answers with the error body wherever the
/// app has no route.
pub fn configure(config: &mut ServiceConfig, state: &ApiState) {
    let home = web::resource("/").route(web::get().to(spec::home));
    serve_rows(config, table(), state);
    config.service(home.default_service(wrong_method("GET")));
}

/// Adds only the GraphQL query, and answers with the error body everywhere else: clients of a local network
/// look for an indexer at a port of its own.
pub fn configure_graphql(config: &mut ServiceConfig, state: &ApiState) {
    serve_rows(config, vec![graphql_route()], state);
}

fn serve_rows(config: &mut ServiceConfig, rows: Vec<Route>, state: &ApiState) {
    let (compression_state, admission_state) = (state.clone(), state.clone());
    let client_header = state.headers().client().clone();
    let meters = Arc::clone(state.route_meters());
    // Pages are to wait as long as a 503 says, which is what the document tells all clients.
    let exposed = state.headers().names().chain([RETRY_AFTER]);
    let mut scope = web::scope("/v1")
        .wrap(from_fn(move |request, next| {
            compression::compress(compression_state.clone(), request, next)
        }))
        // Around compression: a request keeps its place until its answer was sent in whatever form.
        .wrap(from_fn(move |request, next| {
            admission::admit(admission_state.clone(), request, next)
        }))
        // Around admission: what a browser asks before its request takes no place.
        .wrap(cors(exposed))
        .wrap(from_fn(move |request, next| {
            trace::trace(client_header.clone(), Arc::clone(&meters), request, next)
        }))
        .default_service(unknown_route());
    for (path, routes) in by_path(rows) {
        scope = scope.service(resource(path, routes, state));
    }
    config.service(scope).default_service(unknown_route());
}

/// The routes of each path, paths in the order in which they are tried.
fn by_path(table: Vec<Route>) -> Vec<(&'static str, Vec<Route>)> {
    let mut paths: Vec<(&'static str, Vec<Route>)> = Vec::new();
    for route in table {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, routes)) => routes.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    let place = |path: &str| TRIED_FIRST.iter().position(|first| *first == path);
    paths.sort_by_key(|(path, _)| place(path).unwrap_or(TRIED_FIRST.len()));
    paths
}

/// One path with its methods; 405 with `Allow` for any other method.
fn resource(path: &'static str, routes: Vec<Route>, state: &ApiState) -> actix_web::Resource {
    let names: Vec<_> = routes.iter().map(|route| route.method.to_string()).collect();
    let allowed = names.join(", ");
    let mut resource = web::resource(path);
    for Route {
        method,
        handler,
        operation,
        ..
    } in routes
    {
        let state = state.clone();
        let row = state.route_meters().row(&method, Some(path));
        resource = resource.route(web::method(method).to(
            move |request: HttpRequest, payload: web::Payload| {
                request.extensions_mut().insert(row);
                // What comes although nothing is read of it is thrown away, and not kept until the answer.
                let payload = match operation.request.is_empty() {
                    true => Payload::None,
                    false => payload.into_inner(),
                };
                let call = Call {
                    state: state.clone(),
                    operation: Rc::clone(&operation),
                    format: Format::from_accept(request.headers()),
                    request,
                    payload,
                    held: Arc::new(state.bodies().share()),
                };
                serve(call, Rc::clone(&handler))
            },
        ));
    }
    resource.default_service(wrong_method(allowed))
}

/// # Panics
/// In builds with debug assertions, when the answer is one that the operation does not declare.
async fn serve(call: Call, handler: Handler) -> HttpResponse {
    let (state, operation) = (call.state.clone(), Rc::clone(&call.operation));
    let held = Arc::clone(&call.held);
    match answered(call, handler).await {
        Ok(mut response) => {
            response.extensions_mut().insert(HeldByBody(held));
            debug_assert!(
                operation.declares_success(response.status()),
                "{} does not declare {}",
                operation.id,
                response.status()
            );
            response
        }
        Err(error) => {
            let (status, code) = error.row();
            debug_assert!(
                operation.declares_refusal(status, code),
                "{} does not declare {status} {code:?}",
                operation.id
            );
            error.response(state.headers())
        }
    }
}

/// What the handler says, where answers in the form that is asked for are on.
async fn answered(call: Call, handler: Handler) -> Result<HttpResponse, ApiError> {
    if !call.operation.always_answers {
        call.state.require(Switch::of_output(call.format()))?;
    }
    handler(call).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::dev::ResourceDef;

    #[test]
    fn a_path_fits_one_pattern_so_that_no_route_shadows_another() {
        let paths: Vec<_> = by_path(table()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths[..TRIED_FIRST.len()], TRIED_FIRST);
        for path in &paths {
            let asked: Vec<_> = path
                .split('/')
                .map(|part| if part.starts_with('{') { "7" } else { part })
                .collect();
            let asked = asked.join("/");
            let fits = |pattern: &&&str| ResourceDef::new(**pattern).is_match(&asked);
            assert_eq!(paths.iter().filter(fits).collect::<Vec<_>>(), [path], "{asked}");
        }
    }
}
