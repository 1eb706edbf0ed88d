//! The one route table; [`crate::router`] finds the row of a request.
//!
//! To add a route: one line in [`table`], one handler in a file beside, one description in a file of
//! `operations/`.

mod accounts;
mod blocks;
mod events;
mod gas;
mod graphql;
mod health;
mod index;
mod info;
mod modules;
mod operations;
mod resources;
mod spec;
mod state_values;
mod tables;
pub(crate) mod transactions;
mod view;

pub(crate) use spec::home;

use crate::{
    context::{IntoResponse, RequestContext},
    error::ApiError,
    openapi::Operation,
};
use actix_web::{HttpResponse, http::Method};
use futures::future::{FutureExt, LocalBoxFuture, TryFutureExt};
use std::rc::Rc;
use transactions::{auxiliary_info, batch, encode, list, read, simulate, submit, summaries};

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
    pub fn operation(&self) -> &Rc<Operation> {
        &self.operation
    }

    /// What answers it.
    pub fn handler(&self) -> &Handler {
        &self.handler
    }
}

/// What answers a request.
pub(crate) type Handler =
    Rc<dyn Fn(RequestContext) -> LocalBoxFuture<'static, Result<HttpResponse, ApiError>>>;

fn route<F, R>(
    method: Method,
    path: &'static str,
    handler: impl Fn(RequestContext) -> F + 'static,
    operation: Operation,
) -> Route
where
    F: Future<Output = Result<R, ApiError>> + 'static,
    R: IntoResponse,
{
    Route {
        method,
        path,
        handler: Rc::new(move |cx| {
            let state = Rc::clone(&cx.state);
            let reply = handler(cx).map_ok(move |reply| reply.into_response(state.headers()));
            reply.boxed_local()
        }),
        operation: Rc::new(operation),
    }
}

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
            list::transactions,
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
            encode::encode_submission,
            of::submissions::encode(),
        ),
        route(
            M::GET,
            "/transactions/by_hash/{txn_hash}",
            read::by_hash,
            of::transactions::by_hash(),
        ),
        route(
            M::GET,
            "/transactions/wait_by_hash/{txn_hash}",
            read::wait_by_hash,
            of::transactions::wait_by_hash(),
        ),
        route(
            M::GET,
            "/transactions/by_version/{txn_version}",
            read::by_version,
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
            list::of_account,
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
pub(crate) fn graphql_route() -> Route {
    route(
        Method::POST,
        "/graphql",
        graphql::graphql,
        operations::graphql::graphql(),
    )
}
