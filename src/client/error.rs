//! Errors of the clients, worded for the user of a command.

use ledger_crypto::HashValue;

/// An error of a request to a node or a faucet.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is not a usable address of a service. No request was sent.
    #[error("{url:?} is no address of a service: {reason}")]
    InvalidUrl {
        /// The URL as the caller passed it.
        url: String,
        /// The reason.
        reason: String,
    },
    /// No complete response was received. The service may have executed the request.
    #[error("no answer from {url}: {}", with_causes(source))]
    NoResponse {
        /// The requested URL.
        url: String,
        /// The error of the HTTP client.
        source: reqwest::Error,
    },
    /// The service responded with an error status.
    #[error("{url} answered {status}: {message}")]
    Rejected {
        /// The requested URL.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The message of the error body, or the start of a body in another form.
        message: String,
    },
    /// The response is a success, but not in the form of the interface.
    #[error("{url} answered something unexpected: {reason}")]
    UnexpectedResponse {
        /// The requested URL.
        url: String,
        /// The part that is not as expected.
        reason: String,
    },
    /// The transaction expired or was removed from the mempool, and was not committed.
    #[error("transaction {hash} was not committed: {reason}")]
    NotCommitted {
        /// The hash of the transaction.
        hash: HashValue,
        /// The message of the node's last response.
        reason: String,
    },
}

/// Formats an error with its chain of causes, because the outermost error of a connection names
/// only the URL.
fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
