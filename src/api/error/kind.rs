//! The error table: every kind of error, with its status, `error_code` and message
//! (docs/reference/rest-contract.md#s7, docs/reference/reference-node.md#r13,
//! docs/use/interface.md).
//!
//! [`ErrorKind::row`] is the table, and `Display` returns the messages. The admin listener uses the
//! table too. The faucet does not, because its clients expect another form.
//!
//! `account_not_found` is not in the table: an account without an account resource has sequence
//! number 0 and its own address as authentication key, so every account is found.

use super::{ErrorCode, Switch};
use actix_web::http::StatusCode;
use ledger_actors::{Filtered, NotWritable, Overload, RemovalReason, VERSIONS_AHEAD_MAX};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, Discard, Identifier, StructTag};

/// The name of a transaction in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransactionName {
    /// Hash of the transaction.
    #[error("Transaction hash({0})")]
    Hash(HashValue),
    /// Version of the transaction.
    #[error("Ledger version({0})")]
    Version(u64),
}

/// The end of the message to an SDK that is used with a chain of another vendor word, whose names,
/// signatures and media types are not those of the SDK.
pub const SDK_NEEDS_PRESET: &str = "an SDK of Aptos needs a chain with the vendor word APTOS: \
                                    start a new one with `ledger-node run --preset sdk`";

/// Returns the reason for which a transaction was removed, as the end of a message.
fn words_after(reason: Option<&RemovalReason>) -> String {
    reason
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default()
}

/// A kind of error of the interface: one row of the table.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ErrorKind {
    /// No resource of the type exists at the address.
    #[error(
        "Resource not found by Address({address}), Struct tag({tag}) and Ledger version({version})"
    )]
    ResourceNotFound {
        /// The address.
        address: AccountAddress,
        /// Type of the resource. It is boxed because this variant would determine the size of every
        /// `Result`.
        tag: Box<StructTag>,
        /// Version of the ledger that was read.
        version: u64,
    },
    /// No module of the name exists at the address.
    #[error(
        "Module not found by Address({address}), Module name({name}) and Ledger version({version})"
    )]
    ModuleNotFound {
        /// The address.
        address: AccountAddress,
        /// Name of the module.
        name: Identifier,
        /// Version of the ledger that was read.
        version: u64,
    },
    /// The resource at the address does not have the field.
    #[error(
        "Struct Field not found by Address({address}), Struct tag({tag}), Field name({field}) and \
         Ledger version({version})"
    )]
    StructFieldNotFound {
        /// The address.
        address: AccountAddress,
        /// Type of the resource.
        tag: Box<StructTag>,
        /// Name of the field.
        field: Identifier,
        /// Version of the ledger that was read.
        version: u64,
    },
    /// The table has no item with the key, or does not exist.
    #[error(
        "Table Item not found by Table handle({handle}), Table key({key}) and Ledger \
         version({version})"
    )]
    TableItemNotFound {
        /// Address of the table.
        handle: AccountAddress,
        /// The key, as in the request.
        key: String,
        /// Version of the ledger that was read.
        version: u64,
    },
    /// No value exists under a state key.
    #[error("State Value not found by State key({key}) and Ledger version({version})")]
    StateValueNotFound {
        /// The key, as in the request, in hexadecimal.
        key: String,
        /// Version of the ledger that was read.
        version: u64,
    },
    /// The version is above the newest one.
    #[error("Ledger version not found by Ledger version({0})")]
    VersionNotFound(u64),
    /// The ledger did not have the requested minimum version in time.
    #[error("ledger version {version} is not reached: the newest version is {newest}; retry later")]
    VersionNotReached {
        /// The minimum version.
        version: u64,
        /// Newest version of the ledger.
        newest: u64,
    },
    /// The requested minimum version is so far above the newest version that no read waits for it.
    #[error(
        "ledger version {version} is too far ahead: the newest version is {newest}, and a read \
         waits for at most {max} more; check that the version is one of this chain",
        max = VERSIONS_AHEAD_MAX
    )]
    VersionTooFarAhead {
        /// The minimum version.
        version: u64,
        /// Newest version of the ledger.
        newest: u64,
    },
    /// The transaction is neither pending nor committed.
    #[error("Transaction not found by {name}{}", words_after(.left.as_ref()))]
    TransactionNotFound {
        /// The name in the request.
        name: TransactionName,
        /// The reason for which the mempool removed it, while the removal log has it.
        left: Option<RemovalReason>,
    },
    /// The height is above that of the newest block.
    #[error("Block not found by Block height({0})")]
    BlockNotFound(u64),
    /// The version is below the oldest readable one.
    #[error("Ledger version({0}) has been pruned")]
    VersionPruned(u64),
    /// The first events of the page are pruned.
    #[error("Event({start}) has been pruned, the events before {end} are gone")]
    EventPruned {
        /// Sequence number of the first requested event.
        start: u64,
        /// Sequence number after the last pruned event.
        end: u64,
    },
    /// The first transactions of an account's page are pruned.
    #[error(
        "Account transaction({start}) has been pruned, those with a sequence number before {end} \
         are gone"
    )]
    AccountTransactionPruned {
        /// First requested sequence number.
        start: u64,
        /// Sequence number after the last pruned transaction.
        end: u64,
    },
    /// The transaction may have been committed at a version that is pruned.
    #[error(
        "Transaction({hash}) may have been committed, those before version {oldest} are gone: \
         submit a transaction only after you have read its effects"
    )]
    TransactionPruned {
        /// Hash of the transaction.
        hash: HashValue,
        /// Oldest readable version.
        oldest: u64,
    },
    /// The block is pruned.
    #[error("Block({0}) has been pruned")]
    BlockPruned(u64),
    /// The input is well formed and invalid, for the reason in the text.
    #[error("{0}")]
    InvalidInput(String),
    /// A view function failed.
    #[error("{message}")]
    ViewFailed {
        /// Status of the failure, as text.
        message: String,
        /// Status code of the failure (docs/reference/reference-node.md#r15).
        vm_error_code: u64,
    },
    /// The mempool has a transaction with the same sender and sequence number or nonce, which this
    /// one cannot replace for the reason in the text.
    #[error("{0}")]
    InvalidUpdate(String),
    /// A transaction with this sequence number is in a block that is not committed yet.
    #[error(
        "transaction sequence number is {given}, current sequence number is {current}; used by \
         transaction {used_by}"
    )]
    SequenceNumberTooOld {
        /// Sequence number of the transaction.
        given: u64,
        /// Next sequence number of the sender.
        current: u64,
        /// Hash of the transaction in the block.
        used_by: HashValue,
    },
    /// Validation rejected the transaction.
    #[error(transparent)]
    Refused(#[from] Discard),
    /// The operator's filter rejected the transaction.
    #[error(transparent)]
    RejectedByFilter(#[from] Filtered),
    /// The operator has disabled this part of the interface.
    #[error("disabled on this node: {} is false", .0.setting())]
    ApiDisabled(Switch),
    /// The operator denies the requests of the client's address.
    #[error("requests from this address are denied on this node (api.denied_addresses)")]
    AddressDenied,
    /// The newest block is older than the health check allows.
    #[error("{0}")]
    HealthCheck(String),
    /// The mempool is full.
    #[error("{0}")]
    PoolFull(String),
    /// A limit is reached: the mailbox of an actor, the queue of other threads, the requests in
    /// flight, or the memory of bodies or responses.
    #[error(transparent)]
    Overloaded(#[from] Overload),
    /// The newest block was not applied to the database in time for a read.
    #[error("the disk of the node is too slow to read the newest block; retry later")]
    NotApplied,
    /// Another node may know the transaction, and did not answer or is ahead of this one.
    #[error(
        "other nodes may know the transaction, and do not answer or are ahead of this one; retry \
         later"
    )]
    Unresolved,
    /// The store cannot be written, because its disk failed or is full, or its content is wrong.
    #[error(transparent)]
    Unwritable(NotWritable),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The node failed. The cause is in its log, not in the response.
    #[error("internal error: {0}")]
    Internal(&'static str),
    /// A path parameter, query parameter or body does not have its declared type.
    #[error("{0}")]
    Syntax(String),
    /// No route has the path.
    #[error("not found: no route {0}")]
    UnknownRoute(String),
    /// No route of the path has the method. The text is the value of `Allow`.
    #[error("method not allowed, use {0}")]
    MethodNotAllowed(String),
    /// The preflight request of a web page names no method of the interface. The text lists them.
    #[error("request-method not allowed for web pages, use {0}")]
    MethodOfPage(String),
    /// The request has a body without a length that is not chunked.
    #[error("missing `Content-Length` header")]
    LengthRequired,
    /// The body is larger than `api.max_body_bytes` or the limit of the operation.
    #[error("payload too large: a body has at most {limit_bytes} bytes")]
    BodyTooLarge {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// Parsing the JSON body could take too much memory, because it has many small values.
    #[error(
        "the body holds too many values: it would take more than {limit_bytes} bytes of memory"
    )]
    BodyTooManyValues {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The body did not arrive in time.
    #[error("the body did not arrive within {timeout_secs} seconds")]
    BodyTimeout {
        /// The limit, in seconds.
        timeout_secs: u64,
    },
    /// Path and query are longer than the limit.
    #[error("the path and query of a request have at most {limit_bytes} bytes")]
    UriTooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The route does not accept the media type of the body.
    #[error("the `Content-Type` requested by the client is not supported: {0}")]
    UnsupportedContentType(String),
    /// The body has the media type of an SDK, but the chain has another vendor word.
    #[error(
        "the `Content-Type` requested by the client is not supported: {0}; {preset}",
        preset = SDK_NEEDS_PRESET
    )]
    MediaTypeOfSdk(String),
    /// The body has a content coding.
    #[error("the `Content-Encoding` of the request is not supported: {0}; send the body unencoded")]
    UnsupportedContentEncoding(String),
    /// The body has no media type.
    #[error("missing `Content-Type` header")]
    MissingContentType,
    /// The operation of this name does not respond in BCS.
    #[error("{0} responds in JSON only, not in BCS")]
    BcsNotSupported(&'static str),
}

impl ErrorKind {
    /// Returns the status and the `error_code`: the table.
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
            // The closed list of codes has none for events and transactions.
            Self::VersionPruned(_)
            | Self::EventPruned { .. }
            | Self::AccountTransactionPruned { .. }
            | Self::TransactionPruned { .. } => (Status::GONE, Code::VersionPruned),
            Self::BlockPruned(_) => (Status::GONE, Code::BlockPruned),
            Self::InvalidInput(_) | Self::ViewFailed { .. } => {
                (Status::BAD_REQUEST, Code::InvalidInput)
            }
            Self::InvalidUpdate(_) => (Status::BAD_REQUEST, Code::InvalidTransactionUpdate),
            Self::SequenceNumberTooOld { .. } => (Status::BAD_REQUEST, Code::SequenceNumberTooOld),
            Self::Refused(_) => (Status::BAD_REQUEST, Code::VmError),
            // Unlike the reference node, which responds with 500
            // (docs/use/interface.md#submission-filter).
            Self::RejectedByFilter(_) => (Status::FORBIDDEN, Code::RejectedByFilter),
            Self::ApiDisabled(_) | Self::AddressDenied => (Status::FORBIDDEN, Code::ApiDisabled),
            Self::HealthCheck(_) => (Status::SERVICE_UNAVAILABLE, Code::HealthCheckFailed),
            Self::PoolFull(_) => (Status::INSUFFICIENT_STORAGE, Code::MempoolIsFull),
            Self::VersionNotReached { .. }
            | Self::VersionTooFarAhead { .. }
            | Self::Overloaded(_)
            | Self::NotApplied
            | Self::Unresolved
            | Self::Unwritable(_)
            | Self::Stopping => (Status::SERVICE_UNAVAILABLE, Code::InternalError),
            Self::Internal(_) => (Status::INTERNAL_SERVER_ERROR, Code::InternalError),
            Self::Syntax(_) => (Status::BAD_REQUEST, Code::WebFrameworkError),
            Self::UnknownRoute(_) => (Status::NOT_FOUND, Code::WebFrameworkError),
            Self::MethodNotAllowed(_) => (Status::METHOD_NOT_ALLOWED, Code::WebFrameworkError),
            Self::MethodOfPage(_) => (Status::FORBIDDEN, Code::WebFrameworkError),
            Self::LengthRequired => (Status::LENGTH_REQUIRED, Code::WebFrameworkError),
            Self::BodyTooLarge { .. } | Self::BodyTooManyValues { .. } => {
                (Status::PAYLOAD_TOO_LARGE, Code::WebFrameworkError)
            }
            Self::BodyTimeout { .. } => (Status::REQUEST_TIMEOUT, Code::WebFrameworkError),
            Self::UriTooLong { .. } => (Status::URI_TOO_LONG, Code::WebFrameworkError),
            Self::UnsupportedContentType(_)
            | Self::MediaTypeOfSdk(_)
            | Self::UnsupportedContentEncoding(_)
            | Self::MissingContentType => (Status::UNSUPPORTED_MEDIA_TYPE, Code::WebFrameworkError),
            Self::BcsNotSupported(_) => (Status::BAD_REQUEST, Code::BcsNotSupported),
        }
    }
}

#[cfg(test)]
mod tests;
