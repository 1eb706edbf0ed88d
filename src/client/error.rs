//! What can go wrong between a client and a node, in words that its user can act on.

use ledger::HashValue;
use serde::Deserialize;

/// A request that did not lead to the answer asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address of the service cannot be used.
    #[error("{url:?} is no address of a service: {reason}")]
    BadUrl {
        /// As given.
        url: String,
        /// Why not.
        reason: String,
    },
    /// Nobody answers there.
    #[error("no answer from {url}: {}", causes(source))]
    NoAnswer {
        /// What was asked.
        url: String,
        /// Why.
        source: reqwest::Error,
    },
    /// The node refuses.
    #[error("{url} answered {status}: {message}")]
    Refused {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the node said.
        message: String,
    },
    /// The answer has not the form of the interface.
    #[error("{url} answered something unexpected: {reason}")]
    Unexpected {
        /// What was asked.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The transaction expired or left the pool.
    #[error("transaction {hash} was not committed: {reason}")]
    NotCommitted {
        /// Its hash.
        hash: HashValue,
        /// What the node said last.
        reason: String,
    },
}

/// The whole chain of causes: the outermost alone says little about a connection.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// The part of an error body that people read.
#[derive(Deserialize)]
struct ErrorMessage {
    message: String,
    error_code: String,
}

/// How much of a body that is no error body is shown, in characters.
const SHOWN_MAX: usize = 300;

/// Gives the answer back if it is a success, else the error that its body tells.
pub async fn success(
    url: &str,
    response: reqwest::Response,
) -> Result<reqwest::Response, ClientError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.text().await.unwrap_or_default();
    let message = match serde_json::from_str::<ErrorMessage>(&body) {
        Ok(error) => format!("{} ({})", error.message, error.error_code),
        Err(_) => body.chars().take(SHOWN_MAX).collect(),
    };
    Err(ClientError::Refused {
        url: url.to_owned(),
        status: status.as_u16(),
        message,
    })
}
