//! CORS headers that let web pages of every origin use the interface, as on the reference node
//! (docs/reference/reference-node.md#r1).
//!
//! The interface is public and does not authenticate callers, so a page gains nothing from its
//! visitor. Credentials are allowed because the SDKs always send them in browsers.
//!
//! Responses to requests without an `Origin` header, which other programs send, have none of these
//! headers: they would add a few hundred bytes to each response, and their share to the cost of the
//! request.

use super::vary;
use crate::error::ErrorKind;
use actix_web::{
    Error, HttpResponse,
    body::{EitherBody, MessageBody},
    dev::{RequestHead, Service, ServiceRequest, ServiceResponse, Transform},
    http::{
        Method,
        header::{
            ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
            ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, HeaderValue, ORIGIN,
        },
    },
};
use futures::future::{FutureExt as _, LocalBoxFuture, Ready, ready};
use std::task::{Context, Poll};

/// Time in which a browser may reuse the response to a preflight request, in seconds. Browsers
/// limit it to one or two hours.
static MAX_AGE_SECS: HeaderValue = HeaderValue::from_static("3600");

static TRUE: HeaderValue = HeaderValue::from_static("true");

/// Request headers that CORS headers depend on.
static VARY_NAMES: HeaderValue = HeaderValue::from_static(
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
);

/// Returns whether a request with an `Origin` is a preflight request: the question of a browser
/// whether a page may send another request.
pub(crate) fn is_preflight(request: &RequestHead) -> bool {
    request.method == Method::OPTIONS
}

/// Returns the method of the request that follows a preflight request.
fn requested_method(request: &RequestHead) -> Option<Method> {
    let value = request.headers().get(ACCESS_CONTROL_REQUEST_METHOD)?;
    Method::try_from(value.to_str().ok()?).ok()
}

/// Returns the value of a header that lists names of methods or headers.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> HeaderValue {
    let names: Vec<_> = names.collect();
    HeaderValue::try_from(names.join(", ")).expect("names and separators are valid in a header")
}

/// Adds the headers of every response to a page of `origin`.
fn allow_origin(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE.clone());
    vary::add(headers, VARY_NAMES.clone());
}

/// CORS headers of a listener. As a middleware of actix-web, it also responds to preflight
/// requests.
#[derive(Clone, Debug)]
pub struct BrowserCors {
    /// Methods that pages may use.
    methods: &'static [Method],
    /// The same as the value of a header, and as a part of a message.
    methods_value: HeaderValue,
    methods_text: String,
    /// Names of the response headers that pages may read beside those that browsers always show.
    exposed: Option<HeaderValue>,
}

impl BrowserCors {
    /// Creates the headers of a listener. Its routes have `methods`, and pages may read the headers
    /// `exposed` of its responses.
    pub fn new(methods: &'static [Method], exposed: impl IntoIterator<Item = HeaderName>) -> Self {
        let names: Vec<_> = exposed.into_iter().collect();
        let exposed = list(names.iter().map(HeaderName::as_str));
        let methods_text: Vec<_> = methods.iter().map(Method::as_str).collect();
        Self {
            methods,
            methods_value: list(methods.iter().map(Method::as_str)),
            methods_text: methods_text.join(", "),
            exposed: Some(exposed).filter(|value| !value.is_empty()),
        }
    }

    /// Returns the response to a preflight request. Responds with 403 if it names no method that
    /// pages may use.
    pub(crate) fn preflight(&self, request: &RequestHead) -> HttpResponse {
        if !requested_method(request).is_some_and(|method| self.methods.contains(&method)) {
            return ErrorKind::MethodOfPage(self.methods_text.clone()).response();
        }
        let mut response = HttpResponse::Ok().finish();
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, self.methods_value.clone());
        headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECS.clone());
        if let Some(names) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        if let Some(origin) = request.headers().get(ORIGIN) {
            allow_origin(origin.clone(), headers);
        }
        response
    }

    /// Adds the headers of a response to a page of `origin`, unless it is one to a preflight
    /// request.
    pub(crate) fn add_headers(&self, origin: HeaderValue, headers: &mut HeaderMap) {
        if let Some(exposed) = &self.exposed {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
        allow_origin(origin, headers);
    }
}

impl<S, B> Transform<S, ServiceRequest> for BrowserCors
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error, Future: 'static>,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = BrowserCorsService<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let cors = self.clone();
        ready(Ok(BrowserCorsService { cors, service }))
    }
}

/// A service whose responses to pages have CORS headers.
#[derive(Debug)]
pub struct BrowserCorsService<S> {
    cors: BrowserCors,
    service: S,
}

impl<S, B> Service<ServiceRequest> for BrowserCorsService<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error, Future: 'static>,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self::Response, Error>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.service.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let origin = request.headers().get(ORIGIN).cloned();
        if origin.is_some() && is_preflight(request.head()) {
            let response = self.cors.preflight(request.head());
            let response = request.into_response(response).map_into_right_body();
            return ready(Ok(response)).boxed_local();
        }
        let (cors, response) = (self.cors.clone(), self.service.call(request));
        let with_headers = async move {
            let mut response = response.await?;
            if let Some(origin) = origin {
                cors.add_headers(origin, response.headers_mut());
            }
            Ok(response.map_into_left_body())
        };
        with_headers.boxed_local()
    }
}
