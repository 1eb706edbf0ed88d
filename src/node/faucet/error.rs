//! Errors of the faucet and their responses (docs/reference/reference-node.md#r35).

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use ledger_actors::{NotWritable, Overload};
use ledger_api::{ErrorKind, SDK_NEEDS_PRESET, UNWRITABLE_RETRY_AFTER_SECS};
use ledger_crypto::HashValue;
use ledger_types::Vendor;
use serde::Serialize;

/// Reasons why a request is not funded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FaucetError {
    /// The request cannot be understood.
    #[error("{0}")]
    InvalidRequest(String),
    /// The client is an SDK that cannot use the account, because the chain has another vendor word.
    #[error("this chain has the vendor word {0}; {preset}", preset = SDK_NEEDS_PRESET)]
    ClientIsSdk(Vendor),
    /// The `Host` or `Origin` header is foreign.
    #[error("{0}")]
    Foreign(String),
    /// The HTTP server rejected the request before its route was known.
    #[error("{message}")]
    RejectedHead {
        /// Status of the response.
        status: StatusCode,
        /// Reason of the rejection.
        message: String,
    },
    /// There is no such route.
    #[error("not found: the routes are /, /fund and /mint")]
    UnknownRoute,
    /// The route has another method.
    #[error("method not allowed, use {0}")]
    MethodNotAllowed(&'static str),
    /// The body cannot be read.
    #[error(transparent)]
    Body(#[from] ErrorKind),
    /// The queue of the faucet or of a part of the node is full.
    #[error(transparent)]
    Overloaded(#[from] Overload),
    /// The mempool is full, for the reason in the text.
    #[error("{0}")]
    MempoolFull(String),
    /// Other users of the faucet's key took the sequence numbers of its transactions.
    #[error("the faucet's key is in use elsewhere; retry later")]
    KeyInUse,
    /// The newest block was not applied to the database in time for a read.
    #[error("the disk of the node is too slow to read the newest block; retry later")]
    NotApplied,
    /// Other nodes may know the outcome, and do not answer.
    #[error("other nodes do not answer; check the balance, because the payment may still be made")]
    Unresolved,
    /// The ledger cannot be written.
    #[error(transparent)]
    Unwritable(NotWritable),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The node stops while the payment is pending. The next start continues it.
    #[error("the node is stopping; check the balance, because the payment may still be made")]
    Unfinished,
    /// The transaction failed, or was rejected. It paid no one.
    #[error("the funding transaction failed: {0}")]
    Failed(String),
    /// The transaction was pruned before its outcome was read. It may have paid.
    #[error("the outcome of the funding transaction {0} is already pruned; check the balance")]
    Unclear(HashValue),
    /// The ledger cannot be read. The log has the cause.
    #[error("the faucet cannot read the ledger")]
    Internal,
}

/// Body of an error response.
#[derive(Serialize)]
struct Body {
    message: String,
    error_code: &'static str,
    rejection_reasons: [(); 0],
    txn_hashes: [(); 0],
}

impl FaucetError {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidRequest(_) | Self::ClientIsSdk(_) => {
                (StatusCode::BAD_REQUEST, "InvalidRequest")
            }
            Self::Foreign(_) => (StatusCode::FORBIDDEN, "WebFrameworkError"),
            Self::RejectedHead { status, .. } => (*status, "WebFrameworkError"),
            Self::UnknownRoute => (StatusCode::NOT_FOUND, "WebFrameworkError"),
            Self::MethodNotAllowed(_) => (StatusCode::METHOD_NOT_ALLOWED, "WebFrameworkError"),
            Self::Body(problem) => match problem.row().0 {
                status @ StatusCode::BAD_REQUEST => (status, "InvalidRequest"),
                status => (status, "WebFrameworkError"),
            },
            Self::Overloaded(_)
            | Self::MempoolFull(_)
            | Self::KeyInUse
            | Self::NotApplied
            | Self::Unresolved
            | Self::Unwritable(_)
            | Self::Stopping
            | Self::Unfinished => (StatusCode::SERVICE_UNAVAILABLE, "ServerOverloaded"),
            Self::Failed(_) => (StatusCode::FORBIDDEN, "TransactionFailed"),
            Self::Unclear(_) | Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Internal"),
        }
    }

    /// Returns the JSON response of `/fund` and of unknown routes.
    pub fn json(&self) -> HttpResponse {
        let (status, error_code) = self.status_and_code();
        self.start(status).json(Body {
            message: self.to_string(),
            error_code,
            rejection_reasons: [],
            txn_hashes: [],
        })
    }

    /// Returns the plain text response of `/mint`.
    pub fn text(&self) -> HttpResponse {
        self.start(self.status_and_code().0)
            .content_type("text/plain; charset=utf-8")
            .body(self.to_string())
    }

    /// Returns the value of `Retry-After`, in seconds.
    ///
    /// A full queue states its own time. The mempool has capacity again after the next block, so
    /// one second, the minimum of the header, is long enough.
    fn retry_after_secs(&self) -> u64 {
        match self {
            Self::Overloaded(overload) => overload.retry_after_secs,
            Self::Unwritable(_) => UNWRITABLE_RETRY_AFTER_SECS,
            _ => 1,
        }
    }

    fn start(&self, status: StatusCode) -> actix_web::HttpResponseBuilder {
        let mut response = HttpResponse::build(status);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.insert_header((header::RETRY_AFTER, self.retry_after_secs().to_string()));
        }
        match self {
            Self::MethodNotAllowed(allowed) => {
                response.insert_header((header::ALLOW, *allowed));
            }
            Self::Body(problem) => {
                if let Some(accepted) = problem.accepted_encoding() {
                    response.insert_header((header::ACCEPT_ENCODING, accepted));
                }
            }
            _ => {}
        }
        response
    }
}
