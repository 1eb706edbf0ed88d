//! The stream that actix-http reads: it bounds how far requests are read ahead, records what
//! happens, and discards the rest of the input before it closes.

use super::state::{Closing, ConnectionState};
use crate::{date::date, transport::Transport};
use bytes::{Buf as _, Bytes, BytesMut};
use std::{
    io::{self, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

/// Maximum number of bytes that are discarded before the task yields.
const DRAIN_BYTES_MAX: usize = 64 * 1024;

/// A connection with its state.
#[derive(Debug)]
pub struct TrackedStream {
    /// Limited to the bytes that may be read now.
    transport: Take<Transport>,
    state: Rc<ConnectionState>,
    /// Rest of a response that is sent before the connection is closed.
    final_response: Bytes,
}

impl TrackedStream {
    /// Records in `state` what happens on `transport`.
    pub fn new(transport: Transport, state: Rc<ConnectionState>) -> Self {
        Self {
            transport: transport.take(0),
            state,
            final_response: Bytes::new(),
        }
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> &Rc<ConnectionState> {
        &self.state
    }

    fn transport(&mut self) -> Pin<&mut Transport> {
        Pin::new(self.transport.get_mut())
    }

    /// Writes the rest of the final response.
    ///
    /// # Errors
    ///
    /// Returns the error of the transport, or [`io::ErrorKind::WriteZero`] if it accepts no more
    /// bytes.
    fn poll_final_response(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.final_response.is_empty() {
            let transport = Pin::new(self.transport.get_mut());
            match ready!(transport.poll_write(context, &self.final_response))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.final_response.advance(bytes),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Discards the input until the client closes its side.
    ///
    /// If a socket is closed with unread input, the kernel resets the connection, and the client
    /// may lose the last response.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut discarded = [0; 4096];
        for _ in 0..DRAIN_BYTES_MAX / discarded.len() {
            let mut buffer = ReadBuf::new(&mut discarded);
            ready!(self.transport().poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.state.closing() {
            Closing::Open | Closing::LastRequest => {}
            Closing::EndOfInput | Closing::Draining => {
                // Only here: if actix-http no longer reads, it has rejected the head with a 400.
                if this.state.take_408() {
                    this.final_response = timeout_response();
                }
                return Poll::Ready(Ok(()));
            }
        }
        let readable_bytes = this.state.readable_bytes();
        if readable_bytes == 0 || buffer.remaining() == 0 {
            this.state.pause_reading();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        this.transport.set_limit(readable_bytes as u64);
        ready!(Pin::new(&mut this.transport).poll_read(context, buffer))?;
        this.state.record_read(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().transport().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut()
            .transport()
            .poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.get_ref().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().transport().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_final_response(context))?;
        ready!(this.transport().poll_shutdown(context))?;
        if this.state.is_closing() {
            this.state.start_draining();
            return this.poll_drain(context);
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the response to a request whose head is late.
fn timeout_response() -> Bytes {
    let head = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\ndate: ";
    let mut response = BytesMut::from(head);
    response.extend_from_slice(date().as_bytes());
    response.extend_from_slice(b"\r\n\r\n");
    response.freeze()
}
