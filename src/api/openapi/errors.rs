//! Declared errors, and lists of them that several operations share.

use super::StatusCode as S;
use crate::error::ErrorCode::{self, *};
use serde_json::{Value, json};

/// An error that an operation declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeclaredError {
    pub status: S,
    pub code: ErrorCode,
    /// Condition of the error, in Markdown.
    pub when: &'static str,
    /// Whether a request can cause the error. The REST contract has errors that nothing causes on
    /// this node.
    pub can_happen: bool,
}

/// Returns an error with its condition.
pub(crate) const fn error(status: S, code: ErrorCode, when: &'static str) -> DeclaredError {
    DeclaredError {
        status,
        code,
        when,
        can_happen: true,
    }
}

/// Returns an error of the REST contract that nothing causes on this node.
pub(crate) const fn documented_only(
    status: S,
    code: ErrorCode,
    when: &'static str,
) -> DeclaredError {
    DeclaredError {
        status,
        code,
        when,
        can_happen: false,
    }
}

/// Errors of every operation.
pub(crate) const COMMON: &[DeclaredError] = &[
    error(
        S::FORBIDDEN,
        ApiDisabled,
        "The operator has disabled the format that `Accept` selects, or denies the address of the \
         client.",
    ),
    error(
        S::METHOD_NOT_ALLOWED,
        WebFrameworkError,
        "The path does not have this method. `Allow` lists its methods.",
    ),
    error(
        S::URI_TOO_LONG,
        WebFrameworkError,
        "Path and query are longer than 16384 bytes.",
    ),
    error(
        S::INTERNAL_SERVER_ERROR,
        InternalError,
        "The node failed. The cause is in its log, not in the response.",
    ),
    error(
        S::SERVICE_UNAVAILABLE,
        InternalError,
        "The node is overloaded, is stopping, or cannot write its ledger. Retry after \
         `Retry-After` seconds.",
    ),
];

/// Errors of operations with parameters in their path.
pub(crate) const PATH: &[DeclaredError] = &[
    PATH_TYPE,
    error(
        S::NOT_FOUND,
        WebFrameworkError,
        "A path parameter is empty, so no route matches.",
    ),
];

/// Error of a path parameter whose type rejects some texts.
pub(crate) const PATH_TYPE: DeclaredError = error(
    S::BAD_REQUEST,
    WebFrameworkError,
    "A path parameter does not have its declared type.",
);

/// Errors of operations with query parameters.
pub(crate) const QUERY: &[DeclaredError] = &[error(
    S::BAD_REQUEST,
    WebFrameworkError,
    "A query parameter does not have its declared type, or occurs more than once.",
)];

/// Errors of operations with a body.
pub(crate) const BODY: &[DeclaredError] = &[
    error(
        S::BAD_REQUEST,
        WebFrameworkError,
        "The body is not JSON of the declared schema, or ends before its declared length.",
    ),
    error(
        S::REQUEST_TIMEOUT,
        WebFrameworkError,
        "The body does not arrive within 30 seconds.",
    ),
    error(
        S::LENGTH_REQUIRED,
        WebFrameworkError,
        "The body has neither `Content-Length` nor `Transfer-Encoding: chunked`.",
    ),
    error(
        S::PAYLOAD_TOO_LARGE,
        WebFrameworkError,
        "The body is larger than `api.max_body_bytes` of the configuration, 8388608 bytes by \
         default, or it is JSON with so many values that parsing it could take more than 64 MiB of \
         memory.",
    ),
    error(
        S::UNSUPPORTED_MEDIA_TYPE,
        WebFrameworkError,
        "`Content-Type` is missing or none of the declared media types, or the request has a \
         `Content-Encoding`.",
    ),
];

/// Errors of reads of the state at a version.
pub(crate) const STATE_VERSION: &[DeclaredError] = &[
    error(
        S::NOT_FOUND,
        VersionNotFound,
        "`ledger_version` is above the newest version.",
    ),
    error(
        S::GONE,
        VersionPruned,
        "`ledger_version` is below the oldest readable version.",
    ),
];

/// Errors of operations that wait for a minimum version.
pub(crate) const MIN_VERSION: &[DeclaredError] = &[
    error(
        S::BAD_REQUEST,
        InvalidInput,
        "`min_ledger_version`, its header or `timeout_ms` is not an unsigned integer of 64 bits or \
         occurs more than once, or the minimum is above `ledger_version`.",
    ),
    error(
        S::SERVICE_UNAVAILABLE,
        InternalError,
        "The ledger does not have `min_ledger_version` after `timeout_ms`, or the node does not \
         wait for it, because the version is more than 2000000 above the newest one or too many \
         requests wait. The ledger headers have the newest version. Retry after `Retry-After` \
         seconds.",
    ),
];

/// Error of listings.
pub(crate) const LIMIT: &[DeclaredError] = &[error(S::BAD_REQUEST, InvalidInput, "`limit` is 0.")];

/// Error of operations that wait for a commit.
pub(crate) const WAIT: &[DeclaredError] = &[error(
    S::BAD_REQUEST,
    InvalidInput,
    "`timeout_ms` is not a number of milliseconds, or occurs more than once.",
)];

/// Error of listings whose items can be large.
pub(crate) const PAGE: &[DeclaredError] = &[error(
    S::BAD_REQUEST,
    InvalidInput,
    "The page takes more than a quarter of `api.answers_bytes_max`. The message contains the \
     `limit` that fits.",
)];

/// Error that listings of an account declare and never respond with.
pub(crate) const NOTHING_TO_FIND: &[DeclaredError] = &[documented_only(
    S::NOT_FOUND,
    AccountNotFound,
    "Declared by the REST contract and never returned: every address is an account, and its list \
     is empty if nothing was written to it.",
)];

/// Errors of submissions.
pub(crate) const SUBMISSION: &[DeclaredError] = &[
    error(
        S::BAD_REQUEST,
        InvalidInput,
        "The body is well formed and invalid: bytes that do not decode to a transaction, an \
         unknown function, arguments of other types, or a signature that does not decode.",
    ),
    error(
        S::BAD_REQUEST,
        VmError,
        "Validation rejects the transaction. `vm_error_code` is the number of the validation \
         status.",
    ),
];

/// Returns an example of the body of an error of an operation.
pub(crate) fn example(operation_id: &str, status: S, code: ErrorCode) -> Value {
    let message = match code {
        BcsNotSupported => format!("{operation_id} responds in JSON only, not in BCS"),
        _ => message(status, code).to_owned(),
    };
    let mut body = json!({"message": message, "error_code": code});
    if code == VmError {
        body["vm_error_code"] = 1.into();
    }
    body
}

fn message(status: S, code: ErrorCode) -> &'static str {
    match (status, code) {
        (_, AccountNotFound) => "Account not found by Address(0x5) and Ledger version(7)",
        (_, ResourceNotFound) => {
            "Resource not found by Address(0x5), Struct tag(0x1::m::S) and Ledger version(7)"
        }
        (_, ModuleNotFound) => {
            "Module not found by Address(0x5), Module name(m) and Ledger version(7)"
        }
        (_, StructFieldNotFound) => {
            "Struct Field not found by Address(0x5), Struct tag(0x1::m::S), Field name(f) and \
             Ledger version(7)"
        }
        (_, VersionNotFound) => "Ledger version not found by Ledger version(1000000)",
        (_, TransactionNotFound) => "Transaction not found by Ledger version(1000000)",
        (_, TableItemNotFound) => {
            "Table Item not found by Table handle(0x7), Table key(0x00) and Ledger version(7)"
        }
        (_, BlockNotFound) => "Block not found by Block height(1000000)",
        (_, StateValueNotFound) => "State Value not found by State key(0x00) and Ledger version(7)",
        (_, VersionPruned) => "Ledger version(1) has been pruned",
        (_, BlockPruned) => "Block(1) has been pruned",
        (_, InvalidInput) => "Given limit value (0) must not be zero",
        (_, InvalidTransactionUpdate) => "a pending transaction differs in more than its gas price",
        (_, SequenceNumberTooOld) => {
            "transaction sequence number is 3, current sequence number is 5; used by transaction \
             0x2b8f5ab6d4ac8a9ca0e5a3d0d2f6a7f13c7a1e0f5b9d4c6e8f7a3b2c1d0e9f88"
        }
        (_, VmError) => "Invalid transaction: Type: Validation Code: INVALID_SIGNATURE",
        (_, RejectedByFilter) => {
            "Transaction rejected by the submission filter of this node, rule 1: deny function \
             0x1::m::f"
        }
        (_, HealthCheckFailed) => "the newest block is 60 seconds old, more than 10",
        (_, MempoolIsFull) => "the pool is full",
        (S::SERVICE_UNAVAILABLE, InternalError) => "the node is stopping",
        (_, InternalError) => "internal error: reading the ledger failed",
        (S::NOT_FOUND, WebFrameworkError) => "not found: no route /v1/accounts/",
        (S::METHOD_NOT_ALLOWED, WebFrameworkError) => "method not allowed, use GET",
        (S::REQUEST_TIMEOUT, WebFrameworkError) => "the body did not arrive within 30 seconds",
        (S::LENGTH_REQUIRED, WebFrameworkError) => "missing `Content-Length` header",
        (S::PAYLOAD_TOO_LARGE, WebFrameworkError) => {
            "payload too large: a body has at most 8388608 bytes"
        }
        (S::UNSUPPORTED_MEDIA_TYPE, WebFrameworkError) => "missing `Content-Type` header",
        (S::URI_TOO_LONG, WebFrameworkError) => {
            "the path and query of a request have at most 16384 bytes"
        }
        (_, WebFrameworkError) => {
            "failed to parse path `address`: an address has at least one digit"
        }
        (_, BcsNotSupported) => "the operation responds in JSON only, not in BCS",
        (_, ApiDisabled) => "disabled on this node: api.bcs_output_enabled is false",
    }
}
