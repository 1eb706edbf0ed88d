//! A node that a command reaches through its admin listener.

use super::CliError;
use crate::access::Token;
use ledger_client::{AdminClient, ClientError, RequestError, http::TrustedRoots};
use serde::de::DeserializeOwned;
use std::{future::Future, path::Path, time::Duration};
use tokio::time::timeout;

/// Default URL of an admin listener.
pub const ADMIN_URL: &str = "http://127.0.0.1:9101";

/// Time within which a node must respond: an idle one does in milliseconds, and a node that hangs
/// must not hide the state of the others.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A node that is reached through its admin listener.
pub struct Target {
    /// Name of its directory, or its URL.
    pub name: String,
    client: AdminClient,
}

/// An error of a request to a node.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing listens at its address.
    #[error("{0}")]
    NotRunning(String),
    /// It demands a token, or another one.
    #[error("{0}")]
    Unauthorized(String),
    /// The listener has no such resource.
    #[error("{0}")]
    NotFound(String),
    /// It rejected the request for another reason, or did not respond.
    #[error("{0}")]
    Failed(String),
}

impl Target {
    /// Returns the node whose admin listener is at `url`, with the token in a file.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if the URL or the file cannot be used.
    pub fn new(
        url: &str,
        token_file: Option<&Path>,
        roots: &TrustedRoots,
    ) -> Result<Self, CliError> {
        let read = |path: &Path| {
            Token::read(path).map_err(|error| CliError::fatal(path.display(), &error))
        };
        let token = token_file.map(read).transpose()?;
        Ok(Self {
            name: url.to_owned(),
            client: AdminClient::new(url, roots, token.as_ref().map(Token::expose))?,
        })
    }

    /// Returns the nodes of these URLs, which have the same token.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if a URL or the file of the token cannot be used.
    #[cfg(feature = "bft")]
    pub fn all(
        urls: &[String],
        token_file: Option<&Path>,
        roots: &TrustedRoots,
    ) -> Result<Vec<Self>, CliError> {
        let target = |url: &String| Self::new(url, token_file, roots);
        urls.iter().map(target).collect()
    }

    /// Requests a resource, such as `/consensus`.
    ///
    /// # Errors
    ///
    /// Returns the [`TargetError`] of a request that failed or took too long.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, TargetError> {
        within_timeout(self.client.get(path)).await
    }

    /// Requests a probe, such as `/readyz`.
    ///
    /// # Errors
    ///
    /// Returns the [`TargetError`] of a probe that failed or took too long.
    pub async fn probe(&self, path: &str) -> Result<(), TargetError> {
        within_timeout(self.client.probe(path)).await
    }

    /// Sends a JSON body, such as a peer to `/peers`.
    ///
    /// # Errors
    ///
    /// Returns the [`TargetError`] of a request that failed or took too long.
    #[cfg(feature = "bft")]
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<T, TargetError> {
        within_timeout(self.client.post(path, body)).await
    }
}

/// Waits for a response.
async fn within_timeout<T>(
    response: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, TargetError> {
    match timeout(RESPONSE_TIMEOUT, response).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(TargetError::Failed(format!(
            "no response within {} s",
            RESPONSE_TIMEOUT.as_secs()
        ))),
    }
}

impl From<ClientError> for TargetError {
    fn from(error: ClientError) -> Self {
        let text = error.to_string();
        match error {
            ClientError::NoResponse {
                source: RequestError::Connect(_),
                ..
            } => Self::NotRunning(text),
            ClientError::Rejected { status: 401, .. } => Self::Unauthorized(text),
            ClientError::Rejected { status: 404, .. } => Self::NotFound(text),
            _ => Self::Failed(text),
        }
    }
}
