//! A client of the admin listener of a node.

use crate::{
    ClientError,
    http::{Endpoint, HttpClient, TrustedRoots, read_json},
};
use serde::{Serialize, de::DeserializeOwned};

/// A client of one admin listener. Clones share its connections.
#[derive(Debug, Clone)]
pub struct AdminClient {
    http: HttpClient,
    /// The path of the listener, without a trailing slash.
    base_path: String,
}

impl AdminClient {
    /// Creates a client of the listener at `url`, without connecting to it. An `https://` URL is
    /// verified with `roots`. `token` is that of `admin.token_file`, without control characters.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Endpoint::parse`].
    pub fn new(url: &str, roots: &TrustedRoots, token: Option<&str>) -> Result<Self, ClientError> {
        let endpoint = Endpoint::parse(url, roots)?;
        let base_path = endpoint.path().to_owned();
        let http = HttpClient::new(endpoint);
        let http = match token {
            Some(token) => http.with_token(token),
            None => http,
        };
        Ok(Self { http, base_path })
    }

    /// Requests a resource, such as `/consensus`, and deserializes the JSON body.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoResponse`] if the node does not respond, [`ClientError::Rejected`]
    /// if it responds with an error status, and [`ClientError::UnexpectedResponse`] if the body is
    /// no `T`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let path = format!("{}{path}", self.base_path);
        let response = self.http.get(&path).await?;
        read_json(&self.http.url(&path), &response)
    }

    /// Requests a probe, such as `/readyz`, whose response is a text.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoResponse`] if the node does not respond, and
    /// [`ClientError::Rejected`] with the names of the checks that fail.
    pub async fn probe(&self, path: &str) -> Result<(), ClientError> {
        let path = format!("{}{path}", self.base_path);
        self.http.get(&path).await.map(drop)
    }

    /// Sends a JSON body, such as a peer to `/peers`, and deserializes the JSON body of the
    /// response.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoResponse`] if the node does not respond, [`ClientError::Rejected`]
    /// if it responds with an error status, and [`ClientError::UnexpectedResponse`] if the body is
    /// no `T`. Except after a rejection, the node may have executed the request.
    ///
    /// # Panics
    ///
    /// Panics if `body` has no JSON form, such as a map with keys that are no texts.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let path = format!("{}{path}", self.base_path);
        let body = serde_json::to_vec(body).expect("the body has a JSON form");
        let response = self.http.post(&path, "application/json", body).await?;
        read_json(&self.http.url(&path), &response)
    }
}
