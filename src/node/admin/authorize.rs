//! Authorization of requests: `Host` and `Origin` headers, token or session, and CSRF token.
//!
//! The connection of a rejected request is closed, and that of the login too. Otherwise clients
//! without the token could hold all connections of the listener.
//!
//! A response without an end, such as a stream of events, ends with the session of its request or
//! with a change of the token.
//!
//! The probes need nothing: a kubelet has no token, and sends the address of the pod as `Host`.
//! They state only which check fails.

use super::{
    context::{Admin, BODY_BYTES_MAX, error_response},
    served_body::end_with_right,
};
use crate::access::{Denial, Gate, Requester};
use actix_web::{
    Error, HttpMessage as _, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    error::PayloadError,
    http::{
        ConnectionType, Method, StatusCode,
        header::{ACCEPT, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE},
        uri::Authority,
    },
    middleware::Next,
    web::{Bytes, Data},
};
use futures::stream;
use ledger_api::{ErrorCode, UnencodedBody};
use std::{future::ready, time::Instant};

/// Challenge of a 401 response (RFC 6750, section 3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"admin\"");
/// Header with the CSRF token of a script.
const CSRF_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");
/// Field of a form with the CSRF token of its page.
pub const CSRF_FIELD: &str = "csrf_token";
/// Media type of a form's body.
const FORM: &str = "application/x-www-form-urlencoded";
/// Path of the login.
const LOGIN: &str = "/login";
/// Paths of the probes.
const PROBES: [&str; 2] = ["/livez", "/readyz"];

/// Passes a request to its route if its headers are accepted. The route finds the [`Requester`] in
/// the extensions of the request, except for probes, the login and its files.
///
/// Responds with 403 to a foreign `Host` or `Origin`, or to a change by a page without its CSRF
/// token, and with 401 if token and session are missing. A browser is redirected to the login
/// instead.
///
/// # Errors
///
/// Returns the error of the route.
pub async fn authorize<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Some(admin) = request.app_data::<Data<Admin>>().cloned() else {
        let response = error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            "the listener has no access policy",
        );
        return Ok(request.into_response(response));
    };
    let gate = &admin.gate;
    match admit(gate, &mut request).await {
        Err(response) => {
            let mut response = request.into_response(response);
            close(&mut response);
            Ok(response)
        }
        Ok(Some(requester)) => {
            request.extensions_mut().insert(requester.clone());
            let response = next.call(request).await?;
            Ok(end_with_right(response, gate.clone(), requester))
        }
        Ok(None) => {
            let mut response = next.call(request).await?.map_into_boxed_body();
            close(&mut response);
            Ok(response)
        }
    }
}

/// Closes the connection after a response.
fn close<B>(response: &mut ServiceResponse<B>) {
    let head = response.response_mut().head_mut();
    head.set_connection_type(ConnectionType::Close);
}

/// Returns the client on whose behalf a request is served, or `None` for a request that needs no
/// authorization.
///
/// # Errors
///
/// Returns the response to a request that is rejected.
async fn admit(
    gate: &Gate,
    request: &mut ServiceRequest,
) -> Result<Option<Requester>, HttpResponse> {
    let path = request.path();
    if PROBES.contains(&path) {
        return Ok(None);
    }
    let authority = request.uri().authority().map(Authority::as_str);
    if let Err(message) = gate.policy().check(authority, request.headers()) {
        gate.count_denial(Denial::Foreign);
        return Err(forbidden(message));
    }
    let peer = request.peer_addr().map(|peer| peer.ip());
    let requester = gate.requester(request.headers(), peer, Instant::now());
    // The files of the login page.
    if path == LOGIN || path.starts_with("/assets/") {
        return Ok(requester);
    }
    let Some(requester) = requester else {
        gate.count_denial(Denial::Unauthorized);
        return Err(unauthorized(request));
    };
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && requester.needs_csrf_token(request.headers()) {
        let given = csrf_token_of(request).await;
        requester
            .check_change(request.headers(), given.as_deref())
            .map_err(|message| {
                gate.count_denial(Denial::Csrf);
                forbidden(message)
            })?;
    }
    Ok(Some(requester))
}

/// Returns the CSRF token in the header or the form of a request.
async fn csrf_token_of(request: &mut ServiceRequest) -> Option<String> {
    if let Some(given) = request.headers().get(CSRF_HEADER) {
        return given.to_str().ok().map(str::to_owned);
    }
    if !request.content_type().eq_ignore_ascii_case(FORM) {
        return None;
    }
    let UnencodedBody(body) = request
        .extract::<UnencodedBody<BODY_BYTES_MAX>>()
        .await
        .ok()?;
    let body = body.ok()?;
    let mut fields = form_urlencoded::parse(&body);
    let given = fields.find(|(name, _)| name == CSRF_FIELD);
    let given = given.map(|(_, value)| value.into_owned());
    // The route reads the body again.
    let body = stream::once(ready(Ok::<Bytes, PayloadError>(body)));
    request.set_payload(Payload::Stream {
        payload: Box::pin(body),
    });
    given
}

fn forbidden(message: impl Into<String>) -> HttpResponse {
    error_response(StatusCode::FORBIDDEN, ErrorCode::WebFrameworkError, message)
}

/// Returns the response to a request that has neither the token nor a session.
fn unauthorized(request: &ServiceRequest) -> HttpResponse {
    let accept = request.headers().get(ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok()).unwrap_or("");
    if *request.method() == Method::GET && accept.contains("text/html") {
        return HttpResponse::SeeOther()
            .insert_header((LOCATION, LOGIN))
            .finish();
    }
    let mut response = error_response(
        StatusCode::UNAUTHORIZED,
        ErrorCode::WebFrameworkError,
        "the header \"Authorization: Bearer TOKEN\" with the token of admin.token_file is required",
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    response
}
