//! A connection of HTTP/1.1 that tells what goes on: whether a request is served, and what is read; and that
//! decides how much of it is read.

use crate::{date::date, transport::Transport};
use bytes::{Buf as _, Bytes, BytesMut};
use std::{
    cell::Cell,
    io::{self, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

/// So much is read until all that came whole was answered, or a part of a body was taken. The dispatcher makes
/// requests of all that it read, and each may be thirty times as large as its bytes.
const READ_AHEAD_BYTES_MAX: usize = 4 * 1024;

/// So much that comes after the end is thrown away at once, before others have their turn.
const DRAIN_BYTES_MAX: usize = 64 * 1024;

/// What goes on on a connection.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// How many requests began to be served.
    calls: Cell<u64>,
    /// Whether one is being served, its answer included.
    is_serving: Cell<bool>,
    /// Whether something came since the last request that is not a request yet.
    is_head_begun: Cell<bool>,
    /// Bytes that were read since all was answered, or a part of a body was taken.
    read_ahead_bytes: Cell<usize>,
    /// Whether the dispatcher would read more than it may.
    is_paused: Cell<bool>,
    /// How far the connection is on the way to its end.
    end: Cell<End>,
    /// Whether the head of a request did not arrive in time, and the dispatcher has not read the
    /// end yet.
    is_head_late: Cell<bool>,
}

/// How a connection of which one side said that it is to be closed comes to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// Nothing was said.
    #[default]
    Open,
    /// The request that is being served is the last.
    LastRequest,
    /// It was answered, or none arrived in time: the dispatcher reads the end of the connection,
    /// whatever its client sends.
    Answered,
    /// All was sent. Until the client closes its side, what comes is thrown away.
    Closed,
}

impl ConnectionState {
    /// A request begins to be served, until what this gives is dropped.
    pub fn serve(self: &Rc<Self>) -> RequestGuard {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.is_serving.set(true);
        self.is_head_begun.set(false);
        RequestGuard(Rc::clone(self))
    }

    /// How many requests began to be served.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Whether a request is being served.
    pub fn is_serving(&self) -> bool {
        self.is_serving.get()
    }

    /// Whether a part of a request's head waits for the rest.
    pub fn is_head_begun(&self) -> bool {
        self.is_head_begun.get() && !self.is_serving()
    }

    /// The request that is being served is the last one: its client or its answer says that the connection is
    /// closed then (RFC 9112, section 9.6).
    pub fn set_last(&self) {
        if self.end.get() == End::Open {
            self.end.set(End::LastRequest);
        }
    }

    /// Ends a connection that was idle for as long as it may be.
    pub fn end_idle(&self) {
        if self.end.get() == End::Open {
            self.end.set(End::Answered);
        }
    }

    /// Ends a connection on which the head of a request did not arrive in time; its client gets a
    /// 408.
    pub fn end_late_head(&self) {
        if self.end.get() == End::Open {
            self.end.set(End::Answered);
            self.is_head_late.set(true);
        }
    }

    /// Whether no further request may be served.
    pub fn had_last(&self) -> bool {
        self.end.get() != End::Open
    }

    /// Whether all was sent, and only the client keeps the connection open.
    pub fn is_closed(&self) -> bool {
        self.end.get() == End::Closed
    }

    /// Somebody took a part of a body, and may want more.
    pub fn took_body(&self) {
        self.read_ahead_bytes.set(0);
    }

    /// To be asked after each look of the dispatcher: whether it is to look again, as it may read now what it
    /// did not read.
    pub fn takes_up_reading(&self) -> bool {
        if !self.is_serving() {
            self.read_ahead_bytes.set(0);
            if self.end.get() == End::LastRequest {
                self.end.set(End::Answered);
                return true;
            }
        }
        self.may_read_bytes() > 0 && self.is_paused.take()
    }

    fn may_read_bytes(&self) -> usize {
        READ_AHEAD_BYTES_MAX.saturating_sub(self.read_ahead_bytes.get())
    }

    fn count_read(&self, bytes: usize) {
        let read = self.read_ahead_bytes.get().saturating_add(bytes);
        self.read_ahead_bytes.set(read);
        if bytes > 0 && !self.is_serving() {
            self.is_head_begun.set(true);
        }
    }
}

/// A request that is being served.
#[derive(Debug)]
pub struct RequestGuard(Rc<ConnectionState>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.is_serving.set(false);
    }
}

/// A connection and what goes on on it.
#[derive(Debug)]
pub struct TrackedStream {
    /// With so many bytes that may be read.
    transport: Take<Transport>,
    activity: Rc<ConnectionState>,
    /// Rest of a response that is sent before the connection is closed.
    final_response: Bytes,
}

impl TrackedStream {
    /// Tells `activity` what goes on on `transport`.
    pub fn new(transport: Transport, activity: Rc<ConnectionState>) -> Self {
        Self {
            transport: transport.take(0),
            activity,
            final_response: Bytes::new(),
        }
    }

    /// What goes on.
    pub fn activity(&self) -> &Rc<ConnectionState> {
        &self.activity
    }

    fn transport(&mut self) -> Pin<&mut Transport> {
        Pin::new(self.transport.get_mut())
    }

    /// Writes what is left of the final response.
    ///
    /// # Errors
    ///
    /// Returns the error of the transport, or [`io::ErrorKind::WriteZero`] if it takes nothing
    /// more.
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

    /// Ready when the client has closed its side: were what it sent not read, the system would end the
    /// connection so that the client may lose the last answer.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = [0; 4096];
        for _ in 0..DRAIN_BYTES_MAX / room.len() {
            let mut buffer = ReadBuf::new(&mut room);
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
        match this.activity.end.get() {
            End::Open | End::LastRequest => {}
            End::Answered | End::Closed => {
                // Only here: a dispatcher that reads no more has answered the head itself, with a
                // 400.
                if this.activity.is_head_late.take() {
                    this.final_response = timeout_response();
                }
                return Poll::Ready(Ok(()));
            }
        }
        let room = this.activity.may_read_bytes();
        if room == 0 || buffer.remaining() == 0 {
            this.activity.is_paused.set(true);
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        this.transport.set_limit(room as u64);
        ready!(Pin::new(&mut this.transport).poll_read(context, buffer))?;
        this.activity.count_read(buffer.filled().len() - before);
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
        if this.activity.had_last() {
            this.activity.end.set(End::Closed);
            return this.poll_drain(context);
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the response to a request whose head did not arrive in time.
fn timeout_response() -> Bytes {
    let head = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\ndate: ";
    let mut response = BytesMut::from(head);
    response.extend_from_slice(date().as_bytes());
    response.extend_from_slice(b"\r\n\r\n");
    response.freeze()
}
