//! Check of the `Host` and `Origin` headers.
//!
//! The faucet pays every client, but not every web page that a user of the faucet opens: such a
//! page could drain the faucet through the browser.

use super::{error::FaucetError, handle::Faucet};
use actix_web::{
    Error,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web::Data,
};

/// Passes a request to its route or to CORS if its headers are accepted. Responds with 403 to a
/// foreign `Host` or `Origin`.
///
/// # Errors
///
/// Returns the error of the route.
pub async fn check_host_and_origin<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let checked = match request.app_data::<Data<Faucet>>() {
        Some(faucet) => faucet
            .policy
            .check(None, request.headers())
            .map_err(FaucetError::Foreign),
        None => Err(FaucetError::Internal),
    };
    match checked {
        Err(error) => Ok(request.into_response(error.json()).map_into_right_body()),
        Ok(()) => next
            .call(request)
            .await
            .map(ServiceResponse::map_into_left_body),
    }
}
