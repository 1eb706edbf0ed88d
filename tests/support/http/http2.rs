//! Streams of one HTTP/2 connection.

use super::{HttpResponse, SERVER_NAME};
use bytes::Bytes;
use h2::{
    Reason,
    client::{ResponseFuture, SendRequest, handshake},
};
use http::{Method, Request};
use std::future::poll_fn;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connection. It ends when it and its streams are dropped.
pub struct Http2Connection(SendRequest<Bytes>);

/// A request that was sent.
pub struct Http2Stream {
    response: ResponseFuture,
    request: h2::SendStream<Bytes>,
}

impl Http2Connection {
    /// Sends the connection preface over a TLS connection that agreed on HTTP/2.
    ///
    /// # Panics
    ///
    /// Panics if the server closes the connection.
    pub async fn over(stream: TlsStream<TcpStream>) -> Self {
        let (sender, connection) = handshake(stream).await.expect("a connection");
        // The connection fails if the server ends before it.
        tokio::spawn(async move { connection.await.is_ok() });
        Self(sender)
    }

    /// Sends a request. The content type is that of `body`, which may be empty.
    ///
    /// # Panics
    ///
    /// Panics if the connection has ended.
    pub async fn begin(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Http2Stream {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("https://{SERVER_NAME}{path}"));
        if !body.is_empty() {
            request = request.header("content-type", content_type);
        }
        let request = request.body(()).expect("a request");
        let mut sender = self.0.clone().ready().await.expect("a connection");
        let (response, mut request) = sender
            .send_request(request, body.is_empty())
            .expect("a connection");
        if !body.is_empty() {
            let body = Bytes::copy_from_slice(body);
            request.send_data(body, true).expect("an open stream");
        }
        Http2Stream { response, request }
    }

    /// Sends the head of a request that expects `100 Continue` before its body of `body_bytes`.
    ///
    /// # Panics
    ///
    /// Panics if the connection has ended.
    pub async fn begin_expecting(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body_bytes: usize,
    ) -> Http2Stream {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{SERVER_NAME}{path}"))
            .header("content-type", content_type)
            .header("content-length", body_bytes)
            .header("expect", "100-continue")
            .body(())
            .expect("a request");
        let mut sender = self.0.clone().ready().await.expect("a connection");
        let sent = sender.send_request(request, false);
        let (response, request) = sent.expect("a connection");
        Http2Stream { response, request }
    }

    /// Sends a GET request.
    pub async fn begin_get(&self, path: &str) -> Http2Stream {
        self.begin(Method::GET, path, "", &[]).await
    }

    /// Sends a GET request and returns its response.
    pub async fn get(&self, path: &str) -> HttpResponse {
        self.begin_get(path).await.response().await
    }
}

impl Http2Stream {
    /// Reads the response.
    ///
    /// # Panics
    ///
    /// Panics if the stream ends before it.
    pub async fn response(self) -> HttpResponse {
        let (head, mut body) = self.response.await.expect("a response").into_parts();
        let mut bytes = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.expect("a complete body");
            let released = body.flow_control().release_capacity(chunk.len());
            released.expect("capacity of this chunk");
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        HttpResponse::new(head.status.as_u16(), head.headers, text)
    }

    /// Waits for the next response, and returns its status if it is an interim one.
    ///
    /// # Panics
    ///
    /// Panics if the stream ends before it.
    pub async fn interim(&mut self) -> Option<u16> {
        let interim = poll_fn(|context| self.response.poll_informational(context)).await;
        interim.map(|response| response.expect("an open stream").status().as_u16())
    }

    /// Sends the body.
    ///
    /// # Panics
    ///
    /// Panics if the stream has ended.
    pub fn send(&mut self, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.request.send_data(body, true).expect("an open stream");
    }

    /// Resets the stream.
    pub fn reset(mut self) {
        self.request.send_reset(Reason::CANCEL);
    }
}
