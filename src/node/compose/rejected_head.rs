//! Responses to requests that the HTTP server rejects before a listener's routes get them.

use crate::faucet::FaucetError;
use actix_web::HttpResponse;
use ledger_api::{ErrorBody, ErrorCode, ErrorKind, PATH_AND_QUERY_BYTES_MAX};
use ledger_http::HeadError;

/// Returns the response of a listener with the error body of the interface.
pub fn error_response(error: &HeadError) -> HttpResponse {
    HttpResponse::build(error.status()).json(ErrorBody {
        message: error.to_string(),
        error_code: ErrorCode::WebFrameworkError,
        vm_error_code: None,
    })
}

/// Returns the response of a listener of the interface, whose limit on the target is lower than the
/// server's.
pub fn interface_response(error: &HeadError) -> HttpResponse {
    match error {
        HeadError::TargetTooLong { .. } => ErrorKind::UriTooLong {
            limit_bytes: PATH_AND_QUERY_BYTES_MAX,
        }
        .response(),
        _ => error_response(error),
    }
}

/// Returns the response of the faucet.
pub fn faucet_response(error: &HeadError) -> HttpResponse {
    FaucetError::RejectedHead {
        status: error.status(),
        message: error.to_string(),
    }
    .json()
}
