//! HTTP/1.1 on hyper, with or without TLS: requests of the clients, and the connections of a load.

mod connection;
mod endpoint;
mod tls;

pub use connection::{Connection, Request, Response};
pub use endpoint::Endpoint;
pub use tls::TrustedRoots;

use crate::{ClientError, error::RequestError};
use ::http::{
    HeaderValue, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION},
    request::Builder,
};
use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    io::ErrorKind,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::timeout;

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of characters that an error quotes of a body in an unknown form.
const QUOTED_CHARS_MAX: usize = 300;

/// The readable fields of an error body.
#[derive(Deserialize)]
struct ErrorBody {
    message: String,
    error_code: String,
}

/// A client of one service. It uses no proxy and follows no redirects. Clones share its
/// connections.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    endpoint: Endpoint,
    /// The value of the field `Authorization`. `Debug` does not print it.
    authorization: Option<HeaderValue>,
    /// Idle connections, at most as many as requests were concurrent.
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl HttpClient {
    /// Creates a client of the service at `endpoint`, without connecting to it.
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            authorization: None,
            idle: Arc::default(),
        }
    }

    /// Adds a bearer token (RFC 6750) to the requests of this client.
    ///
    /// # Panics
    ///
    /// Panics if the token has control characters.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        let mut value: HeaderValue = format!("Bearer {token}")
            .parse()
            .expect("a token without control characters");
        value.set_sensitive(true);
        self.authorization = Some(value);
        self
    }

    /// Returns the URL of a path at the service.
    pub(crate) fn url(&self, path: &str) -> String {
        self.endpoint.url(path)
    }

    /// Sends a GET request.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoResponse`] if the service does not respond, and
    /// [`ClientError::Rejected`] with the message of the body if the status is not a success.
    pub(crate) async fn get(&self, path: &str) -> Result<Response, ClientError> {
        let request = self.endpoint.request(Method::GET, path);
        self.request(path, request, Bytes::new()).await
    }

    /// Sends a POST request with a body of this media type.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`HttpClient::get`]. After [`ClientError::NoResponse`] the service may
    /// have executed the request.
    pub(crate) async fn post(
        &self,
        path: &str,
        media_type: &str,
        body: impl Into<Bytes>,
    ) -> Result<Response, ClientError> {
        let request = self.endpoint.request(Method::POST, path);
        let request = request.header(CONTENT_TYPE, media_type);
        self.request(path, request, body.into()).await
    }

    /// Sends a request, and returns the response if its status is a success.
    async fn request(
        &self,
        path: &str,
        request: Builder,
        body: Bytes,
    ) -> Result<Response, ClientError> {
        let mut request = request.header(ACCEPT, "*/*");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(body.into()).expect("a path and valid fields");
        let response = self
            .exchange(request)
            .await
            .map_err(|source| ClientError::NoResponse {
                url: self.url(path),
                source,
            })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let body: Option<ErrorBody> = serde_json::from_slice(response.body()).ok();
        Err(ClientError::Rejected {
            url: self.url(path),
            status: response.status().as_u16(),
            message: rejection_message(&response, body.as_ref()),
            error_code: body.map(|body| body.error_code),
        })
    }

    /// Sends a request on an idle connection, or on a new one if there is none.
    async fn exchange(&self, request: Request) -> Result<Response, RequestError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut connection = taken.unwrap_or_else(|| Connection::new(self.endpoint.clone()));
        timeout(CONNECT_TIMEOUT, connection.open())
            .await
            .unwrap_or_else(|_| Err(RequestError::Connect(ErrorKind::TimedOut.into())))?;
        let response = connection.exchange(request).await?;
        idle().push(connection);
        Ok(response)
    }
}

/// Returns the message of an error response, or the start of its body if that has another form than
/// `body`.
fn rejection_message(response: &Response, body: Option<&ErrorBody>) -> String {
    if response.status().is_redirection()
        && let Some(location) = response.headers().get(LOCATION)
    {
        let location = String::from_utf8_lossy(location.as_bytes());
        return format!("redirects are not followed; use {location}");
    }
    match body {
        Some(error) => format!("{} ({})", error.message, error.error_code),
        None => String::from_utf8_lossy(response.body())
            .chars()
            .take(QUOTED_CHARS_MAX)
            .collect(),
    }
}

/// Deserializes the JSON body of a response.
///
/// # Errors
///
/// Returns [`ClientError::UnexpectedResponse`] if the body has another form.
pub(crate) fn read_json<T: DeserializeOwned>(
    url: &str,
    response: &Response,
) -> Result<T, ClientError> {
    serde_json::from_slice(response.body()).map_err(|error| ClientError::UnexpectedResponse {
        url: url.to_owned(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        sync::Notify,
    };

    /// A server that sends the same bytes to each request.
    struct Server {
        client: HttpClient,
        accepted: Arc<AtomicUsize>,
        /// Notified when the server has closed a connection.
        closed: Arc<Notify>,
    }

    impl Server {
        /// Starts a server that closes a connection after one response if it is not `persistent`,
        /// without announcing it.
        async fn start(response: &'static [u8], persistent: bool) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let (accepted, closed) = <(Arc<AtomicUsize>, Arc<Notify>)>::default();
            let server = Self {
                client: HttpClient::new(Endpoint::plain(address)),
                accepted: Arc::clone(&accepted),
                closed: Arc::clone(&closed),
            };
            tokio::spawn(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    accepted.fetch_add(1, Relaxed);
                    let mut request = [0; 1024];
                    while stream.read(&mut request).await.unwrap_or_default() > 0 {
                        stream.write_all(response).await.unwrap();
                        if !persistent {
                            break;
                        }
                    }
                    drop(stream);
                    closed.notify_one();
                }
            });
            server
        }
    }

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

    #[tokio::test]
    async fn sends_requests_on_an_idle_connection() {
        let server = Server::start(OK, true).await;
        for _ in 0..3 {
            server.client.get("/").await.unwrap();
        }
        assert_eq!(server.accepted.load(Relaxed), 1);
    }

    #[tokio::test]
    async fn opens_a_connection_again_after_the_server_has_closed_it() {
        let server = Server::start(OK, false).await;
        for _ in 0..3 {
            server.client.get("/").await.unwrap();
            server.closed.notified().await;
        }
        assert_eq!(server.accepted.load(Relaxed), 3);
    }

    #[tokio::test]
    async fn does_not_reuse_a_connection_with_bytes_behind_a_response() {
        let responses = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}\
            HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n";
        let server = Server::start(responses, true).await;
        for _ in 0..3 {
            server.client.get("/").await.unwrap();
        }
        assert_eq!(server.accepted.load(Relaxed), 3);
    }

    #[tokio::test]
    async fn reuses_a_connection_after_interim_responses_and_trailers() {
        let response = b"HTTP/1.1 100 Continue\r\n\r\n\
            HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
            2\r\n{}\r\n0\r\nx-digest: a\r\n\r\n";
        let server = Server::start(response, true).await;
        for _ in 0..3 {
            let response = server.client.get("/").await.unwrap();
            assert_eq!(response.body(), "{}");
        }
        assert_eq!(server.accepted.load(Relaxed), 1);
    }

    #[tokio::test]
    async fn names_the_location_of_a_redirect() {
        let response = b"HTTP/1.1 301 Moved\r\nlocation: https://a/\r\ncontent-length: 0\r\n\r\n";
        let server = Server::start(response, true).await;
        let error = server.client.post("/", "text/plain", "a").await;
        let text = error.unwrap_err().to_string();
        assert!(text.contains("responded with 301"), "{text}");
        assert!(text.contains("use https://a/"), "{text}");
    }

    #[tokio::test]
    async fn rejects_incomplete_malformed_and_large_responses() {
        let responses: [&[u8]; 7] = [
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            b"HTTP/1.1 2000 OK\r\n\r\n",
            b"SSH-2.0\r\n\r\n",
        ];
        for response in responses {
            let server = Server::start(response, false).await;
            let error = server.client.get("/").await.unwrap_err();
            let ClientError::NoResponse { source, .. } = error else {
                panic!("{error}");
            };
            let text = String::from_utf8_lossy(response);
            assert!(
                matches!(source, RequestError::InvalidResponse),
                "{source} for {text}"
            );
        }
    }

    #[tokio::test]
    async fn recognizes_a_tls_alert() {
        let server = Server::start(&[21, 3, 3, 0, 2, 2, 10], false).await;
        let error = server.client.get("/v1").await.unwrap_err();
        let ClientError::NoResponse { url, source } = error else {
            panic!("{error}");
        };
        assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/v1"));
        assert!(matches!(source, RequestError::TlsServer), "{source}");
    }
}
