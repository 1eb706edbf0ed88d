//! The stream that actix-http reads: one request at a time. It bounds how far requests are read
//! ahead, records what happens, and discards the rest of the input before it closes.

use super::{
    framing::Framing,
    state::{Closing, ConnectionState, Pause, READ_AHEAD_BYTES_MAX},
};
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
    gate: RequestGate,
    /// Bytes of the next requests, which arrived with the request in flight or after it.
    read_ahead: BytesMut,
    /// Rest of a response that is sent before the connection is closed.
    final_response: Bytes,
}

impl TrackedStream {
    /// Records in `state` what happens on `transport`.
    pub fn new(transport: Transport, state: Rc<ConnectionState>) -> Self {
        Self {
            transport: transport.take(0),
            gate: RequestGate {
                framing: Framing::default(),
                state,
            },
            read_ahead: BytesMut::new(),
            final_response: Bytes::new(),
        }
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> &Rc<ConnectionState> {
        &self.gate.state
    }

    fn transport(&mut self) -> Pin<&mut Transport> {
        Pin::new(self.transport.get_mut())
    }

    /// Passes bytes that were read ahead. Returns whether there were any.
    fn pass_read_ahead(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let max = self.read_ahead.len().min(buffer.remaining());
        let passed = self.gate.pass(&self.read_ahead[..max]);
        buffer.put_slice(&self.read_ahead[..passed]);
        self.read_ahead.advance(passed);
        passed > 0
    }

    /// Returns the number of bytes that may be read now. Without any, reading is paused.
    fn readable_bytes(&self) -> usize {
        let Self {
            gate, read_ahead, ..
        } = self;
        let framing = &gate.framing;
        if framing.is_at_end() {
            if !read_ahead.is_empty() {
                gate.state.pause_reading(Pause::Response);
            }
            return READ_AHEAD_BYTES_MAX.saturating_sub(read_ahead.len());
        }
        if !framing.has_head() {
            return READ_AHEAD_BYTES_MAX;
        }
        let readable_bytes = gate.state.readable_body_bytes();
        if readable_bytes == 0 {
            gate.state.pause_reading(Pause::Body);
        }
        readable_bytes
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
        match this.state().closing() {
            Closing::Open | Closing::LastRequest => {}
            Closing::EndOfInput | Closing::Draining => {
                // Only here: if actix-http no longer reads, it has rejected the head with a 400.
                if this.state().take_408() {
                    this.final_response = timeout_response();
                }
                return Poll::Ready(Ok(()));
            }
        }
        if this.pass_read_ahead(buffer) {
            return Poll::Ready(Ok(()));
        }
        loop {
            let readable_bytes = this.readable_bytes();
            if readable_bytes == 0 || buffer.remaining() == 0 {
                return Poll::Pending;
            }
            this.transport.set_limit(readable_bytes as u64);
            let start = buffer.filled().len();
            ready!(Pin::new(&mut this.transport).poll_read(context, buffer))?;
            let read = &buffer.filled()[start..];
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let passed_bytes = this.gate.pass(read);
            this.read_ahead.extend_from_slice(&read[passed_bytes..]);
            buffer.set_filled(start + passed_bytes);
            if passed_bytes > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.transport().poll_write(context, bytes);
        this.state().record_write(written.is_pending());
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.transport().poll_write_vectored(context, slices);
        this.state().record_write(written.is_pending());
        written
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
        if this.state().is_closing() {
            this.state().start_draining();
            return this.poll_drain(context);
        }
        Poll::Ready(Ok(()))
    }
}

/// Passes requests to actix-http one at a time.
#[derive(Debug)]
struct RequestGate {
    framing: Framing,
    state: Rc<ConnectionState>,
}

impl RequestGate {
    /// Returns how many of `bytes` actix-http may receive now, and records them as received.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.framing.is_at_end() {
                if !self.state.accepts_next_request() {
                    break;
                }
                self.framing = Framing::default();
            }
            let was_in_body = self.framing.has_head();
            let passed = self.framing.advance(rest);
            if was_in_body {
                self.state.record_body(passed);
            } else if self.framing.has_head() {
                self.state.end_head();
            } else {
                // Not with empty lines, which may precede a request.
                self.state.record_partial_head(self.framing.is_in_head());
            }
            rest = &rest[passed..];
        }
        bytes.len() - rest.len()
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
