//! HTTP with JSON answers.

use reqwest::{Method, header::HeaderMap};
use serde_json::Value;

/// A client with its own connections.
#[derive(Clone, Debug)]
pub struct Http(reqwest::Client);

/// An answer, read to its end. The body is null when it is no JSON.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub json: Value,
}

impl Http {
    pub fn new() -> Self {
        Self(reqwest::Client::builder().no_proxy().build().unwrap())
    }

    /// Sends a request; `None` when no answer came, as from a node that was killed.
    pub async fn try_send(&self, request: reqwest::RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.ok()?;
        let json = serde_json::from_str(&text).unwrap_or_default();
        Some(Answer {
            status,
            headers,
            text,
            json,
        })
    }

    pub fn request(&self, method: Method, url: &str) -> reqwest::RequestBuilder {
        self.0.request(method, url)
    }

    pub async fn get(&self, url: &str) -> Answer {
        let request = self.request(Method::GET, url);
        self.try_send(request)
            .await
            .unwrap_or_else(|| panic!("no answer from {url}"))
    }

    pub async fn send_json(&self, method: Method, url: &str, body: &Value) -> Answer {
        let request = self.request(method, url).json(body);
        self.try_send(request)
            .await
            .unwrap_or_else(|| panic!("no answer from {url}"))
    }
}
