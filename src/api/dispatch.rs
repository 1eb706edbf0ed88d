//! The way of a request below `/v1` from the server to its handler and back.
//!
//! One service stands for all routes. The framework's own composition, a boxed service for each layer, path, method and
//! handler with a regular expression for each path, took as long as a small answer itself.

use crate::{
    admission::{self, HeldByBody},
    call::Call,
    compression,
    cors::cors,
    error::{ApiError, Problem},
    fallback::no_route,
    format::Format,
    meter::{RouteMeters, Row},
    routes::{Handler, Route},
    state::ApiState,
    switches::Switch,
    trace::Visit,
    vary,
};
use actix_web::{
    Error, HttpResponse,
    body::MessageBody,
    dev::{
        Payload, Service, ServiceFactory, ServiceRequest, ServiceResponse, Transform as _, fn_factory,
        fn_service,
    },
    http::header::{ORIGIN, RETRY_AFTER},
};
use futures::future::{FutureExt as _, LocalBoxFuture, ready};
use matchit::Router;
use std::{rc::Rc, sync::Arc};

/// What a service says of a request.
type Served = Result<ServiceResponse, Error>;

/// What all routes are below.
pub(crate) const ROOT: &str = "/v1";

/// A path with its parameters in braces, and what is answered there.
struct Path {
    /// Below [`ROOT`].
    pattern: &'static str,
    /// One for each method.
    routes: Vec<(Route, Row)>,
}

impl Path {
    /// The methods, as the header `Allow` has them.
    fn allowed(&self) -> String {
        let names: Vec<_> = self
            .routes
            .iter()
            .map(|(route, _)| route.method().as_str())
            .collect();
        names.join(", ")
    }
}

/// The paths of a table.
///
/// # Panics
/// When two patterns of the table fit the same paths.
fn paths(table: Vec<Route>, meters: &RouteMeters) -> Router<Path> {
    let mut paths: Vec<Path> = Vec::new();
    for route in table {
        let row = meters.row(route.method(), route.path());
        match paths.iter_mut().find(|path| path.pattern == route.path()) {
            Some(path) => path.routes.push((route, row)),
            None => paths.push(Path {
                pattern: route.path(),
                routes: vec![(route, row)],
            }),
        }
    }
    let mut router = Router::new();
    for path in paths {
        let inserted = router.insert(format!("{ROOT}{}", path.pattern), path);
        inserted.expect("each path fits one pattern");
    }
    router
}

/// The routes of a listener, on one thread.
struct Dispatch {
    state: Rc<ApiState>,
    paths: Router<Path>,
}

impl Dispatch {
    /// What is at the path of a request, and what its method is answered by there.
    fn find(&self, request: &ServiceRequest) -> (Option<&Path>, Option<&(Route, Row)>) {
        let path = self
            .paths
            .at(request.match_info().as_str())
            .ok()
            .map(|found| found.value);
        let mut routes = path.iter().flat_map(|path| &path.routes);
        let route = routes.find(|(route, _)| route.method() == request.method());
        (path, route)
    }

    /// Serves a request with `serve` within its trace span, adds `Vary` to the response, and counts
    /// it in the route's meter. Responds with 404 if the path is not below [`ROOT`].
    fn trace<S, B>(&self, request: ServiceRequest, serve: &S) -> LocalBoxFuture<'static, Served>
    where
        S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error, Future: 'static>,
        B: MessageBody + 'static,
    {
        let below = request.match_info().as_str().strip_prefix(ROOT);
        if !below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
            let problem = no_route(request.path());
            return ready(Ok(request.into_response(problem.response()))).boxed_local();
        }
        let visit = Visit::begin(request.headers());
        let (path, route) = self.find(&request);
        let (pattern, row) = (path.map(|path| path.pattern), route.map(|(_, row)| *row));
        // An operation that does not always answer is refused in a form that the operator has
        // turned off.
        let depends_on_accept = route.is_some_and(|(route, _)| !route.operation().always_answers);
        let vary_names = vary::names(depends_on_accept, request.headers().contains_key(ORIGIN));
        let answered = serve.call(request);
        let state = Rc::clone(&self.state);
        let traced = async move {
            let mut response = visit.within(answered).await?.map_into_boxed_body();
            if let Some(names) = vary_names {
                vary::add(response.headers_mut(), names);
            }
            let took = visit.end(state.headers().client(), (ROOT, pattern), &response);
            state.route_meters().answered(row, response.status(), took);
            Ok(response)
        };
        traced.boxed_local()
    }

    /// Serves a request that takes a place.
    async fn serve(&self, request: ServiceRequest) -> Served {
        let places = match admission::places(&self.state, &request) {
            Ok(places) => places,
            Err(refused) => return Ok(request.into_response(refused.response())),
        };
        let answered = self.answer(request).await;
        let answered = compression::compress(&self.state, answered).await;
        // Last: a request keeps its places until its answer was sent in whatever form.
        Ok(admission::hold(&self.state, answered, places))
    }

    async fn answer(&self, request: ServiceRequest) -> ServiceResponse {
        let (path, route) = self.find(&request);
        let Some(path) = path else {
            let problem = no_route(request.path());
            return request.into_response(problem.response());
        };
        let Some((route, _)) = route else {
            let problem = Problem::MethodNotAllowed(path.allowed());
            return request.into_response(problem.response());
        };
        let (request, mut payload) = request.into_parts();
        if route.operation().request.is_empty() {
            // What comes although nothing is read of it is thrown away, and not kept until the answer.
            payload = Payload::None;
        }
        let call = Call {
            state: Rc::clone(&self.state),
            pattern: path.pattern,
            operation: Rc::clone(route.operation()),
            format: Format::from_accept(request.headers()),
            request: request.clone(),
            payload,
            held: Arc::new(self.state.bodies().share()),
        };
        ServiceResponse::new(request, respond(call, route.handler()).await)
    }
}

/// # Panics
/// In builds with debug assertions, when the answer is one that the operation does not declare.
async fn respond(call: Call, handler: &Handler) -> HttpResponse {
    let (state, operation) = (Rc::clone(&call.state), Rc::clone(&call.operation));
    let held = Arc::clone(&call.held);
    match handled(call, handler).await {
        Ok(mut response) => {
            if held.bytes() > 0 {
                response.extensions_mut().insert(HeldByBody(held));
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
                operation.declares_refusal(status, code),
                "{} does not declare {status} {code:?}",
                operation.id
            );
            error.response(state.headers())
        }
    }
}

/// What the handler says, where answers in the form that is asked for are on.
async fn handled(call: Call, handler: &Handler) -> Result<HttpResponse, ApiError> {
    if !call.operation.always_answers {
        call.state.require(Switch::of_output(call.format()))?;
    }
    handler(call).await
}

/// Serves the routes of a table, with what stands around all of them; what is elsewhere is unknown.
pub(crate) fn dispatch(
    table: fn() -> Vec<Route>,
    state: &ApiState,
) -> impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse, Error = Error, InitError = ()>
+ use<> {
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
                async move { dispatch.serve(request).await }.boxed_local()
            });
            // Around admission: what a browser asks before its request takes no place.
            let serve = Rc::new(cors(exposed).new_transform(serve).await?);
            Ok(fn_service(move |request| dispatch.trace(request, &*serve)))
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
