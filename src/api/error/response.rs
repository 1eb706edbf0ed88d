//! Responses to errors: body, `Retry-After`, `Allow`, and ledger headers.

use super::{ErrorBody, ErrorCode, ErrorKind, body::shortened};
use crate::error::LedgerHeaders;
use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use ledger_actors::RemovalReason;
use ledger_types::LedgerInfo;

/// `Retry-After` of a 503 or 507, in seconds.
///
/// Permits and memory are released in milliseconds, and each block frees capacity of a full
/// mempool. One second is the minimum of the header. A full queue states its own time.
const RETRY_AFTER_SECS: u64 = 1;

/// `Retry-After` while the store cannot be written, in seconds. This lasts until an operator frees
/// disk space or replaces the disk, so frequent retries are useless.
pub const UNWRITABLE_RETRY_AFTER_SECS: u64 = 10;

/// `Retry-After` of a version that is too far ahead, in seconds. The ledger does not have it within
/// a second, so frequent retries are useless.
const TOO_FAR_AHEAD_RETRY_AFTER_SECS: u64 = 10;

/// The content coding that changes nothing.
pub(crate) const IDENTITY: &str = "identity";

impl ErrorKind {
    /// Returns the status of the validation that rejected the transaction, now or while it was
    /// pending, or the status of a view that failed.
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

    /// Returns the body of the response.
    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            message: shortened(self.to_string()),
            error_code: self.row().1,
            vm_error_code: self.vm_error_code(),
        }
    }

    /// Creates the response without ledger headers, which only the interface has.
    pub fn response(&self) -> HttpResponse {
        let row = self.row();
        let mut response = HttpResponse::build(row.0);
        // Overload ends soon, but an old ledger may stay old.
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
        if let Some(accepted) = self.accepted_encoding() {
            response.insert_header((header::ACCEPT_ENCODING, accepted));
        }
        response.json(self.body())
    }

    /// Returns the value of `Accept-Encoding` of a response to an encoded body (RFC 9110, section
    /// 15.5.16).
    pub fn accepted_encoding(&self) -> Option<&'static str> {
        matches!(self, Self::UnsupportedContentEncoding(_)).then_some(IDENTITY)
    }

    /// Returns the value of `Retry-After`, in seconds.
    fn retry_after_secs(&self) -> u64 {
        match self {
            Self::Overloaded(overload) => overload.retry_after_secs,
            Self::Unwritable(_) => UNWRITABLE_RETRY_AFTER_SECS,
            Self::VersionTooFarAhead { .. } => TOO_FAR_AHEAD_RETRY_AFTER_SECS,
            _ => RETRY_AFTER_SECS,
        }
    }

    /// Creates the error of a failure inside the node. Logs `cause`, and shows the client only
    /// `what`.
    pub fn internal(what: &'static str, cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "{what}");
        Self::Internal(what)
    }

    /// Adds the state of the ledger at which the error was decided.
    pub(crate) fn at(self, ledger_info: LedgerInfo) -> ApiError {
        ApiError {
            kind: Box::new(self),
            ledger_info: Some(ledger_info),
        }
    }
}

/// An error, with the state of the ledger that was read, if any.
#[derive(Debug)]
pub(crate) struct ApiError {
    kind: Box<ErrorKind>,
    ledger_info: Option<LedgerInfo>,
}

/// The presence of the ledger headers on an error, by its code. The reference node follows the same
/// rule, except for a few malformed bodies (`tests/golden/recorded/differences.toml`).
enum LedgerHeadersRule {
    /// The error is decided against the ledger: the state that was read, or else the newest one.
    Always,
    /// The node has failed or is busy. The ledger was read or not.
    IfRead,
    /// The request does not reach the ledger.
    Never,
}

impl LedgerHeadersRule {
    fn of(code: ErrorCode) -> Self {
        use ErrorCode as Code;
        match code {
            Code::WebFrameworkError | Code::BcsNotSupported | Code::ApiDisabled => Self::Never,
            Code::InternalError => Self::IfRead,
            Code::AccountNotFound
            | Code::ResourceNotFound
            | Code::ModuleNotFound
            | Code::StructFieldNotFound
            | Code::VersionNotFound
            | Code::TransactionNotFound
            | Code::TableItemNotFound
            | Code::BlockNotFound
            | Code::StateValueNotFound
            | Code::VersionPruned
            | Code::BlockPruned
            | Code::InvalidInput
            | Code::InvalidTransactionUpdate
            | Code::SequenceNumberTooOld
            | Code::VmError
            | Code::RejectedByFilter
            | Code::HealthCheckFailed
            | Code::MempoolIsFull => Self::Always,
        }
    }
}

impl<K: Into<ErrorKind>> From<K> for ApiError {
    fn from(kind: K) -> Self {
        Self {
            kind: Box::new(kind.into()),
            ledger_info: None,
        }
    }
}

impl ApiError {
    /// Returns the status and the `error_code`.
    pub(crate) fn row(&self) -> (StatusCode, ErrorCode) {
        self.kind.row()
    }

    /// Creates the response, with the ledger headers if [`LedgerHeadersRule`] has them. `newest` is
    /// the newest state of the ledger.
    pub(crate) fn response(&self, headers: &LedgerHeaders, newest: &LedgerInfo) -> HttpResponse {
        let mut response = self.kind.response();
        let (_, code) = self.row();
        let ledger_info = match LedgerHeadersRule::of(code) {
            LedgerHeadersRule::Always => Some(self.ledger_info.as_ref().unwrap_or(newest)),
            LedgerHeadersRule::IfRead => self.ledger_info.as_ref(),
            LedgerHeadersRule::Never => None,
        };
        if let Some(ledger_info) = ledger_info {
            headers.write(ledger_info, response.headers_mut());
        }
        response
    }
}
