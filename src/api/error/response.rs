//! What a problem is answered with: body, `Retry-After` and `Allow`, and the ledger headers of its moment.

use super::{ErrorBody, ErrorCode, ErrorKind, body::shortened};
use crate::error::LedgerHeaders;
use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use ledger_actors::RemovalReason;
use ledger_types::LedgerInfo;

/// What a client is asked to wait after a 503 or 507, in seconds. A full mailbox or reader queue drains
/// in milliseconds, and a block makes room in a full pool; one second is the smallest pause the header can
/// ask for.
const RETRY_AFTER_SECS: u64 = 1;

/// The same while the ledger cannot be written, in seconds: somebody has to make room first, so asking
/// every second only costs.
const UNWRITABLE_RETRY_AFTER_SECS: u64 = 10;

impl ErrorKind {
    /// The validation status, where one refused a transaction: now, or later while it was pending; or
    /// how a view ended.
    fn vm_error_code(&self) -> Option<u64> {
        match self {
            Self::Refused(discard)
            | Self::TransactionNotFound {
                left: Some(RemovalReason::Rejected(discard)),
                ..
            } => Some(discard.status.code()),
            Self::ViewFailed { vm_error_code, .. } => Some(*vm_error_code),
            _ => None,
        }
    }

    /// The body of the answer.
    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            message: shortened(self.to_string()),
            error_code: self.row().1,
            vm_error_code: self.vm_error_code(),
        }
    }

    /// The answer, without ledger headers: for listeners that have none.
    pub fn response(&self) -> HttpResponse {
        let row = self.row();
        let mut response = HttpResponse::build(row.0);
        // What is overloaded has room again soon; a ledger that is not fresh may stay so.
        if matches!(
            row,
            (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::InternalError)
                | (StatusCode::INSUFFICIENT_STORAGE, _)
        ) {
            response.insert_header((header::RETRY_AFTER, self.retry_after_secs().to_string()));
        }
        if let Self::MethodNotAllowed(allowed) = self {
            response.insert_header((header::ALLOW, allowed.as_str()));
        }
        response.json(self.body())
    }

    /// After how many seconds a client should ask again that was refused for now.
    fn retry_after_secs(&self) -> u64 {
        match self {
            Self::Unwritable(_) => UNWRITABLE_RETRY_AFTER_SECS,
            _ => RETRY_AFTER_SECS,
        }
    }

    /// A failure inside the node: logs the cause and says only `what` to the client.
    pub fn internal(what: &'static str, cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "{what}");
        Self::Internal(what)
    }

    /// The same problem, as decided at this moment of the ledger.
    pub(crate) fn at(self, ledger_info: LedgerInfo) -> ApiError {
        ApiError {
            problem: Box::new(self),
            ledger_info: Some(ledger_info),
        }
    }
}

/// A problem, with the moment of the ledger at which it was decided where there is one.
#[derive(Debug)]
pub(crate) struct ApiError {
    problem: Box<ErrorKind>,
    ledger_info: Option<LedgerInfo>,
}

impl<P: Into<ErrorKind>> From<P> for ApiError {
    fn from(problem: P) -> Self {
        Self {
            problem: Box::new(problem.into()),
            ledger_info: None,
        }
    }
}

impl ApiError {
    /// Status and `error_code`.
    pub(crate) fn row(&self) -> (StatusCode, ErrorCode) {
        self.problem.row()
    }

    /// The answer, with the ledger headers of its moment.
    pub(crate) fn response(&self, headers: &LedgerHeaders) -> HttpResponse {
        let mut response = self.problem.response();
        if let Some(ledger_info) = &self.ledger_info {
            headers.write(ledger_info, response.headers_mut());
        }
        response
    }
}
