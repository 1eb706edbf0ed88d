//! One HTTP/2 connection, whose streams a test holds in its hand.

use super::{H2, TestCertificate, TestNode};
use bytes::Bytes;
use h2::{
    Reason,
    client::{ResponseFuture, SendRequest, handshake},
};
use hyper::http::{HeaderMap, Method, Request};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connection; ends when it and its streams are dropped.
pub struct Http2(SendRequest<Bytes>);

/// A request that was sent.
pub struct Http2Stream {
    answer: ResponseFuture,
    sent: h2::SendStream<Bytes>,
}

/// An answer, read to its end. The body is null when it is no JSON.
#[derive(Debug)]
pub struct Http2Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub json: Value,
}

impl Http2 {
    pub async fn connect(node: &TestNode, certificate: &TestCertificate) -> Self {
        Self::over(certificate.connect(node, &[H2]).await).await
    }

    /// Sends the connection preface over a TLS connection that agreed on HTTP/2.
    pub async fn over(stream: TlsStream<TcpStream>) -> Self {
        let (sender, connection) = handshake(stream).await.unwrap();
        // It fails where a test ends the node first.
        tokio::spawn(async move { connection.await.is_ok() });
        Self(sender)
    }

    /// Sends a request; the body may be empty.
    pub async fn begin(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Http2Stream {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", super::SERVER_NAME));
        if !body.is_empty() {
            request = request.header("content-type", content_type);
        }
        let mut sender = self.0.clone().ready().await.unwrap();
        let request = request.body(()).unwrap();
        let (answer, mut sent) = sender.send_request(request, body.is_empty()).unwrap();
        if !body.is_empty() {
            sent.send_data(Bytes::copy_from_slice(body), true).unwrap();
        }
        Http2Stream { answer, sent }
    }

    pub async fn begin_get(&self, path: &str) -> Http2Stream {
        self.begin(Method::GET, path, "", &[]).await
    }

    pub async fn get(&self, path: &str) -> Http2Answer {
        self.begin_get(path).await.answer().await
    }
}

impl Http2Stream {
    /// Waits for the answer and reads it.
    pub async fn answer(self) -> Http2Answer {
        let (head, mut body) = self.answer.await.unwrap().into_parts();
        let mut bytes = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.unwrap();
            body.flow_control().release_capacity(chunk.len()).unwrap();
            bytes.extend_from_slice(&chunk);
        }
        Http2Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            json: serde_json::from_slice(&bytes).unwrap_or_default(),
        }
    }

    /// Takes the request back.
    pub fn reset(mut self) {
        self.sent.send_reset(Reason::CANCEL);
    }
}
