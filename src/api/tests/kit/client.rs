//! Requests to the interface over one connection each. Its document must declare every response.

use super::contract::assert_declared;
use ledger_crypto::HashValue;
use ledger_test_support::http::{RawConnection, RawResponse, submission_media_type};
use ledger_types::{SignedTransaction, Vendor};
use ledger_vm::Chain;
use serde_json::Value;
use std::net::SocketAddr;

/// A client that asserts that the document of the interface declares every response.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    vendor: Vendor,
}

impl Client {
    pub fn new(address: SocketAddr, chain: &Chain) -> Self {
        Self {
            address,
            vendor: chain.vendor().clone(),
        }
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens a connection.
    pub async fn connect(&self) -> RawConnection {
        RawConnection::connect(self.address).await
    }

    /// Asserts that the document of the interface declares this response to `request`, if that
    /// begins with a request line.
    pub(super) fn assert_declared(&self, request: &[u8], response: &RawResponse) {
        let line = request
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        let words: Vec<_> = line
            .split(|byte| *byte == b' ')
            .map(String::from_utf8_lossy)
            .collect();
        if let [method, target, _] = words.as_slice() {
            assert_declared(self.vendor.lower(), method, target, response);
        }
    }

    /// Sends the bytes and reads one response.
    pub async fn raw(&self, request: &[u8]) -> RawResponse {
        let response = self.connect().await.exchange(request).await;
        let response = response.expect("a response");
        self.assert_declared(request, &response);
        response
    }

    /// Sends a request with these header lines, and with the length of the body if there is one.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> RawResponse {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            request += &format!("content-length: {}\r\n", body.len());
        }
        request += "\r\n";
        let mut request = request.into_bytes();
        request.extend_from_slice(body.unwrap_or_default());
        self.raw(&request).await
    }

    pub async fn get(&self, path: &str) -> RawResponse {
        self.send("GET", path, &[], None).await
    }

    pub async fn get_bcs(&self, path: &str) -> RawResponse {
        self.send("GET", path, &[("accept", "application/x-bcs")], None)
            .await
    }

    /// Posts a JSON body. `accept` is the media type of the response.
    pub async fn post_json(&self, path: &str, body: &Value, accept: &str) -> RawResponse {
        let body = serde_json::to_vec(body).unwrap();
        let headers = [("content-type", "application/json"), ("accept", accept)];
        self.send("POST", path, &headers, Some(&body)).await
    }

    /// Returns the media type of a BCS submission.
    pub fn signed_transaction_type(&self) -> String {
        submission_media_type(&self.vendor)
    }

    pub async fn submit_bcs(&self, signed: &SignedTransaction) -> RawResponse {
        let body = bcs::to_bytes(signed).unwrap();
        let media_type = self.signed_transaction_type();
        self.send(
            "POST",
            "/v1/transactions",
            &[("content-type", &media_type)],
            Some(&body),
        )
        .await
    }

    pub async fn submit_json(&self, body: &Value) -> RawResponse {
        let body = serde_json::to_vec(body).unwrap();
        let headers = [("content-type", "application/json; charset=utf-8")];
        self.send("POST", "/v1/transactions", &headers, Some(&body))
            .await
    }

    /// Waits until the transaction is committed, and returns its committed form.
    pub async fn wait(&self, hash: &HashValue) -> Value {
        loop {
            let response = self
                .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
                .await;
            assert_eq!(response.status, 200, "{}", response.text());
            let transaction = response.json();
            if transaction["type"] != "pending_transaction" {
                return transaction;
            }
        }
    }
}
