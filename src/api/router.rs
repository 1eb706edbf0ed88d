//! The way of a request below `/v1` from the server to its handler and back.
//!
//! One service stands for all routes. The framework's own composition, a boxed service for each layer, path, method and
//! handler with a regular expression for each path, took as long as a small answer itself.

use crate::{
    context::{ApiState, ROOT, RequestContext},
    error::{ApiError, ErrorKind, no_route, wrong_method},
    limits::{
        Switch,
        route_meters::{RouteMeterId, RouteMeters},
    },
    middleware::{
        admission::{self, BodyLease},
        compression,
        cors::cors,
        trace::RequestTrace,
        vary,
    },
    model::format::Format,
    routes::{self, Handler, Route},
};
use actix_web::{
    Error, HttpResponse,
    body::MessageBody,
    dev::{
        Payload, Service, ServiceFactory, ServiceRequest, ServiceResponse, Transform as _,
        fn_factory, fn_service,
    },
    http::header::{ORIGIN, RETRY_AFTER},
    web::{self, ServiceConfig},
};
use futures::future::{Either, FutureExt as _, LocalBoxFuture, TryFutureExt as _, ready};
use matchit::Router;
use std::{rc::Rc, sync::Arc};

/// What a service says of a request.
type Served = Result<ServiceResponse, Error>;

/// A route with its counters.
struct MeteredRoute {
    route: Route,
    meter: RouteMeterId,
}

/// The routes of one path.
struct Path {
    /// Below [`ROOT`], with its parameters in braces.
    pattern: &'static str,
    /// One for each method.
    routes: Vec<Rc<MeteredRoute>>,
}

/// The path and the route of a request, as far as the table has them.
struct Target {
    path: Option<Rc<Path>>,
    /// The route of the path that has the request's method.
    route: Option<Rc<MeteredRoute>>,
}

impl Path {
    /// The methods, as the header `Allow` has them.
    fn allowed(&self) -> String {
        let names: Vec<_> = self
            .routes
            .iter()
            .map(|metered| metered.route.method().as_str())
            .collect();
        names.join(", ")
    }
}

/// The paths of a table.
///
/// # Panics
/// When two patterns of the table fit the same paths.
fn paths(table: Vec<Route>, meters: &RouteMeters) -> Router<Rc<Path>> {
    let mut paths: Vec<Path> = Vec::new();
    for route in table {
        let meter = meters.id_of(route.method(), route.path());
        let pattern = route.path();
        let metered = Rc::new(MeteredRoute { route, meter });
        match paths.iter_mut().find(|path| path.pattern == pattern) {
            Some(path) => path.routes.push(metered),
            None => paths.push(Path {
                pattern,
                routes: vec![metered],
            }),
        }
    }
    let mut router = Router::new();
    for path in paths {
        let inserted = router.insert(format!("{ROOT}{}", path.pattern), Rc::new(path));
        inserted.expect("each path fits one pattern");
    }
    router
}

/// The routes of a listener, on one thread.
struct Dispatch {
    state: Rc<ApiState>,
    paths: Router<Rc<Path>>,
}

impl Dispatch {
    /// Returns the path and the route of a request.
    fn find(&self, request: &ServiceRequest) -> Target {
        let path = self.paths.at(request.match_info().as_str()).ok();
        let path = path.map(|found| Rc::clone(found.value));
        let mut routes = path.iter().flat_map(|path| &path.routes);
        let route = routes.find(|metered| metered.route.method() == request.method());
        Target {
            route: route.cloned(),
            path,
        }
    }

    /// Serves a request within its trace span, adds `Vary` to the response, and counts it in the
    /// route's meter. Responds with 404 if the path is not below [`ROOT`].
    ///
    /// Requests of web pages, which have an `Origin`, are served by `pages`, which answers their
    /// preflight requests.
    fn trace<S, B>(
        self: &Rc<Self>,
        request: ServiceRequest,
        pages: &S,
    ) -> LocalBoxFuture<'static, Served>
    where
        S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error, Future: 'static>,
        B: MessageBody + 'static,
    {
        let below = request.match_info().as_str().strip_prefix(ROOT);
        if !below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
            let problem = no_route(request.path());
            return ready(Ok(request.into_response(problem.response()))).boxed_local();
        }
        let visit = RequestTrace::begin(request.headers());
        let target = self.find(&request);
        let pattern = target.path.as_ref().map(|path| path.pattern);
        let route = target.route.as_deref();
        let meter = route.map(|metered| metered.meter);
        // An operation that does not always answer is refused in a form that the operator has
        // turned off.
        let depends_on_accept =
            route.is_some_and(|metered| !metered.route.operation().always_answers);
        let has_origin = request.headers().contains_key(ORIGIN);
        let vary_names = vary::names(depends_on_accept, has_origin);
        let (dispatch, state) = (Rc::clone(self), Rc::clone(&self.state));
        let answered = if has_origin {
            let answered = pages.call(request);
            Either::Left(answered.map_ok(ServiceResponse::map_into_boxed_body))
        } else {
            Either::Right(async move { dispatch.serve(request, target).await })
        };
        let traced = async move {
            let mut response = visit.within(answered).await?;
            if let Some(names) = vary_names {
                vary::add(response.headers_mut(), names);
            }
            let took = visit.end(state.headers().client(), (ROOT, pattern), &response);
            state.route_meters().record(meter, response.status(), took);
            Ok(response)
        };
        traced.boxed_local()
    }

    /// Serves a request that takes a place.
    async fn serve(&self, request: ServiceRequest, target: Target) -> Served {
        let permits = match admission::acquire_permits(&self.state, &request) {
            Ok(permits) => permits,
            Err(refused) => return Ok(request.into_response(refused.response())),
        };
        let answered = self.answer(request, target).await;
        let answered = compression::compress(&self.state, answered).await;
        // Last: a request holds its permits until its response is sent, in whatever form.
        Ok(admission::attach_permits(&self.state, answered, permits))
    }

    async fn answer(&self, request: ServiceRequest, target: Target) -> ServiceResponse {
        let Some(path) = target.path else {
            let problem = no_route(request.path());
            return request.into_response(problem.response());
        };
        let Some(metered) = target.route else {
            let problem = ErrorKind::MethodNotAllowed(path.allowed());
            return request.into_response(problem.response());
        };
        let route = &metered.route;
        let (request, mut payload) = request.into_parts();
        if route.operation().request.is_empty() {
            // What comes although nothing is read of it is thrown away, and not kept until the answer.
            payload = Payload::None;
        }
        let cx = RequestContext {
            state: Rc::clone(&self.state),
            pattern: path.pattern,
            operation: Rc::clone(route.operation()),
            format: Format::from_accept(request.headers()),
            request: request.clone(),
            payload,
            body_lease: Arc::new(self.state.bodies().lease()),
        };
        ServiceResponse::new(request, respond(cx, route.handler()).await)
    }
}

/// # Panics
/// In builds with debug assertions, when the answer is one that the operation does not declare.
async fn respond(cx: RequestContext, handler: &Handler) -> HttpResponse {
    let (state, operation) = (Rc::clone(&cx.state), Rc::clone(&cx.operation));
    let body_lease = Arc::clone(&cx.body_lease);
    match handled(cx, handler).await {
        Ok(mut response) => {
            if body_lease.bytes() > 0 {
                response.extensions_mut().insert(BodyLease(body_lease));
            }
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
                operation.declares_error(status, code),
                "{} does not declare {status} {code:?}",
                operation.id
            );
            error.response(state.headers())
        }
    }
}

/// What the handler says, where answers in the form that is asked for are on.
async fn handled(cx: RequestContext, handler: &Handler) -> Result<HttpResponse, ApiError> {
    if !cx.operation.always_answers {
        cx.state.require(Switch::of_output(cx.format()))?;
    }
    handler(cx).await
}

/// Adds the interface below `/v1` to an actix app, and answers with the error body wherever the
/// app has no route.
pub fn configure(config: &mut ServiceConfig, state: &ApiState) {
    let home = web::resource("/").route(web::get().to(routes::home));
    config.service(home.default_service(wrong_method("GET")));
    config.default_service(dispatch(routes::table, state));
}

/// Adds only the GraphQL query, and answers with the error body everywhere else: clients of a local network
/// look for an indexer at a port of its own.
pub fn configure_graphql(config: &mut ServiceConfig, state: &ApiState) {
    config.default_service(dispatch(|| vec![routes::graphql_route()], state));
}

/// Serves the routes of a table, with what stands around all of them; what is elsewhere is unknown.
fn dispatch(
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
        let (state, telling) = state.for_thread();
        async move {
            actix_web::rt::spawn(telling);
            let dispatch = Rc::new(Dispatch {
                paths: paths(table(), state.route_meters()),
                state: Rc::new(state),
            });
            // Pages are to wait as long as a 503 says, which is what the document tells all clients.
            let exposed = dispatch.state.headers().names().chain([RETRY_AFTER]);
            let serving = Rc::clone(&dispatch);
            let serve = fn_service::<_, _, _, _, _, ()>(move |request| {
                let dispatch = Rc::clone(&serving);
                let target = dispatch.find(&request);
                async move { dispatch.serve(request, target).await }.boxed_local()
            });
            // Around admission: a browser's preflight request takes no place.
            let pages = Rc::new(cors(exposed).new_transform(serve).await?);
            Ok(fn_service(move |request| dispatch.trace(request, &*pages)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::table;

    fn found(path: &str) -> Option<&'static str> {
        let paths = paths(table(), &RouteMeters::new(&table()));
        paths.at(path).ok().map(|found| found.value.pattern)
    }

    #[test]
    fn every_route_is_found_by_the_paths_that_fit_its_pattern() {
        for route in table() {
            let parts = route.path().split('/');
            let filled = parts.map(|part| if part.starts_with('{') { "7" } else { part });
            let path = format!("{ROOT}{}", filled.collect::<Vec<_>>().join("/"));
            assert_eq!(found(&path), Some(route.path()));
        }
    }

    #[test]
    fn no_route_is_found_by_the_paths_that_only_resemble_one() {
        for path in [
            "/",
            "/transactions",
            "/v1/transactions/",
            "/v1//transactions",
            "/v1/transactions/by_hash",
            "/v1/transactions/by_hash/",
            "/v1/transactions/by_hash/7/8",
            "/v1/accounts//balance/7",
            "/v1/Transactions",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
    }
}
