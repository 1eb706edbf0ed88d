//! Streams of one HTTP/2 connection.

use super::{HttpResponse, SERVER_NAME};
use bytes::Bytes;
use h2::{
    Ping, PingPong, Reason,
    client::{ResponseFuture, SendRequest, handshake},
};
use http::{Method, Request, request::Builder};
use std::future::poll_fn;
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_rustls::client::TlsStream;

/// A connection. It ends when it and its streams are dropped.
pub struct Http2Connection {
    sender: SendRequest<Bytes>,
    pings: PingPong,
    ended: JoinHandle<Result<(), h2::Error>>,
}

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
        let (sender, mut connection) = handshake(stream).await.expect("a connection");
        Self {
            sender,
            pings: connection.ping_pong().expect("the first call"),
            // The connection fails if the server ends before it.
            ended: tokio::spawn(connection),
        }
    }

    /// Sends a PING and waits for its acknowledgment.
    ///
    /// # Errors
    ///
    /// Returns the error that ended the connection.
    pub async fn ping(&mut self) -> Result<(), h2::Error> {
        self.pings.ping(Ping::opaque()).await.map(drop)
    }

    /// Returns whether requests may be sent, unless the server has sent GOAWAY.
    pub async fn accepts_streams(&self) -> bool {
        self.sender.clone().ready().await.is_ok()
    }

    /// Waits until the server has ended the connection.
    ///
    /// # Errors
    ///
    /// Returns the error if it did not end without one.
    ///
    /// # Panics
    ///
    /// Panics if the task of the connection does.
    pub async fn ended(self) -> Result<(), h2::Error> {
        self.ended.await.expect("no panic")
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
        let mut request = Request::builder().method(method).uri(url(path));
        if !body.is_empty() {
            request = request.header("content-type", content_type);
        }
        let mut stream = self.begin_request(request, body.is_empty()).await;
        if !body.is_empty() {
            stream.send_body(body);
        }
        stream
    }

    /// Sends the head of a POST request, whose body follows with [`Http2Stream::send_body`].
    ///
    /// # Panics
    ///
    /// Panics if the connection has ended.
    pub async fn begin_post(&self, path: &str, content_type: &str) -> Http2Stream {
        let request = Request::builder().method(Method::POST).uri(url(path));
        let request = request.header("content-type", content_type);
        self.begin_request(request, false).await
    }

    async fn begin_request(&self, request: Builder, has_no_body: bool) -> Http2Stream {
        let request = request.body(()).expect("a request");
        let mut sender = self.sender.clone().ready().await.expect("a connection");
        let (response, request) = sender
            .send_request(request, has_no_body)
            .expect("a connection");
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
            .uri(url(path))
            .header("content-type", content_type)
            .header("content-length", body_bytes)
            .header("expect", "100-continue");
        self.begin_request(request, false).await
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

/// Returns the URL of a path of the server.
fn url(path: &str) -> String {
    format!("https://{SERVER_NAME}{path}")
}

impl Http2Stream {
    /// Sends the whole body of the request.
    ///
    /// # Panics
    ///
    /// Panics if the stream has ended.
    pub fn send_body(&mut self, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.request.send_data(body, true).expect("an open stream");
    }

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

    /// Resets the stream.
    pub fn reset(mut self) {
        self.request.send_reset(Reason::CANCEL);
    }
}
