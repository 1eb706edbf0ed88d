//! Error responses of the REST interface, as far as a run reacts to them.

use crate::http::Response;
use http::StatusCode;
use ledger_types::ValidationStatus;
use serde::Deserialize;

/// The fields of an error body that are counted.
#[derive(Deserialize)]
struct ErrorBody<'a> {
    error_code: &'a str,
    vm_error_code: Option<u64>,
}

/// Returns whether the response rejects a transaction because its sequence number is used.
pub(super) fn is_sequence_number_too_old(response: &Response) -> bool {
    let too_old = ValidationStatus::SequenceNumberTooOld.code();
    serde_json::from_slice::<ErrorBody<'_>>(&response.body).is_ok_and(|body| {
        body.error_code == "sequence_number_too_old" || body.vm_error_code == Some(too_old)
    })
}

/// Returns whether the same request may succeed later.
pub(super) fn is_retryable(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::INSUFFICIENT_STORAGE
            | StatusCode::TOO_MANY_REQUESTS
    )
}

/// Returns the status and the error code of a response, as they are counted.
pub(super) fn error_code(response: &Response) -> String {
    let status = response.status.as_u16();
    match serde_json::from_slice::<ErrorBody<'_>>(&response.body) {
        Ok(ErrorBody {
            error_code,
            vm_error_code: Some(vm_error_code),
        }) => match ValidationStatus::from_code(vm_error_code) {
            Some(name) => format!("{status} {error_code} {name}"),
            None => format!("{status} {error_code} {vm_error_code}"),
        },
        Ok(ErrorBody { error_code, .. }) => format!("{status} {error_code}"),
        Err(_) => status.to_string(),
    }
}
