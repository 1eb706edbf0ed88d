//! Clients of a ledger node: keys and signatures, the REST interface, the faucet.
//!
//! | to find | look in |
//! |---|---|
//! | keys, and transactions that are built and signed | `signer` |
//! | the REST interface and the faucet over HTTP | `node`, `faucet` |
//! | errors | `error` |

// A node's response must not end the process: a panic means a broken invariant, and names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod error;
mod faucet;
mod node;
pub mod signer;

pub use error::ClientError;
pub use faucet::FaucetClient;
pub use node::{LedgerState, NodeClient, submission_media_type};

use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one answer may take: longer than any wait that a node would hold a long poll for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

fn http_client() -> Result<reqwest::Client, ClientError> {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .no_proxy()
        .build()
        .map_err(|source| ClientError::NoAnswer {
            url: String::from("(client)"),
            source,
        })
}

/// Reads the address of a service: `http://HOST:PORT`, to which paths are appended.
fn base_url(text: &str) -> Result<String, ClientError> {
    let url = reqwest::Url::parse(text).map_err(|error| ClientError::BadUrl {
        url: text.to_owned(),
        reason: error.to_string(),
    })?;
    if url.scheme() == "https" {
        return Err(ClientError::BadUrl {
            url: text.to_owned(),
            reason: "this program's clients speak no TLS; let a node without api.tls_certificate, or what \
                     ends TLS before them, answer at an http://HOST:PORT"
                .to_owned(),
        });
    }
    if url.scheme() != "http" || url.host_str().is_none() {
        return Err(ClientError::BadUrl {
            url: text.to_owned(),
            reason: "expected http://HOST:PORT".to_owned(),
        });
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}
