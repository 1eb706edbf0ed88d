//! The route table. [`crate::router`] matches requests to its rows.
//!
//! To add a route, write in the file of its resource:
//! 1. for each parameter of the path and the query, an empty `enum` that implements
//!    [`Parameter`](extract::Parameter) with its type and documentation;
//! 2. the handler, an `async fn` of a `RequestContext` and arguments of [`extract`];
//! 3. `describe_...()`, its [`Operation`], with `.parameter(Path::<Address>::describe())`.
//!
//! Add a row to [`table`] and its responses to the tests of the interface. The table panics at
//! start if an operation does not declare exactly the inputs that its handler reads.

mod accounts;
mod blocks;
mod certificates;
mod events;
mod graphql;
mod modules;
mod node;
mod resources;
mod spec;
mod state_values;
mod tables;
mod transactions;
mod view;

pub(crate) use extract::Handler;
pub(crate) use spec::home;

use crate::{
    context::{
        IntoResponse,
        extract::{self, Extract, HandlerFn},
    },
    error::ApiError,
    openapi::Operation,
};
use actix_web::http::Method;
use std::rc::Rc;
use transactions::{
    auxiliary_info, batch, encode, list, read, simulate, status, submit, summaries, wait_many,
};

/// A row of the route table.
pub(crate) struct Route {
    method: Method,
    path: &'static str,
    handler: Handler,
    operation: Rc<Operation>,
}

impl Route {
    /// Returns the method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the path below `/v1`, with its parameters in braces.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the operation of the route in the document.
    pub fn operation(&self) -> &Rc<Operation> {
        &self.operation
    }

    /// Returns the handler.
    pub fn handler(&self) -> &Handler {
        &self.handler
    }
}

/// Creates a row. An operation that reads the ledger waits for the minimum version of a request.
///
/// # Panics
///
/// Panics if the operation does not declare exactly the inputs that the handler reads.
fn route<Arguments, H, F, R>(
    method: Method,
    path: &'static str,
    handler: H,
    operation: Operation,
) -> Route
where
    Arguments: Extract + 'static,
    H: HandlerFn<Arguments, Future = F> + 'static,
    F: Future<Output = Result<R, ApiError>> + 'static,
    R: IntoResponse,
{
    let operation = operation.with_min_version();
    Route {
        method,
        path,
        handler: extract::bind(path, handler, &operation),
        operation: Rc::new(operation),
    }
}

/// Returns all routes, in the order of the document.
pub(crate) fn table() -> Vec<Route> {
    use Method as M;
    vec![
        route(M::GET, "", node::index, node::describe_index()),
        route(M::GET, "/", node::index, node::describe_index()),
        route(
            M::GET,
            "/-/healthy",
            node::healthy,
            node::describe_healthy(),
        ),
        route(M::GET, "/info", node::info, node::describe_info()),
        route(M::GET, "/spec", spec::page, spec::describe_page()),
        route(M::GET, "/spec.json", spec::json, spec::describe_json()),
        route(M::GET, "/spec.yaml", spec::yaml, spec::describe_yaml()),
        route(M::GET, "/spec/{part}", spec::part, spec::describe_part()),
        route(
            M::GET,
            "/estimate_gas_price",
            node::estimate_gas_price,
            node::describe_estimate_gas_price(),
        ),
        route(
            M::GET,
            "/transactions",
            list::transactions,
            list::describe_transactions(),
        ),
        route(
            M::POST,
            "/transactions",
            submit::submit,
            submit::describe_submit(),
        ),
        route(
            M::POST,
            "/transactions/batch",
            batch::batch,
            batch::describe_batch(),
        ),
        route(
            M::POST,
            "/transactions/status",
            status::status,
            status::describe_status(),
        ),
        route(
            M::POST,
            "/transactions/simulate",
            simulate::simulate,
            simulate::describe_simulate(),
        ),
        route(
            M::POST,
            "/transactions/encode_submission",
            encode::encode_submission,
            encode::describe_encode_submission(),
        ),
        route(
            M::GET,
            "/transactions/by_hash/{txn_hash}",
            read::by_hash,
            read::describe_by_hash(),
        ),
        route(
            M::GET,
            "/transactions/wait_by_hash/{txn_hash}",
            read::wait_by_hash,
            read::describe_wait_by_hash(),
        ),
        route(
            M::POST,
            "/transactions/wait",
            wait_many::wait_many,
            wait_many::describe_wait_many(),
        ),
        route(
            M::GET,
            "/transactions/by_version/{txn_version}",
            read::by_version,
            read::describe_by_version(),
        ),
        route(
            M::GET,
            "/transactions/auxiliary_info",
            auxiliary_info::auxiliary_info,
            auxiliary_info::describe_auxiliary_info(),
        ),
        route(
            M::GET,
            "/accounts/{address}",
            accounts::account,
            accounts::describe_account(),
        ),
        route(
            M::GET,
            "/accounts/{address}/resources",
            resources::resources,
            resources::describe_resources(),
        ),
        route(
            M::GET,
            "/accounts/{address}/resource/{resource_type}",
            accounts::resource,
            accounts::describe_resource(),
        ),
        route(
            M::GET,
            "/accounts/{address}/module/{module_name}",
            modules::module,
            modules::describe_module(),
        ),
        route(
            M::GET,
            "/accounts/{address}/modules",
            modules::modules,
            modules::describe_modules(),
        ),
        route(
            M::GET,
            "/accounts/{address}/balance/{asset_type}",
            accounts::balance,
            accounts::describe_balance(),
        ),
        route(
            M::GET,
            "/accounts/{address}/transactions",
            list::of_account,
            list::describe_of_account(),
        ),
        route(
            M::GET,
            "/accounts/{address}/transaction_summaries",
            summaries::summaries,
            summaries::describe_summaries(),
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{creation_number}",
            events::by_creation_number,
            events::describe_by_creation_number(),
        ),
        route(
            M::GET,
            "/accounts/{address}/events/{event_handle}/{field_name}",
            events::by_handle,
            events::describe_by_handle(),
        ),
        route(
            M::POST,
            "/tables/{table_handle}/item",
            tables::item,
            tables::describe_item(),
        ),
        route(
            M::POST,
            "/tables/{table_handle}/raw_item",
            tables::raw_item,
            tables::describe_raw_item(),
        ),
        route(
            M::POST,
            "/experimental/state_values/raw",
            state_values::raw,
            state_values::describe_raw(),
        ),
        route(M::POST, "/view", view::view, view::describe_view()),
        graphql_route(),
        route(
            M::GET,
            "/blocks/by_height/{block_height}",
            blocks::by_height,
            blocks::describe_by_height(),
        ),
        route(
            M::GET,
            "/blocks/by_version/{version}",
            blocks::by_version,
            blocks::describe_by_version(),
        ),
        route(
            M::GET,
            "/blocks/by_height/{block_height}/certificate",
            certificates::certificate,
            certificates::describe_certificate(),
        ),
    ]
}

/// Returns the only route of [`crate::configure_graphql`].
pub(crate) fn graphql_route() -> Route {
    route(
        Method::POST,
        "/graphql",
        graphql::graphql,
        graphql::describe_graphql(),
    )
}
