//! An HTTP/1.1 connection with one request at a time, on hyper.

use super::endpoint::Endpoint;
use crate::error::RequestError;
use bytes::Bytes;
use futures::future::{Either as First, poll_immediate, select};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustix::io::Errno;
use std::{error::Error, io, pin::pin, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{client::TlsStream, rustls};
use tokio_util::either::Either;

/// A request with its complete body. Its path is relative to the server.
pub type Request = http::Request<Full<Bytes>>;
/// A response with its complete body.
pub type Response = http::Response<Bytes>;

/// Time limit for a response, longer than any long poll that a node allows.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a response body, in bytes. Responses to a load have a few kilobytes.
const RESPONSE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The first bytes of a TLS alert: its content type and the major version.
const TLS_ALERT: [u8; 2] = [21, 3];

/// A TCP connection, or a TLS session. The box keeps plain connections small.
type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// A connection that is opened for its first request, and again after an error.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    open: Option<OpenConnection>,
}

/// An open connection. Its two halves are polled by the task of the request, because a task of its
/// own would cost each request a switch.
#[derive(Debug)]
struct OpenConnection {
    sender: SendRequest<Full<Bytes>>,
    driver: Box<http1::Connection<TokioIo<Stream>, Full<Bytes>>>,
}

impl Connection {
    /// Creates a connection to `endpoint`, without opening it.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            open: None,
        }
    }

    /// Opens the connection, unless it is open and the server has not closed it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Connection::exchange`] for a connection that cannot be opened.
    pub(super) async fn open(&mut self) -> Result<(), RequestError> {
        self.open = Some(self.take_open().await?);
        Ok(())
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::Local`] if this machine lacks a resource for the connection,
    /// [`RequestError::Connect`] or [`RequestError::Tls`] if it cannot be opened otherwise, and
    /// another variant if no valid response is received in time. The next request opens a new
    /// connection.
    pub async fn exchange(&mut self, request: Request) -> Result<Response, RequestError> {
        let exchange = async {
            let open = self.take_open().await?;
            let (response, open) = open.exchange(request).await?;
            self.open = open;
            Ok(response)
        };
        let response = timeout(RESPONSE_TIMEOUT, exchange).await;
        response.unwrap_or(Err(RequestError::Timeout {
            secs: RESPONSE_TIMEOUT.as_secs(),
        }))
    }

    /// Takes the open connection if the server has not closed it, or opens a new one.
    async fn take_open(&mut self) -> Result<OpenConnection, RequestError> {
        if let Some(mut open) = self.open.take()
            && poll_immediate(&mut open.driver).await.is_none()
        {
            return Ok(open);
        }
        // Boxed, because a handshake would enlarge the future of every request.
        Box::pin(OpenConnection::connect(&self.endpoint)).await
    }
}

impl OpenConnection {
    /// Opens a connection that sends each request immediately.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::Local`] if this machine lacks a resource for the connection,
    /// [`RequestError::Connect`] if the server does not accept it, [`RequestError::Io`] if the
    /// socket rejects an option, and [`RequestError::Tls`] if the TLS handshake fails.
    async fn connect(endpoint: &Endpoint) -> Result<Self, RequestError> {
        let tcp = TcpStream::connect(endpoint.authority())
            .await
            .map_err(|error| {
                if is_local(&error) {
                    RequestError::Local(error)
                } else {
                    RequestError::Connect(error)
                }
            })?;
        // Disables Nagle's algorithm, which would delay a request until the server acknowledges the
        // previous one.
        tcp.set_nodelay(true).map_err(RequestError::Io)?;
        let stream = match &endpoint.tls {
            None => Stream::Left(tcp),
            Some(host) => Stream::Right(Box::new(host.handshake(tcp).await?)),
        };
        let (sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| request_error(&error))?;
        Ok(Self {
            sender,
            driver: Box::new(driver),
        })
    }

    /// Sends a request and reads its response. Also returns the connection, unless it has ended.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::TlsServer`] if the server responds in TLS to a connection without,
    /// [`RequestError::Io`] if the connection fails, and [`RequestError::InvalidResponse`] if the
    /// response is incomplete, malformed or too large.
    async fn exchange(self, request: Request) -> Result<(Response, Option<Self>), RequestError> {
        let Self { sender, mut driver } = self;
        let mut response = pin!(read_response(sender, request));
        let outcome = match select(response.as_mut(), &mut driver).await {
            First::Left((Ok((response, sender)), _)) => {
                return Ok((response, Some(Self { sender, driver })));
            }
            First::Left((Err(error), _)) => Err(error),
            First::Right(_) => Ok(()),
        };
        // The end of the driver completes the response with what it has received, or fails it.
        let ended = driver.into_parts();
        let outcome = match outcome {
            Ok(()) => response.await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok((response, _)) => Ok((response, None)),
            Err(_)
                if matches!(ended.io.inner(), Stream::Left(_))
                    && ended.read_buf.starts_with(&TLS_ALERT) =>
            {
                Err(RequestError::TlsServer)
            }
            Err(error) => Err(request_error(error.as_ref())),
        }
    }
}

/// Sends a request once the connection is free, and returns the response with `sender`.
async fn read_response(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request,
) -> Result<(Response, SendRequest<Full<Bytes>>), Box<dyn Error + Send + Sync>> {
    sender.ready().await?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await?;
    Ok((Response::from_parts(head, body.to_bytes()), sender))
}

/// Returns the error of a request by its cause: [`RequestError::Io`] for an error of the operating
/// system or of TLS, and [`RequestError::InvalidResponse`] for those of hyper.
fn request_error(error: &(dyn Error + 'static)) -> RequestError {
    let mut next = Some(error);
    while let Some(cause) = next {
        let io = cause.downcast_ref::<io::Error>();
        if let Some(code) = io.and_then(io::Error::raw_os_error) {
            return RequestError::Io(io::Error::from_raw_os_error(code));
        }
        let inner = io.and_then(|error| error.get_ref()?.downcast_ref::<rustls::Error>());
        if let Some(tls) = inner.cloned() {
            return RequestError::Io(io::Error::other(tls));
        }
        next = cause.source();
    }
    RequestError::InvalidResponse
}

/// Returns whether a connection failed because this machine lacks a resource: descriptors, local
/// ports, or memory.
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
