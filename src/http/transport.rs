//! A connection below HTTP, with or without TLS.

use crate::{slow_client::SlowClientStream, tls::ALPN_HTTP2};
use std::{
    future::poll_fn,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::io::{AsyncBufRead as _, AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// Maximum time for which a connection that is being closed waits until its client has read the
/// last response and closed its side.
pub const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of bytes that are discarded before the task yields.
const DRAIN_BYTES_MAX: usize = 64 * 1024;

/// A connection that is ready for HTTP.
#[derive(Debug)]
pub enum Transport {
    /// A connection without TLS.
    Plain(SlowClientStream),
    /// A connection after its TLS handshake. Boxed, because the state of TLS is large.
    Tls(Box<TlsStream<SlowClientStream>>),
}

impl Transport {
    /// Returns whether the client chose HTTP/2, which is possible in a TLS handshake only.
    pub fn is_http2(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(ALPN_HTTP2),
        }
    }

    /// Waits until the client has sent the first byte of HTTP, without consuming it.
    ///
    /// Returns `false` if the client closed its side instead.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket or of TLS, after which the connection cannot be used.
    pub async fn has_bytes(&mut self) -> io::Result<bool> {
        poll_fn(|context| match self {
            Self::Plain(stream) => stream.poll_has_bytes(context),
            Self::Tls(stream) => {
                let filled = Pin::new(stream.as_mut()).poll_fill_buf(context);
                filled.map_ok(|bytes| !bytes.is_empty())
            }
        })
        .await
    }
}

impl Transport {
    /// Discards the input until the client closes its side.
    ///
    /// If a socket is closed with unread input, the kernel resets the connection, and the client
    /// may lose the last response.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket or of TLS.
    pub fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut discarded = [0; 4096];
        for _ in 0..DRAIN_BYTES_MAX / discarded.len() {
            let mut buffer = ReadBuf::new(&mut discarded);
            ready!(Pin::new(&mut *self).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Evaluates an expression with the pinned stream of either variant.
macro_rules! with_stream {
    ($transport:expr, $stream:ident => $call:expr) => {
        match $transport.get_mut() {
            Transport::Plain($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
            Transport::Tls($stream) => {
                let $stream = Pin::new($stream.as_mut());
                $call
            }
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_shutdown(context))
    }
}
