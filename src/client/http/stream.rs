//! The byte stream of a connection, with or without TLS.

use super::endpoint::Endpoint;
use crate::error::RequestError;
use bytes::BytesMut;
use rustix::io::Errno;
use std::{
    io::{self, ErrorKind},
    pin::Pin,
    task::{Context, Waker},
};
use tokio::{
    io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

/// The byte stream of a connection.
#[derive(Debug)]
pub(super) enum Stream {
    /// A TCP connection.
    Plain(TcpStream),
    /// A TLS session. The box keeps plain connections small.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Opens a connection that sends each request immediately.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::Local`] if this machine lacks a resource for the connection,
    /// [`RequestError::Connect`] if the server does not accept it, [`RequestError::Io`] if the
    /// socket rejects an option, and [`RequestError::Tls`] if the TLS handshake fails.
    pub(super) async fn connect(endpoint: &Endpoint) -> Result<Self, RequestError> {
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
        Ok(match &endpoint.tls {
            None => Self::Plain(tcp),
            Some(host) => Self::Tls(Box::new(host.handshake(tcp).await?)),
        })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket or of TLS, after which the connection cannot be used.
    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Appends received bytes to `received`. Returns their number, which is 0 at the end of the
    /// stream.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket or of TLS, after which the connection cannot be used.
    pub(super) async fn read_buf(&mut self, received: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read_buf(received).await,
            Self::Tls(stream) => stream.read_buf(received).await,
        }
    }

    /// Returns whether the connection is open and nothing was received since the last response.
    ///
    /// A server may close an idle connection at any time. The next request then needs a new
    /// connection, and does not fail.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        match self {
            Self::Plain(stream) => stream
                .try_read(&mut byte)
                .is_err_and(|error| error.kind() == ErrorKind::WouldBlock),
            // Bytes on the socket may be a session ticket, so the TLS session must process them.
            // The no-op waker is sufficient, because the next read registers that of its task.
            Self::Tls(stream) => {
                let mut context = Context::from_waker(Waker::noop());
                let mut buffer = ReadBuf::new(&mut byte);
                Pin::new(stream)
                    .poll_read(&mut context, &mut buffer)
                    .is_pending()
            }
        }
    }

    /// Returns whether the stream is a TLS session.
    pub(super) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
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
