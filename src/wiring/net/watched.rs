//! A connection of HTTP/1.1 that tells what goes on: whether a request is served, and what is read.

use super::transport::Transport;
use std::{
    cell::Cell,
    io::{self, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What goes on on a connection.
#[derive(Debug, Default)]
pub struct Activity {
    /// How many requests began to be served.
    calls: Cell<u64>,
    /// Whether one is being served, its answer included.
    is_serving: Cell<bool>,
    /// Whether something came since the last request that is not a request yet.
    is_head_begun: Cell<bool>,
    /// Whether anything was read or written, or tried to be.
    is_looked_at: Cell<bool>,
}

impl Activity {
    /// A request begins to be served, until what this gives is dropped.
    pub fn serve(self: &Rc<Self>) -> Serving {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.is_serving.set(true);
        self.is_head_begun.set(false);
        Serving(Rc::clone(self))
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

    /// Whether the socket was looked at since this was asked last.
    pub fn take_looked_at(&self) -> bool {
        self.is_looked_at.take()
    }
}

/// A request that is being served.
#[derive(Debug)]
pub struct Serving(Rc<Activity>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.is_serving.set(false);
    }
}

/// A connection and what goes on on it.
#[derive(Debug)]
pub struct Watched {
    transport: Transport,
    activity: Rc<Activity>,
}

impl Watched {
    /// Tells `activity` what goes on on `transport`.
    pub fn new(transport: Transport, activity: Rc<Activity>) -> Self {
        Self { transport, activity }
    }

    /// What goes on.
    pub fn activity(&self) -> &Rc<Activity> {
        &self.activity
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.activity.is_looked_at.set(true);
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.transport).poll_read(context, buffer);
        if buffer.filled().len() > before && !this.activity.is_serving() {
            this.activity.is_head_begun.set(true);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.transport).poll_write(context, bytes);
        if written.is_ready() {
            this.activity.is_looked_at.set(true);
        }
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_shutdown(context)
    }
}
