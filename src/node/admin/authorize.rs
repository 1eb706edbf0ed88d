//! Who gets to the routes: requests of this listener's own pages or of programs, with the token where one is
//! set. Who is sent away leaves the connection too: such as stay would keep the operator out.

use super::context::{Admin, refusal};
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

/// How a client is told what to carry (RFC 6750, section 3).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"admin\"");

/// Refuses a request with a foreign `Host` or `Origin`, or without the token, before any route sees it.
///
/// # Errors
/// Those of the routes.
pub async fn authorize<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let rejection = match request.app_data::<Data<Admin>>() {
        Some(admin) => rejection(admin, &request),
        None => Some(refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            "the listener does not know whom to let in",
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

/// The answer to a request that may not go on.
fn rejection(admin: &Admin, request: &ServiceRequest) -> Option<HttpResponse> {
    if let Err(message) = admin.policy.check(request.headers()) {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            ErrorCode::WebFrameworkError,
            message,
        ));
    }
    if admin.token.permits(request.headers()) {
        return None;
    }
    let mut response = refusal(
        StatusCode::UNAUTHORIZED,
        ErrorCode::WebFrameworkError,
        "the header \"Authorization: Bearer TOKEN\" with the token of admin.token_file is needed",
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    Some(response)
}
