//! An HTTP/1.1 connection with one request at a time.
//!
//! Requests are bytes that the caller prepared, and only the needed part of a response is parsed,
//! so that a node on the same machine gets the processor.

use super::{
    error::InvalidTarget,
    response::{InvalidResponse, RESPONSE_BYTES_MAX, Response, ResponseHead},
};
use bytes::BytesMut;
use http::Uri;
use rustix::io::Errno;
use std::{
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Time limit for a response, longer than any long poll that a node allows.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum free space for a read, in bytes. Most responses arrive in one read.
const RECEIVE_BYTES: usize = 4 * 1024;

/// A connection that is opened for its first request, and again after an error.
#[derive(Debug)]
pub struct Connection {
    /// `HOST:PORT`.
    authority: String,
    stream: Option<TcpStream>,
    received: BytesMut,
}

/// An error of a request.
#[derive(Debug)]
pub enum RequestError {
    /// No valid response was received. The server may have executed the request.
    NoResponse,
    /// This machine could not open the connection, for lack of descriptors, ports or memory.
    Local(io::Error),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResponse => f.write_str("no answer came"),
            Self::Local(error) => write!(f, "this machine could not make the connection: {error}"),
        }
    }
}

impl From<InvalidResponse> for RequestError {
    fn from(InvalidResponse: InvalidResponse) -> Self {
        Self::NoResponse
    }
}

impl Connection {
    /// Creates a connection to `authority`, which is `HOST:PORT`, without opening it.
    pub fn new(authority: String) -> Self {
        Self {
            authority,
            stream: None,
            received: BytesMut::new(),
        }
    }

    /// Sends a request, which is complete bytes of HTTP/1.1, and reads its response.
    ///
    /// # Errors
    /// Returns [`RequestError::Local`] if this machine lacks a resource for the connection, and
    /// [`RequestError::NoResponse`] if no valid response is received in time. The next request
    /// opens a new connection.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Response, RequestError> {
        let response = timeout(RESPONSE_TIMEOUT, self.exchange_unlimited(request)).await;
        let response = response.unwrap_or(Err(RequestError::NoResponse));
        if response.is_err() {
            self.stream = None;
        }
        response
    }

    /// Sends a request and reads its response, without a time limit.
    async fn exchange_unlimited(&mut self, request: &[u8]) -> Result<Response, RequestError> {
        let mut stream = match self.stream.take() {
            Some(stream) if is_quiet(&stream) => stream,
            _ => {
                self.received.clear();
                connect(&self.authority).await?
            }
        };
        stream
            .write_all(request)
            .await
            .map_err(|_| InvalidResponse)?;
        let mut head = None;
        let mut is_closed = false;
        loop {
            if head.is_none() {
                head = ResponseHead::parse(&self.received)?;
            }
            if let Some(head) = &head
                && let Some(response) = head.take_response(&mut self.received, is_closed)?
            {
                if !head.is_last {
                    self.stream = Some(stream);
                }
                return Ok(response);
            }
            if is_closed || self.received.len() > 2 * RESPONSE_BYTES_MAX {
                return Err(RequestError::NoResponse);
            }
            self.received.reserve(RECEIVE_BYTES);
            let read = stream.read_buf(&mut self.received).await;
            is_closed = read.map_err(|_| InvalidResponse)? == 0;
        }
    }
}

/// Returns the `HOST:PORT` of a URL of the form `http://HOST:PORT`. The default port is 80.
///
/// # Errors
/// Returns [`InvalidTarget::Uri`] if `url` is not a URI, and [`InvalidTarget::NotHttp`] if it has
/// another scheme or no host.
pub fn parse_authority(url: &str) -> Result<String, InvalidTarget> {
    let uri: Uri = url.parse()?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(host)) => Ok(format!("{host}:{}", uri.port_u16().unwrap_or(80))),
        _ => Err(InvalidTarget::NotHttp),
    }
}

/// Returns whether nothing was received since the last response.
///
/// A server may have closed an idle connection, which is not an error of the next request.
fn is_quiet(stream: &TcpStream) -> bool {
    let mut byte = [0];
    matches!(stream.try_read(&mut byte), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// Opens a connection that sends each request immediately.
async fn connect(authority: &str) -> Result<TcpStream, RequestError> {
    let stream = TcpStream::connect(authority).await.map_err(|error| {
        if is_local(&error) {
            RequestError::Local(error)
        } else {
            RequestError::NoResponse
        }
    })?;
    // Otherwise a request waits for the acknowledgment of the previous one.
    stream.set_nodelay(true).map_err(|_| InvalidResponse)?;
    Ok(stream)
}

/// Returns whether a connection failed for lack of a resource of this machine.
fn is_local(error: &io::Error) -> bool {
    let lacking = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::ADDRNOTAVAIL,
        Errno::NOBUFS,
        Errno::NOMEM,
    ];
    Errno::from_io_error(error).is_some_and(|errno| lacking.contains(&errno))
}
