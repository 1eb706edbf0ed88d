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

/// A transaction of a batch that was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BatchFailure {
    /// Index in the batch.
    pub(super) index: usize,
    /// Status and error code, as they are counted.
    pub(super) code: String,
    /// Whether the same transaction may be accepted later.
    pub(super) is_retryable: bool,
}

/// Returns the failures of a batch of which some transactions were accepted, in ascending order.
/// Returns `None` if the response is another one.
pub(super) fn batch_failures(response: &Response) -> Option<Vec<BatchFailure>> {
    #[derive(Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        transaction_failures: Vec<Failure<'a>>,
    }
    #[derive(Deserialize)]
    struct Failure<'a> {
        #[serde(borrow)]
        error: ErrorBody<'a>,
        transaction_index: usize,
    }
    if response.status() != StatusCode::PARTIAL_CONTENT {
        return None;
    }
    let batch: Batch<'_> = serde_json::from_slice(response.body()).ok()?;
    let failures = batch.transaction_failures.into_iter();
    let failures = failures.map(|failure| BatchFailure {
        index: failure.transaction_index,
        is_retryable: matches!(
            failure.error.error_code,
            "mempool_is_full" | "internal_error"
        ),
        code: code_of(response.status(), &failure.error),
    });
    Some(failures.collect())
}

/// Returns whether the response rejects a transaction because its sequence number is used.
pub(super) fn is_sequence_number_too_old(response: &Response) -> bool {
    let too_old = ValidationStatus::SequenceNumberTooOld.code();
    serde_json::from_slice::<ErrorBody<'_>>(response.body()).is_ok_and(|body| {
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
    match serde_json::from_slice::<ErrorBody<'_>>(response.body()) {
        Ok(body) => code_of(response.status(), &body),
        Err(_) => response.status().as_u16().to_string(),
    }
}

fn code_of(status: StatusCode, body: &ErrorBody<'_>) -> String {
    let (status, error_code) = (status.as_u16(), body.error_code);
    match body.vm_error_code {
        Some(vm_error_code) => match ValidationStatus::from_code(vm_error_code) {
            Some(name) => format!("{status} {error_code} {name}"),
            None => format!("{status} {error_code} {vm_error_code}"),
        },
        None => format!("{status} {error_code}"),
    }
}
