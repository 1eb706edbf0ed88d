//! CORS headers that let pages of every origin use the interface, as on the reference node
//! (docs/reference/reference-node.md#r1).
//!
//! The interface is public and does not authenticate callers, so a page gains nothing from its
//! visitor. Credentials are allowed because the SDKs always send them in browsers.
//!
//! Requests without an `Origin` header, which other programs send, bypass the middleware: the
//! headers would add a few hundred bytes to each response, and their share to the cost of the
//! request.

use actix_cors::{Cors, CorsMiddleware};
use actix_web::{
    Error,
    body::{EitherBody, MessageBody},
    dev::{Service, ServiceRequest, ServiceResponse, Transform},
    http::header::{HeaderName, ORIGIN},
};
use futures::future::{Either, FutureExt as _, LocalBoxFuture, MapOk, TryFutureExt as _};
use std::{
    rc::Rc,
    task::{Context, Poll},
};

/// How long a browser may remember the answer to its question before a request, in seconds; browsers
/// keep it no longer than one or two hours.
const MAX_AGE_SECS: usize = 3600;

/// The answers to browsers: GET and POST from any origin with any header, and `exposed` of the answers'
/// headers to be read.
pub fn cors(exposed: impl IntoIterator<Item = HeaderName>) -> BrowserCors {
    let cors = Cors::default()
        .allow_any_origin()
        .allowed_methods(["GET", "POST"])
        .allow_any_header()
        .expose_headers(exposed.into_iter().collect::<Vec<_>>())
        .supports_credentials()
        .max_age(MAX_AGE_SECS);
    BrowserCors(cors)
}

/// Middleware for requests that name an origin, as those of web pages do.
#[derive(Debug)]
pub struct BrowserCors(Cors);

impl<S, B> Transform<S, ServiceRequest> for BrowserCors
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = BrowserCorsService<S>;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let service = Rc::new(service);
        let pages = self.0.new_transform(Rc::clone(&service));
        let both = pages.map_ok(move |pages| BrowserCorsService {
            pages,
            others: service,
        });
        both.boxed_local()
    }
}

/// The service as pages see it, and as all others do.
#[derive(Debug)]
pub struct BrowserCorsService<S> {
    pages: CorsMiddleware<Rc<S>>,
    others: Rc<S>,
}

impl<S, B> Service<ServiceRequest> for BrowserCorsService<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Either<
        LocalBoxFuture<'static, Result<Self::Response, Error>>,
        MapOk<S::Future, fn(ServiceResponse<B>) -> Self::Response>,
    >;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.others.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        if request.headers().contains_key(ORIGIN) {
            return Either::Left(self.pages.call(request).boxed_local());
        }
        let answered = self.others.call(request);
        Either::Right(answered.map_ok(ServiceResponse::map_into_left_body))
    }
}
