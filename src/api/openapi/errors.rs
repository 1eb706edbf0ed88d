//! Refusals, and the lists of them that many operations share.

use super::StatusCode as S;
use crate::error::ErrorCode::{self, *};
use serde_json::{Value, json};

/// An error answer that an operation declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeclaredError {
    pub status: S,
    pub code: ErrorCode,
    /// When it is the answer.
    pub when: &'static str,
    /// Whether anything can cause it here. What the interface document declares for an endpoint stands in
    /// the list even where nothing can.
    pub can_happen: bool,
}

/// A refusal.
pub(crate) const fn error(status: S, code: ErrorCode, when: &'static str) -> DeclaredError {
    DeclaredError {
        status,
        code,
        when,
        can_happen: true,
    }
}

/// A refusal that the interface document declares and nothing causes.
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

/// Those of every operation.
pub(crate) const COMMON: &[DeclaredError] = &[
    error(
        S::FORBIDDEN,
        ApiDisabled,
        "The operator has turned off answers in the form that `Accept` asks for.",
    ),
    error(
        S::METHOD_NOT_ALLOWED,
        WebFrameworkError,
        "The path does not take this method; `Allow` names those that it takes.",
    ),
    error(
        S::URI_TOO_LONG,
        WebFrameworkError,
        "Path and query together have more than 16384 bytes.",
    ),
    error(
        S::INTERNAL_SERVER_ERROR,
        InternalError,
        "The node failed. The cause stands in its log, not in the answer.",
    ),
    error(
        S::SERVICE_UNAVAILABLE,
        InternalError,
        "The node is overloaded or stopping, or cannot write its ledger at the moment. Ask again after \
         `Retry-After` seconds.",
    ),
];

/// Those of operations with parameters in their path.
pub(crate) const PATH: &[DeclaredError] = &[
    PATH_TYPE,
    error(
        S::NOT_FOUND,
        WebFrameworkError,
        "A parameter of the path is empty, so that the path is no route.",
    ),
];

/// That of a parameter of a path which not every text is.
pub(crate) const PATH_TYPE: DeclaredError = error(
    S::BAD_REQUEST,
    WebFrameworkError,
    "A parameter of the path is not of its declared type.",
);

/// Those of operations with query parameters.
pub(crate) const QUERY: &[DeclaredError] = &[error(
    S::BAD_REQUEST,
    WebFrameworkError,
    "A query parameter is not of its declared type, or is given more than once.",
)];

/// Those of operations with a body.
pub(crate) const BODY: &[DeclaredError] = &[
    error(
        S::BAD_REQUEST,
        WebFrameworkError,
        "The body is no JSON of the declared form, or ends before its declared length.",
    ),
    error(
        S::REQUEST_TIMEOUT,
        WebFrameworkError,
        "The body does not arrive within 30 seconds.",
    ),
    error(
        S::LENGTH_REQUIRED,
        WebFrameworkError,
        "Neither `Content-Length` nor `Transfer-Encoding: chunked` says where the body ends.",
    ),
    error(
        S::PAYLOAD_TOO_LARGE,
        WebFrameworkError,
        "The body is larger than the node takes: `api.max_body_bytes` of its configuration, 8388608 bytes unless the \
         operator sets another; or it is JSON of so many values that reading them would take more than 64 MiB of \
         memory.",
    ),
    error(
        S::UNSUPPORTED_MEDIA_TYPE,
        WebFrameworkError,
        "`Content-Type` is missing or is none of the declared media types, or there is a `Content-Encoding`: a body is \
         taken as it is only.",
    ),
];

/// Those of reads of the state at a version.
pub(crate) const STATE_VERSION: &[DeclaredError] = &[
    error(
        S::NOT_FOUND,
        VersionNotFound,
        "`ledger_version` is above the newest version.",
    ),
    error(
        S::GONE,
        VersionPruned,
        "`ledger_version` is below the oldest version that the node keeps.",
    ),
];

/// That of listings.
pub(crate) const LIMIT: &[DeclaredError] = &[error(S::BAD_REQUEST, InvalidInput, "`limit` is 0.")];

/// The 404 that listings of an account declare and never answer.
pub(crate) const NOTHING_TO_FIND: &[DeclaredError] = &[documented_only(
    S::NOT_FOUND,
    AccountNotFound,
    "Declared by the interface and never the answer here: every address is an account, and one that nothing \
     was written to has an empty list.",
)];

/// Those of what a client submits.
pub(crate) const SUBMISSION: &[DeclaredError] = &[
    error(
        S::BAD_REQUEST,
        InvalidInput,
        "The body is well formed and makes no sense: bytes that are no transaction, a function that the \
         framework does not know, arguments that do not fit it, a signature that cannot be read.",
    ),
    error(
        S::BAD_REQUEST,
        VmError,
        "Validation refuses the transaction; `vm_error_code` is the number of the validation status.",
    ),
];

/// An error body as an example of this refusal by the operation of this name.
pub(crate) fn example(operation_id: &str, status: S, code: ErrorCode) -> Value {
    let message = match code {
        BcsNotSupported => format!("{operation_id} answers in JSON only, not in BCS"),
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
            "Struct Field not found by Address(0x5), Struct tag(0x1::m::S), Field name(f) and Ledger version(7)"
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
            "transaction sequence number is 3, current sequence number is 5"
        }
        (_, VmError) => "Invalid transaction: Type: Validation Code: INVALID_SIGNATURE",
        (_, RejectedByFilter) => {
            "Transaction rejected by the submission filter of this node, rule 1: deny function 0x1::m::f"
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
        (_, BcsNotSupported) => "the operation answers in JSON only, not in BCS",
        (_, ApiDisabled) => "disabled on this node: api.bcs_output_enabled is false",
    }
}
