//! Requests with pooled connections.

use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;
use std::net::IpAddr;

/// A client with its own connections.
#[derive(Clone, Debug)]
pub struct HttpClient(reqwest::Client);

/// A response with its whole body.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub text: String,
    /// The body as JSON, or null if it is not JSON.
    pub json: Value,
}

impl HttpResponse {
    /// Creates a response from its parts.
    pub(super) fn new(status: u16, headers: HeaderMap, text: String) -> Self {
        Self {
            status,
            headers,
            json: serde_json::from_str(&text).unwrap_or_default(),
            text,
        }
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpClient {
    /// Creates a client that uses no proxy.
    pub fn new() -> Self {
        let client = reqwest::Client::builder().no_proxy().build();
        Self(client.expect("an HTTP client"))
    }

    /// Creates a client that returns redirects instead of following them.
    pub fn without_redirects() -> Self {
        let builder = reqwest::Client::builder().no_proxy();
        let client = builder.redirect(reqwest::redirect::Policy::none()).build();
        Self(client.expect("an HTTP client"))
    }

    /// Creates a client whose connections come from this address of the machine.
    pub fn from_address(address: IpAddr) -> Self {
        let builder = reqwest::Client::builder().no_proxy();
        let client = builder.local_address(address).build();
        Self(client.expect("an HTTP client"))
    }

    /// Sends a request. Returns `None` if there is no response, as from a node that was killed.
    pub async fn try_send(&self, request: RequestBuilder) -> Option<HttpResponse> {
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.ok()?;
        Some(HttpResponse::new(status, headers, text))
    }

    /// Returns a builder of a request for [`Self::try_send`].
    pub fn request(&self, method: Method, url: &str) -> RequestBuilder {
        self.0.request(method, url)
    }

    /// Sends a GET request.
    ///
    /// # Panics
    ///
    /// Panics if there is no response.
    pub async fn get(&self, url: &str) -> HttpResponse {
        self.send(url, self.request(Method::GET, url)).await
    }

    /// Sends a request with a JSON body.
    ///
    /// # Panics
    ///
    /// Panics if there is no response.
    pub async fn send_json(&self, method: Method, url: &str, body: &Value) -> HttpResponse {
        self.send(url, self.request(method, url).json(body)).await
    }

    async fn send(&self, url: &str, request: RequestBuilder) -> HttpResponse {
        let response = self.try_send(request).await;
        response.unwrap_or_else(|| panic!("no response from {url}"))
    }
}
