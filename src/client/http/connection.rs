//! An HTTP/1.1 connection with one request at a time.
//!
//! Requests are bytes that the caller prepared, and only the needed part of a response is parsed,
//! so that a node on the same machine gets the processor.

use super::{
    endpoint::Endpoint,
    response::{InvalidResponse, RESPONSE_BYTES_MAX, Response, ResponseHead},
    stream::Stream,
};
use crate::error::RequestError;
use bytes::BytesMut;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for a response, longer than any long poll that a node allows.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum free space for a read, in bytes. Most responses arrive in one read.
const RECEIVE_BYTES: usize = 4 * 1024;
/// The first bytes of a TLS alert: its content type and the major version.
const TLS_ALERT: [u8; 2] = [21, 3];

/// A connection that is opened for its first request, and again after an error.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    stream: Option<Stream>,
    received: BytesMut,
}

impl From<InvalidResponse> for RequestError {
    fn from(InvalidResponse: InvalidResponse) -> Self {
        Self::InvalidResponse
    }
}

impl Connection {
    /// Creates a connection to `endpoint`, without opening it.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            stream: None,
            received: BytesMut::new(),
        }
    }

    /// Opens the connection, unless it is open and the server has not closed it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Connection::exchange`] for a connection that cannot be opened.
    pub(super) async fn open(&mut self) -> Result<(), RequestError> {
        self.stream = Some(self.take_open_stream().await?);
        Ok(())
    }

    /// Sends a request, which is complete bytes of HTTP/1.1, and reads its response.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::Local`] if this machine lacks a resource for the connection,
    /// [`RequestError::Connect`] or [`RequestError::Tls`] if it cannot be opened otherwise, and
    /// another variant if no valid response is received in time. The next request opens a new
    /// connection.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Response, RequestError> {
        let response = timeout(RESPONSE_TIMEOUT, self.exchange_unlimited(request)).await;
        let response = response.unwrap_or(Err(RequestError::Timeout {
            secs: RESPONSE_TIMEOUT.as_secs(),
        }));
        if response.is_err() {
            self.stream = None;
        }
        response
    }

    /// Sends a request and reads its response, without a time limit.
    async fn exchange_unlimited(&mut self, request: &[u8]) -> Result<Response, RequestError> {
        let mut stream = self.take_open_stream().await?;
        stream.write_all(request).await.map_err(RequestError::Io)?;
        let mut head = None;
        let mut is_closed = false;
        loop {
            if head.is_none() {
                head = ResponseHead::parse(&self.received)
                    .map_err(|error| self.head_error(&stream, error))?;
            }
            if let Some(head) = &head
                && let Some(response) = head.take_response(&mut self.received, is_closed)?
            {
                // Bytes behind the response do not belong to the next response.
                if !head.is_last && self.received.is_empty() {
                    self.stream = Some(stream);
                }
                return Ok(response);
            }
            if is_closed || self.received.len() > 2 * RESPONSE_BYTES_MAX {
                return Err(RequestError::InvalidResponse);
            }
            self.received.reserve(RECEIVE_BYTES);
            let read = stream.read_buf(&mut self.received).await;
            is_closed = read.map_err(RequestError::Io)? == 0;
        }
    }

    /// Takes the open stream if the server has not closed it, or opens a new one.
    async fn take_open_stream(&mut self) -> Result<Stream, RequestError> {
        if let Some(mut stream) = self.stream.take()
            && stream.is_quiet()
        {
            return Ok(stream);
        }
        self.received.clear();
        // Boxed, because a handshake would enlarge the future of every request.
        Box::pin(Stream::connect(&self.endpoint)).await
    }

    /// Returns the error for received bytes that are not the start of a response.
    fn head_error(&self, stream: &Stream, error: InvalidResponse) -> RequestError {
        if !stream.is_tls() && self.received.starts_with(&TLS_ALERT) {
            RequestError::TlsServer
        } else {
            error.into()
        }
    }
}
