//! A transport that discards the input of its client after the last frame.

use crate::transport::{DISCONNECT_TIMEOUT, Transport};
use std::{
    cell::Cell,
    future::Future as _,
    io::{self, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A connection of HTTP/2.
///
/// If its listener stops, it waits after its last frame until the client has closed its side, at
/// most [`DISCONNECT_TIMEOUT`]. A client that still sends, for example an acknowledgment, would
/// otherwise be reset, and might lose the last responses. A connection that ends for another reason
/// reads no more.
pub struct DrainedTransport {
    transport: Transport,
    is_stopping: Rc<Cell<bool>>,
    /// The end of the wait for the client.
    disconnect: Option<Pin<Box<Sleep>>>,
}

impl DrainedTransport {
    /// Creates the connection over a transport. `is_stopping` states whether the listener has begun
    /// to stop.
    pub fn new(transport: Transport, is_stopping: Rc<Cell<bool>>) -> Self {
        Self {
            transport,
            is_stopping,
            disconnect: None,
        }
    }

    fn transport(self: Pin<&mut Self>) -> Pin<&mut Transport> {
        Pin::new(&mut self.get_mut().transport)
    }
}

impl AsyncRead for DrainedTransport {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.transport().poll_read(context, buffer)
    }
}

impl AsyncWrite for DrainedTransport {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.transport().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.transport().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.disconnect.is_none() {
            ready!(Pin::new(&mut this.transport).poll_shutdown(context))?;
            if !this.is_stopping.get() {
                return Poll::Ready(Ok(()));
            }
        }
        let disconnect = this
            .disconnect
            .get_or_insert_with(|| Box::pin(sleep(DISCONNECT_TIMEOUT)));
        if disconnect.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        this.transport.poll_drain(context)
    }
}
