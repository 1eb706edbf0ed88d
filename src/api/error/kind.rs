//! The error table: every failure of a request, with its status, `error_code` and message
//! (docs/reference/rest-contract.md#s7, docs/reference/reference-node.md#r13, docs/interface.md).
//!
//! [`ErrorKind::row`] is the table and `Display` gives the messages. The operator's listener answers
//! with it too; the faucet has the form of errors that its own clients know. Not in it, because
//! nothing can raise them here: `account_not_found` (an account without an account resource reads as
//! sequence number 0 and its own address as key, so every account is found).

use super::{ErrorCode, Switch};
use actix_web::http::StatusCode;
use ledger_actors::{Filtered, RemovalReason, StorageUnavailable};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, Discard, Identifier, StructTag};

/// What a transaction was asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransactionName {
    /// Its hash.
    #[error("Transaction hash({0})")]
    Hash(HashValue),
    /// Its version.
    #[error("Ledger version({0})")]
    Version(u64),
}

fn words_after(reason: Option<&RemovalReason>) -> String {
    reason
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default()
}

/// Why a request is not answered with what it asked for. One variant is one row of the table.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ErrorKind {
    /// No such resource at the address.
    #[error(
        "Resource not found by Address({address}), Struct tag({tag}) and Ledger version({version})"
    )]
    ResourceNotFound {
        /// Where it was looked for.
        address: AccountAddress,
        /// Its type; boxed, so that every `Result` is not as large as this one row.
        tag: Box<StructTag>,
        /// At which version.
        version: u64,
    },
    /// No such module at the address.
    #[error(
        "Module not found by Address({address}), Module name({name}) and Ledger version({version})"
    )]
    ModuleNotFound {
        /// Where it was looked for.
        address: AccountAddress,
        /// Its name.
        name: Identifier,
        /// At which version.
        version: u64,
    },
    /// The struct at the address has no such field.
    #[error(
        "Struct Field not found by Address({address}), Struct tag({tag}), Field name({field}) and Ledger \
         version({version})"
    )]
    StructFieldNotFound {
        /// Where the struct is.
        address: AccountAddress,
        /// Its type.
        tag: Box<StructTag>,
        /// The field that it does not have.
        field: Identifier,
        /// At which version.
        version: u64,
    },
    /// No such item in the table, or no such table.
    #[error(
        "Table Item not found by Table handle({handle}), Table key({key}) and Ledger version({version})"
    )]
    TableItemNotFound {
        /// The table.
        handle: AccountAddress,
        /// The key as the client wrote it.
        key: String,
        /// At which version.
        version: u64,
    },
    /// No value under a state key.
    #[error("State Value not found by State key({key}) and Ledger version({version})")]
    StateValueNotFound {
        /// The key as the client wrote it, in hex.
        key: String,
        /// At which version.
        version: u64,
    },
    /// A version above the newest one.
    #[error("Ledger version not found by Ledger version({0})")]
    VersionNotFound(u64),
    /// A transaction that is neither pending nor committed.
    #[error("Transaction not found by {name}{}", words_after(.left.as_ref()))]
    TransactionNotFound {
        /// What it was asked for by.
        name: TransactionName,
        /// Why it left the pool, while that is remembered.
        left: Option<RemovalReason>,
    },
    /// A height above the newest block's.
    #[error("Block not found by Block height({0})")]
    BlockNotFound(u64),
    /// A version below the window.
    #[error("Ledger version({0}) has been pruned")]
    VersionPruned(u64),
    /// Events from a number on of which the first are below the window.
    #[error("Event({start}) has been pruned, the events before {end} are gone")]
    EventPruned {
        /// The number that was asked for.
        start: u64,
        /// The number after the last event that is gone.
        end: u64,
    },
    /// Transactions of an account from a sequence number on of which the first are below the window.
    #[error(
        "Account transaction({start}) has been pruned, those with a sequence number before {end} are gone"
    )]
    AccountTransactionPruned {
        /// The sequence number that was asked for.
        start: u64,
        /// The sequence number after the last that is gone.
        end: u64,
    },
    /// A block below the window.
    #[error("Block({0}) has been pruned")]
    BlockPruned(u64),
    /// Input that reads well and makes no sense; the text says why.
    #[error("{0}")]
    InvalidInput(String),
    /// A view function that did not come to its end.
    #[error("{message}")]
    ViewFailed {
        /// How it ended.
        message: String,
        /// Status code of the failure (docs/reference/reference-node.md#r15).
        vm_error_code: u64,
    },
    /// The pool holds a transaction with the same sender and sequence number or nonce that this one
    /// may not replace; the text is the reason.
    #[error("{0}")]
    InvalidUpdate(String),
    /// The pool has given this sequence number to a block already.
    #[error("transaction sequence number is {given}, current sequence number is {current}")]
    SequenceNumberTooOld {
        /// The transaction's.
        given: u64,
        /// The sender's next one.
        current: u64,
    },
    /// Validation refused the transaction.
    #[error(transparent)]
    Refused(#[from] Discard),
    /// The operator's filter does not let the transaction in.
    #[error(transparent)]
    RejectedByFilter(#[from] Filtered),
    /// The operator has turned off what is asked for.
    #[error("disabled on this node: {} is false", .0.setting())]
    ApiDisabled(Switch),
    /// The newest block is older than the asker allows.
    #[error("{0}")]
    HealthCheck(String),
    /// The pool has no room.
    #[error("{0}")]
    PoolFull(String),
    /// An actor's mailbox or queue is full.
    #[error("the node is overloaded: the {0} actor takes no more requests at the moment")]
    Overloaded(&'static str),
    /// More requests are in flight than `api.max_in_flight` allows.
    #[error("the node is overloaded: {0} requests are in flight, which is the limit")]
    TooManyInFlight(usize),
    /// More requests of one address are in flight than `api.max_in_flight_per_address` allows.
    #[error("{0} requests of this address are in flight, which is the limit")]
    TooManyOfAddress(usize),
    /// More requests of one connection are in flight than `api.max_streams_per_connection` allows.
    #[error("{0} requests of this connection are in flight, which is the limit")]
    TooManyOnConnection(usize),
    /// As many large answers are being made as are made at once.
    #[error("the node is overloaded: {0} large answers are being made, which is the limit")]
    TooManyLargeAnswers(usize),
    /// The bodies of requests take as much memory as `api.bodies_bytes_max` allows.
    #[error(
        "the node is overloaded: the bodies of requests take {limit_bytes} bytes, which is the limit"
    )]
    BodiesFull {
        /// The limit.
        limit_bytes: usize,
    },
    /// The answers that wait for their clients take as much memory as `api.answers_bytes_max` allows.
    #[error(
        "the node is overloaded: answers that their clients have not read take {limit_bytes} bytes, which is the limit"
    )]
    AnswersFull {
        /// The limit.
        limit_bytes: usize,
    },
    /// The ledger is not written at the moment: its disk failed, or is full.
    #[error(transparent)]
    Unwritable(StorageUnavailable),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The node failed; the cause is in its log, not in the answer.
    #[error("internal error: {0}")]
    Internal(&'static str),
    /// A path parameter, query parameter or body that is not of its declared type.
    #[error("{0}")]
    Syntax(String),
    /// No such route.
    #[error("not found: no route {0}")]
    UnknownRoute(String),
    /// The route knows other methods.
    #[error("method not allowed, use {0}")]
    MethodNotAllowed(String),
    /// A POST that says neither how long its body is nor that it is chunked.
    #[error("missing `Content-Length` header")]
    LengthRequired,
    /// A body above `api.max_body_bytes`.
    #[error("payload too large: a body has at most {limit_bytes} bytes")]
    BodyTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A body in JSON of so many small values that it would take too much memory.
    #[error(
        "the body holds too many values: it would take more than {limit_bytes} bytes of memory"
    )]
    BodyTooManyValues {
        /// The limit.
        limit_bytes: usize,
    },
    /// A body that does not arrive in time.
    #[error("the body did not arrive within {timeout_secs} seconds")]
    BodyTimeout {
        /// The limit.
        timeout_secs: u64,
    },
    /// A path and query above the limit.
    #[error("the path and query of a request have at most {limit_bytes} bytes")]
    UriTooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// A body of a type that the route does not take.
    #[error("the `Content-Type` requested by the client is not supported: {0}")]
    UnsupportedContentType(String),
    /// A body that is compressed or otherwise encoded.
    #[error("the `Content-Encoding` of the request is not supported: {0}; send the body as it is")]
    UnsupportedContentEncoding(String),
    /// A body without a type.
    #[error("missing `Content-Type` header")]
    MissingContentType,
    /// An answer in BCS of a route that has none.
    #[error("{0} answers in JSON only, not in BCS")]
    BcsNotSupported(&'static str),
}

impl ErrorKind {
    /// Status and `error_code`: the table.
    pub fn row(&self) -> (StatusCode, ErrorCode) {
        use ErrorCode as Code;
        use StatusCode as Status;
        match self {
            Self::ResourceNotFound { .. } => (Status::NOT_FOUND, Code::ResourceNotFound),
            Self::ModuleNotFound { .. } => (Status::NOT_FOUND, Code::ModuleNotFound),
            Self::StructFieldNotFound { .. } => (Status::NOT_FOUND, Code::StructFieldNotFound),
            Self::TableItemNotFound { .. } => (Status::NOT_FOUND, Code::TableItemNotFound),
            Self::StateValueNotFound { .. } => (Status::NOT_FOUND, Code::StateValueNotFound),
            Self::VersionNotFound(_) => (Status::NOT_FOUND, Code::VersionNotFound),
            Self::TransactionNotFound { .. } => (Status::NOT_FOUND, Code::TransactionNotFound),
            Self::BlockNotFound(_) => (Status::NOT_FOUND, Code::BlockNotFound),
            // The closed list has no code of its own for events and transactions.
            Self::VersionPruned(_)
            | Self::EventPruned { .. }
            | Self::AccountTransactionPruned { .. } => (Status::GONE, Code::VersionPruned),
            Self::BlockPruned(_) => (Status::GONE, Code::BlockPruned),
            Self::InvalidInput(_) | Self::ViewFailed { .. } => {
                (Status::BAD_REQUEST, Code::InvalidInput)
            }
            Self::InvalidUpdate(_) => (Status::BAD_REQUEST, Code::InvalidTransactionUpdate),
            Self::SequenceNumberTooOld { .. } => (Status::BAD_REQUEST, Code::SequenceNumberTooOld),
            Self::Refused(_) => (Status::BAD_REQUEST, Code::VmError),
            // Unlike the reference node, which responds with 500 (docs/interface.md#rule-20).
            Self::RejectedByFilter(_) => (Status::FORBIDDEN, Code::RejectedByFilter),
            Self::ApiDisabled(_) => (Status::FORBIDDEN, Code::ApiDisabled),
            Self::HealthCheck(_) => (Status::SERVICE_UNAVAILABLE, Code::HealthCheckFailed),
            Self::PoolFull(_) => (Status::INSUFFICIENT_STORAGE, Code::MempoolIsFull),
            Self::Overloaded(_)
            | Self::TooManyInFlight(_)
            | Self::TooManyOfAddress(_)
            | Self::TooManyOnConnection(_)
            | Self::TooManyLargeAnswers(_)
            | Self::BodiesFull { .. }
            | Self::AnswersFull { .. }
            | Self::Unwritable(_)
            | Self::Stopping => (Status::SERVICE_UNAVAILABLE, Code::InternalError),
            Self::Internal(_) => (Status::INTERNAL_SERVER_ERROR, Code::InternalError),
            Self::Syntax(_) => (Status::BAD_REQUEST, Code::WebFrameworkError),
            Self::UnknownRoute(_) => (Status::NOT_FOUND, Code::WebFrameworkError),
            Self::MethodNotAllowed(_) => (Status::METHOD_NOT_ALLOWED, Code::WebFrameworkError),
            Self::LengthRequired => (Status::LENGTH_REQUIRED, Code::WebFrameworkError),
            Self::BodyTooLarge { .. } | Self::BodyTooManyValues { .. } => {
                (Status::PAYLOAD_TOO_LARGE, Code::WebFrameworkError)
            }
            Self::BodyTimeout { .. } => (Status::REQUEST_TIMEOUT, Code::WebFrameworkError),
            Self::UriTooLong { .. } => (Status::URI_TOO_LONG, Code::WebFrameworkError),
            Self::UnsupportedContentType(_)
            | Self::UnsupportedContentEncoding(_)
            | Self::MissingContentType => (Status::UNSUPPORTED_MEDIA_TYPE, Code::WebFrameworkError),
            Self::BcsNotSupported(_) => (Status::BAD_REQUEST, Code::BcsNotSupported),
        }
    }
}

#[cfg(test)]
mod tests;
