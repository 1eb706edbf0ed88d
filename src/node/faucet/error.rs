//! Errors of the faucet and their responses (docs/reference/reference-node.md#r35).

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use ledger_actors::StorageUnavailable;
use ledger_crypto::HashValue;
use serde::Serialize;

/// Why nobody was funded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FaucetError {
    /// The request makes no sense.
    #[error("{0}")]
    InvalidRequest(String),
    /// It comes from a page that may not ask, or asks under a name that is not the faucet's.
    #[error("{0}")]
    Foreign(String),
    /// No such route.
    #[error("not found: the routes are /, /fund and /mint")]
    UnknownRoute,
    /// The route knows another method.
    #[error("method not allowed, use {0}")]
    MethodNotAllowed(&'static str),
    /// The body is above the limit.
    #[error("payload too large: a body has at most {limit_bytes} bytes")]
    BodyTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// There are too many requests, here or in the node.
    #[error("the faucet is overloaded: {0}; try again soon")]
    Overloaded(&'static str),
    /// The ledger is not written at the moment, so nobody can be paid.
    #[error(transparent)]
    Unwritable(StorageUnavailable),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The transaction was committed and failed, or was never committed: nobody was paid.
    #[error("the funding transaction failed: {0}")]
    Failed(String),
    /// The node forgot the transaction before its outcome was seen; it may have paid.
    #[error("the outcome of the funding transaction {0} is pruned already; look at the balance")]
    Unclear(HashValue),
    /// The ledger could not be read; the cause is in the log.
    #[error("the faucet could not read the ledger")]
    Internal,
}

/// The faucet's error body.
#[derive(Serialize)]
struct Body {
    message: String,
    error_code: &'static str,
    rejection_reasons: [(); 0],
    txn_hashes: [(); 0],
}

impl FaucetError {
    fn row(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidRequest(_) => (StatusCode::BAD_REQUEST, "InvalidRequest"),
            Self::Foreign(_) => (StatusCode::FORBIDDEN, "WebFrameworkError"),
            Self::UnknownRoute => (StatusCode::NOT_FOUND, "WebFrameworkError"),
            Self::MethodNotAllowed(_) => (StatusCode::METHOD_NOT_ALLOWED, "WebFrameworkError"),
            Self::BodyTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "WebFrameworkError"),
            Self::Overloaded(_) | Self::Unwritable(_) | Self::Stopping => {
                (StatusCode::SERVICE_UNAVAILABLE, "ServerOverloaded")
            }
            Self::Failed(_) => (StatusCode::FORBIDDEN, "TransactionFailed"),
            Self::Unclear(_) | Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Internal"),
        }
    }

    /// The answer of `/fund`, and where there is no route: JSON.
    pub fn json(&self) -> HttpResponse {
        let (status, error_code) = self.row();
        self.start(status).json(Body {
            message: self.to_string(),
            error_code,
            rejection_reasons: [],
            txn_hashes: [],
        })
    }

    /// The answer of `/mint`: plain text.
    pub fn text(&self) -> HttpResponse {
        self.start(self.row().0)
            .content_type("text/plain; charset=utf-8")
            .body(self.to_string())
    }

    fn start(&self, status: StatusCode) -> actix_web::HttpResponseBuilder {
        let mut response = HttpResponse::build(status);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.insert_header((header::RETRY_AFTER, "1"));
        }
        if let Self::MethodNotAllowed(allowed) = self {
            response.insert_header((header::ALLOW, *allowed));
        }
        response
    }
}
