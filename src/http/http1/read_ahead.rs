//! The stream that actix-http reads: one request at a time. It bounds how far requests are read
//! ahead, records what happens, and discards the rest of the input before it closes.

use super::{
    framing::Framing,
    rejection,
    request_line::RequestLine,
    state::{Closing, ConnectionState, Interim, Pause, READ_AHEAD_BYTES_MAX},
};
use crate::{head_error::HeadError, transport::Transport};
use actix_web::HttpResponse;
use bytes::{Buf as _, Bytes, BytesMut};
use std::{
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

/// The interim response to a client that waits for it before it sends its body.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A connection with its state.
#[derive(Debug)]
pub struct TrackedStream {
    /// Limited to the bytes that may be read now.
    transport: Take<Transport>,
    gate: RequestGate,
    /// Bytes of the next requests, which arrived with the request in flight or after it.
    read_ahead: BytesMut,
    respond_to_rejected: fn(&HeadError) -> HttpResponse,
    /// Rest of an interim response, which precedes what actix-http writes next.
    interim_response: Bytes,
    /// Rest of a response that is sent before the connection is closed.
    final_response: Bytes,
}

impl TrackedStream {
    /// Records in `state` what happens on `transport`. `respond_to_rejected` makes the response to
    /// a head that is malformed or late.
    pub fn new(
        transport: Transport,
        state: Rc<ConnectionState>,
        respond_to_rejected: fn(&HeadError) -> HttpResponse,
    ) -> Self {
        Self {
            transport: transport.take(0),
            gate: RequestGate {
                framing: Framing::default(),
                request_line: RequestLine::default(),
                state,
            },
            read_ahead: BytesMut::new(),
            respond_to_rejected,
            interim_response: Bytes::new(),
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

    /// Reads from the transport.
    ///
    /// A client that ends TLS without `close_notify` has closed its side all the same, because
    /// each request states its end (RFC 9112, section 9.8).
    ///
    /// # Errors
    ///
    /// Returns the error of the transport, for example [`io::ErrorKind::ConnectionReset`].
    fn poll_transport(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.transport).poll_read(context, buffer)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            result => Poll::Ready(result),
        }
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

    /// Writes the rest of the interim response.
    ///
    /// # Errors
    ///
    /// Returns the error of the transport, or [`io::ErrorKind::WriteZero`] if it accepts no more
    /// bytes.
    fn poll_interim(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_write_all(
            self.transport.get_mut(),
            context,
            &mut self.interim_response,
        )
    }

    /// Replaces the response of actix-http to a malformed head, which has no body.
    ///
    /// The first write is pending, because actix-http drops a connection with an error when it has
    /// written its response. Otherwise it shuts the connection down, and the client may read the
    /// response.
    fn replace(&mut self, response: &[u8]) -> Poll<io::Result<usize>> {
        if self.final_response.is_empty() {
            let is_too_large = rejection::status(response) == b"431";
            self.reject(&self.gate.request_line.error(is_too_large));
            self.state().close_rejected();
            return Poll::Pending;
        }
        Poll::Ready(Ok(response.len()))
    }

    /// Prepares the response to a rejected head.
    fn reject(&mut self, error: &HeadError) {
        let response = (self.respond_to_rejected)(error);
        self.final_response = rejection::encode(response, self.gate.request_line.is_head());
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
                    this.reject(&HeadError::Late);
                }
                return Poll::Ready(Ok(()));
            }
        }
        if this.pass_read_ahead(buffer) {
            return Poll::Ready(Ok(()));
        }
        while !this.state().input_end().is_reached() {
            let readable_bytes = this.readable_bytes();
            if readable_bytes == 0 || buffer.remaining() == 0 {
                return Poll::Pending;
            }
            this.transport.set_limit(readable_bytes as u64);
            let start = buffer.filled().len();
            ready!(this.poll_transport(context, buffer))?;
            let read = &buffer.filled()[start..];
            if read.is_empty() {
                this.state().input_end().reach();
                break;
            }
            let passed_bytes = this.gate.pass(read);
            this.read_ahead.extend_from_slice(&read[passed_bytes..]);
            buffer.set_filled(start + passed_bytes);
            if passed_bytes > 0 {
                return Poll::Ready(Ok(()));
            }
        }
        if this.gate.holds_whole_request() {
            // actix-http drops the request in flight when it reads the end of the input.
            this.state().pause_reading(Pause::Response);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.state().is_responding() {
            return this.replace(bytes);
        }
        let written = match this.poll_interim(context) {
            Poll::Ready(Ok(())) => this.transport().poll_write(context, bytes),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        this.state().record_write(written.is_pending());
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.state().record_flush();
        if this.state().interim() == Interim::Due {
            this.state().set_interim(Interim::NotExpected);
            this.interim_response = Bytes::from_static(CONTINUE);
        }
        ready!(this.poll_interim(context))?;
        this.transport().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(poll_write_all(
            this.transport.get_mut(),
            context,
            &mut this.final_response
        ))?;
        ready!(this.transport().poll_shutdown(context))?;
        if this.state().is_closing() {
            this.state().start_draining();
            return this.transport().get_mut().poll_drain(context);
        }
        Poll::Ready(Ok(()))
    }
}

/// Passes requests to actix-http one at a time.
#[derive(Debug)]
struct RequestGate {
    framing: Framing,
    /// Request line of the head that arrives.
    request_line: RequestLine,
    state: Rc<ConnectionState>,
}

impl RequestGate {
    /// Returns whether a request that has arrived whole is in flight or still waits for the
    /// response before it.
    fn holds_whole_request(&self) -> bool {
        self.framing.is_at_end() && !self.state.accepts_next_request()
    }

    /// Returns how many of `bytes` actix-http may receive now, and records them as received.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.framing.is_at_end() {
                if !self.state.accepts_next_request() {
                    break;
                }
                self.framing = Framing::default();
                self.request_line = RequestLine::default();
            }
            let was_in_body = self.framing.has_head();
            let (passed, next) = rest.split_at(self.framing.advance(rest));
            if was_in_body {
                self.state.record_body(passed.len());
            } else {
                self.request_line.record(passed);
                if self.framing.has_head() {
                    self.state.end_head();
                } else {
                    // Not with empty lines, which may precede a request.
                    self.state.record_partial_head(self.framing.is_in_head());
                }
            }
            rest = next;
        }
        bytes.len() - rest.len()
    }
}

/// Writes `bytes` and removes what has been written.
///
/// # Errors
///
/// Returns the error of the transport, or [`io::ErrorKind::WriteZero`] if it accepts no more bytes.
fn poll_write_all(
    transport: &mut Transport,
    context: &mut Context<'_>,
    bytes: &mut Bytes,
) -> Poll<io::Result<()>> {
    while !bytes.is_empty() {
        match ready!(Pin::new(&mut *transport).poll_write(context, bytes))? {
            0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            written => bytes.advance(written),
        }
    }
    Poll::Ready(Ok(()))
}
