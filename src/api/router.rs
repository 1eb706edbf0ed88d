//! The path of a request below `/v1`: from the HTTP server to its handler and back.
//!
//! One service serves all routes. [`Router::serve`] is the path, from top to bottom:
//!
//! 1. Match the route by path and method. A `HEAD` takes the route of `GET`.
//! 2. Start the trace of the request.
//! 3. Respond to preflight requests of web pages, which need no permit.
//! 4. Admission: check that the address is not denied, and acquire the permits of the request.
//! 5. Check the switches of the operator, and that the ledger of this node is the decided one.
//! 6. Run the handler, once the ledger has the minimum version of the request.
//! 7. Compress the response.
//! 8. Attach permits and memory to the body of the response, which holds them until it is sent.
//! 9. Add `Vary`, and CORS headers for web pages. Record the response in the metrics of the route,
//!    and in the traffic of the client.
//!
//! actix-web's own composition boxes a service per layer, path, method, and handler, and matches a
//! regular expression per path. It took as long as producing a small response.
//!
//! The parts of the crate are put together here too: the route table is passed into the metrics and
//! the OpenAPI document.

mod paths;

use crate::{
    config::ApiConfig,
    context::{ApiState, ROOT, RequestContext},
    error::{ApiError, ErrorKind, Switch, no_route, wrong_method},
    limits::{
        RequestPermits, RequestWork, RouteMeters, Switches, ThreadLimits, TrafficRecorder,
        client_address,
    },
    middleware::{
        admission::{self, BodyLease},
        compression,
        cors::{self, BrowserCors},
        head,
        trace::RequestTrace,
        vary,
    },
    model::format::Format,
    openapi::{self, DeclaredResponse, DocumentedRoute, Operation, RenderedDocument},
    routes::{self, Route},
};
use actix_web::{
    Error, HttpRequest, HttpResponse,
    dev::{Payload, ServiceFactory, ServiceRequest, ServiceResponse, fn_factory, fn_service},
    http::{
        Method, StatusCode,
        header::{ORIGIN, RETRY_AFTER},
    },
    web::{self, ServiceConfig},
};
use futures::future::FutureExt as _;
use ledger_actors::NodeHandle;
use ledger_limits::ClientKey;
use ledger_types::Vendor;
use paths::{Paths, Target};
use serde_json::Value;
use std::{net::IpAddr, pin::pin, rc::Rc, sync::Arc};

/// Adds the interface below `/v1` to an actix-web app. Responds with the error body wherever the
/// app has no route.
pub fn configure(config: &mut ServiceConfig, state: &ApiState) {
    let home = web::resource("/")
        .route(web::get().to(routes::home))
        .route(web::head().to(routes::home))
        .default_service(wrong_method("GET, HEAD"));
    config.service(home);
    config.default_service(service(routes::table, state));
}

/// Adds only the GraphQL query, and responds with the error body everywhere else: clients of a
/// local network look for an indexer at a port of its own.
pub fn configure_graphql(config: &mut ServiceConfig, state: &ApiState) {
    config.default_service(service(|| vec![routes::graphql_route()], state));
}

impl ApiState {
    /// Creates the state of an interface to `node`.
    ///
    /// `git_hash` is the commit of the build, or empty if it is unknown.
    pub fn new(node: NodeHandle, config: ApiConfig, git_hash: &'static str) -> Self {
        let meters = RouteMeters::of_table(&routes::table());
        let document = RenderedDocument::new(openapi_document);
        Self::with_routes(node, config, git_hash, meters, document)
    }
}

impl RouteMeters {
    /// Creates the metrics of the routes of a table.
    fn of_table(table: &[Route]) -> Self {
        Self::new(
            table
                .iter()
                .map(|route| (route.method().clone(), route.path())),
        )
    }
}

/// Returns the OpenAPI 3.1 document of the interface on a chain with this vendor word.
pub fn openapi_document(vendor: &Vendor) -> Value {
    openapi::document(vendor, &documented(&routes::table()))
}

/// Returns every response that the interface declares: for each route its successes and each pair
/// of status and `error_code` of its errors, once.
pub fn declared_responses() -> Vec<DeclaredResponse> {
    openapi::declared_responses(&documented(&routes::table()))
}

fn documented(table: &[Route]) -> Vec<DocumentedRoute<'_>> {
    let documented = table.iter().map(|route| DocumentedRoute {
        method: route.method().as_str(),
        path: route.path(),
        operation: route.operation(),
    });
    documented.collect()
}

/// Creates the service of the routes of a table. Each worker thread has a router of its own.
fn service(
    table: fn() -> Vec<Route>,
    state: &ApiState,
) -> impl ServiceFactory<
    ServiceRequest,
    Config = (),
    Response = ServiceResponse,
    Error = Error,
    InitError = (),
> + use<> {
    let state = state.clone();
    fn_factory(move || {
        let (state, notifier) = state.for_thread();
        async move {
            actix_web::rt::spawn(notifier);
            let router = Rc::new(Router::new(table(), state));
            Ok(fn_service(move |request| {
                Rc::clone(&router).serve(request).map(Ok).boxed_local()
            }))
        }
    })
}

/// Methods of the routes, which web pages may use.
const METHODS: [Method; 3] = [Method::GET, Method::HEAD, Method::POST];

/// The router of one listener on one worker thread.
struct Router {
    /// The thread's own handles: a reference count that threads share would be contended.
    state: Rc<ApiState>,
    in_flight: Rc<ThreadLimits>,
    traffic: TrafficRecorder,
    paths: Paths,
    cors: BrowserCors,
}

impl Router {
    fn new(table: Vec<Route>, state: ApiState) -> Self {
        // The OpenAPI document declares `Retry-After` for 503, so web pages must see it too.
        let exposed = state.headers.names().chain([RETRY_AFTER]);
        Self {
            cors: BrowserCors::new(&METHODS, exposed),
            paths: Paths::new(table, &state.route_meters),
            in_flight: state.in_flight.for_thread(),
            traffic: state.traffic.recorder(),
            state: Rc::new(state),
        }
    }

    /// Serves a request.
    ///
    /// Responds with 404 if no route has the path, with 405 if none of the path has the method,
    /// with 403, 414 or 503 if the request is not admitted, with 403 if a switch is off, and with
    /// 503 if the ledger of this node differs from the one of the validators.
    async fn serve(self: Rc<Self>, request: ServiceRequest) -> ServiceResponse {
        let path = request.match_info().as_str();
        if !is_below_root(path) {
            let error = no_route(request.path());
            return request.into_response(error.response());
        }
        let target = self.paths.find(path, request.method());
        let (pattern, meter) = (
            target.pattern(),
            target.route().map(|metered| metered.meter),
        );
        let operation = target.route().map(|metered| metered.route.operation());
        // An operation that does not always respond is rejected in a format that is disabled.
        let depends_on_accept = operation.is_some_and(|operation| !operation.always_answers);
        let is_head = *request.method() == Method::HEAD;
        let origin = request.headers().get(ORIGIN).cloned();
        let is_preflight = origin.is_some() && cors::is_preflight(request.head());
        let vary_names = vary::names(depends_on_accept, origin.is_some());

        let peer = request.request().peer_addr().map(|peer| peer.ip());
        let proxies = &self.state.config.trusted_proxies;
        let address = peer.map(|peer| client_address(peer, request.headers(), proxies));
        let client = address.map_or(ClientKey::NODE, |address| {
            self.state.client_keys.key_of(address)
        });
        let trace = RequestTrace::start(request.headers(), address);
        let work = self.traffic.sample(trace.started_at()).map(Rc::new);
        let stages = async {
            if is_preflight {
                let response = self.cors.preflight(request.head());
                return request.into_response(response);
            }
            let permits = match self.admit(request.request(), address) {
                Ok(permits) => permits,
                Err(error) => return request.into_response(error.response()),
            };
            let mut response = match target {
                Target::Route(metered) => {
                    let context = |request| {
                        let (state, work) = (Rc::clone(&self.state), work.clone());
                        RequestContext::new(state, request, client, is_head, work)
                    };
                    self.call(&metered.route, request, context).await
                }
                Target::WrongMethod(path) => {
                    let error = ErrorKind::MethodNotAllowed(path.allowed_methods());
                    request.into_response(error.response())
                }
                Target::NoPath => {
                    let error = no_route(request.path());
                    request.into_response(error.response())
                }
            };
            if self.state.config.compression_enabled {
                response = compression::compress(&self.state, client, response).await;
            }
            if is_head {
                response = head::without_body(response);
            }
            // Last, because the permits are released when the body in its final form has been sent.
            admission::attach_permits(&self.state.responses, client, response, permits)
        };
        // Pinned here: a future that is passed by value would take its memory twice.
        let stages = pin!(stages);
        let measured = RequestWork::measure(work.as_deref(), stages);
        let mut response = trace.in_scope(measured).await;

        if let Some(origin) = origin.filter(|_| !is_preflight) {
            self.cors.add_headers(origin, response.headers_mut());
        }
        if let Some(names) = vary_names {
            vary::add(response.headers_mut(), names);
        }
        let took = trace.finish(self.state.headers.client(), (ROOT, pattern), &response);
        let meters = &self.state.route_meters;
        meters.record(meter, response.status(), took);
        if let Some(work) = &work {
            let is_rejected = is_rejection(response.status());
            self.traffic.record(work, address, is_rejected);
        }
        response
    }

    /// Acquires the permits of a request of the client at this address.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::AddressDenied`] (403) or an error of [`admission::admit`].
    fn admit(
        &self,
        request: &HttpRequest,
        address: Option<IpAddr>,
    ) -> Result<RequestPermits, ErrorKind> {
        if let Some(address) = address {
            self.state.denied_addresses.check(address)?;
        }
        admission::admit(&self.in_flight, request, address)
    }

    /// Checks the switches and the ledger, and runs the handler of a route.
    async fn call(
        &self,
        route: &Route,
        request: ServiceRequest,
        context: impl FnOnce(HttpRequest) -> RequestContext,
    ) -> ServiceResponse {
        let operation = route.operation();
        let (request, mut payload) = request.into_parts();
        if operation.request.is_empty() {
            // The handler reads no body: discard it now instead of holding it until the response.
            payload = Payload::None;
        }
        let context = context(request.clone());
        let body_lease = Arc::clone(&context.body_lease);
        let allowed = check_switches(&self.state.switches, operation, context.format)
            .and_then(|()| check_ledger(&self.state.node, operation));
        let result = match allowed {
            Ok(()) => (route.handler())(context, payload).await,
            Err(error) => Err(error.into()),
        };
        let response = match result {
            Ok(mut response) => {
                if body_lease.bytes() > 0 {
                    response.extensions_mut().insert(BodyLease(body_lease));
                }
                assert_declares_success(operation, &response);
                response
            }
            Err(error) => {
                assert_declares_error(operation, &error);
                let head = self.state.node.head();
                error.response(&self.state.headers, head.ledger_info())
            }
        };
        ServiceResponse::new(request, response)
    }
}

/// Returns whether a response rejects its request. A path or a version that the ledger does not
/// have is an answer.
fn is_rejection(status: StatusCode) -> bool {
    let is_error = status.is_client_error() || status.is_server_error();
    is_error && ![StatusCode::NOT_FOUND, StatusCode::GONE].contains(&status)
}

/// Returns whether a path is [`ROOT`] or below it.
fn is_below_root(path: &str) -> bool {
    let below = path.strip_prefix(ROOT);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Checks that the operator has enabled the format of the response and the operation.
///
/// # Errors
///
/// Returns [`ErrorKind::ApiDisabled`] if one of them is disabled.
fn check_switches(
    switches: &Switches,
    operation: &Operation,
    format: Format,
) -> Result<(), ErrorKind> {
    if !operation.always_answers {
        switches.require(match format {
            Format::Json => Switch::JsonOutput,
            Format::Bcs => Switch::BcsOutput,
        })?;
    }
    operation
        .switch
        .map_or(Ok(()), |switch| switches.require(switch))
}

/// Checks that a response may show the ledger of this node.
///
/// # Errors
///
/// Returns [`ErrorKind::Unwritable`] if the ledger differs from the one of the validators, unless
/// the operation is about the node.
fn check_ledger(node: &NodeHandle, operation: &Operation) -> Result<(), ErrorKind> {
    if operation.always_answers {
        return Ok(());
    }
    node.diverged()
        .map_or(Ok(()), |cause| Err(ErrorKind::Unwritable(cause)))
}

/// Asserts, in builds with debug assertions, that the operation declares the response's status.
fn assert_declares_success(operation: &Operation, response: &HttpResponse) {
    debug_assert!(
        operation.declares_success(response.status().as_u16()),
        "{} does not declare {}",
        operation.id,
        response.status()
    );
}

/// Asserts, in builds with debug assertions, that the operation declares the error's status and
/// code.
fn assert_declares_error(operation: &Operation, error: &ApiError) {
    let (status, code) = error.row();
    debug_assert!(
        operation.declares_error(status.as_u16(), code),
        "{} does not declare {status} {code:?}",
        operation.id
    );
}
