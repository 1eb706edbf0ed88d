//! Who gets to the routes. A faucet pays whoever asks, but not whatever page its user happens to look at: that
//! could drain it through the browser.

use super::{error::FaucetError, handle::Faucet};
use actix_web::{
    Error,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web::Data,
};

/// Refuses a request with a foreign `Host` or `Origin`, before any route or browser's question sees it.
///
/// # Errors
/// Those of the routes.
pub async fn check_host_and_origin<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let checked = match request.app_data::<Data<Faucet>>() {
        Some(faucet) => faucet
            .policy
            .check(request.headers())
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
