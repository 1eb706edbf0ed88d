//! Authorization of requests: `Host` and `Origin` headers, and the token.
//!
//! The probes need neither: a kubelet has no token, and sends the address of the pod as `Host`. They
//! state only which check fails.
//!
//! The connection of a rejected request is closed. Otherwise clients without the token could hold
//! all connections of the listener.

use super::context::{Admin, error_response};
use actix_web::{
    Error, HttpResponse,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, StatusCode,
        header::{HeaderValue, WWW_AUTHENTICATE},
    },
    middleware::Next,
    web::Data,
};
use ledger_api::ErrorCode;

/// Challenge of a 401 response (RFC 6750, section 3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"admin\"");

/// Paths of the probes.
const PROBES: [&str; 2] = ["/livez", "/readyz"];

/// Passes a request to its route if its headers are accepted.
///
/// Responds with 403 to a foreign `Host` or `Origin`, and with 401 if the token is missing.
///
/// # Errors
///
/// Returns the error of the route.
pub async fn authorize<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let rejection = match request.app_data::<Data<Admin>>() {
        Some(admin) => rejection(admin, &request),
        None => Some(error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            "the listener has no access policy",
        )),
    };
    match rejection {
        Some(mut response) => {
            response
                .head_mut()
                .set_connection_type(ConnectionType::Close);
            Ok(request.into_response(response).map_into_right_body())
        }
        None => next
            .call(request)
            .await
            .map(ServiceResponse::map_into_left_body),
    }
}

/// Returns the response to a request that is rejected.
fn rejection(admin: &Admin, request: &ServiceRequest) -> Option<HttpResponse> {
    if PROBES.contains(&request.path()) {
        return None;
    }
    if let Err(message) = admin.policy.check(request.headers()) {
        return Some(error_response(
            StatusCode::FORBIDDEN,
            ErrorCode::WebFrameworkError,
            message,
        ));
    }
    if admin.token.permits(request.headers()) {
        return None;
    }
    let mut response = error_response(
        StatusCode::UNAUTHORIZED,
        ErrorCode::WebFrameworkError,
        "the header \"Authorization: Bearer TOKEN\" with the token of admin.token_file is required",
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    Some(response)
}
