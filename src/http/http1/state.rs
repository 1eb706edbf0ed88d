//! The state of an HTTP/1.1 connection, shared by its stream, its requests and its deadlines.

use std::{cell::Cell, rc::Rc};

/// Maximum number of bytes that are read ahead of the request in flight, unless its handler reads
/// a body. actix-http decodes everything that it has read, and a decoded request may take thirty
/// times as much memory as its bytes.
const READ_AHEAD_BYTES_MAX: usize = 4 * 1024;

/// The state of a connection.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// Number of requests that have begun.
    requests: Cell<u64>,
    /// Whether a request is in flight, until its response has been written.
    is_serving: Cell<bool>,
    /// Whether bytes have arrived since the last request began.
    has_new_bytes: Cell<bool>,
    /// Bytes read since no request was in flight, or a handler read a part of a body.
    read_ahead_bytes: Cell<usize>,
    /// Whether actix-http wanted to read more than it may.
    is_paused: Cell<bool>,
    closing: Cell<Closing>,
    /// Whether the client is to get a 408, which actix-http cannot send.
    owes_408: Cell<bool>,
}

/// Progress of closing a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closing {
    /// Further requests are served.
    #[default]
    Open,
    /// The request in flight is the last one.
    LastRequest,
    /// No further request is served: actix-http reads the end of the input, whatever the client
    /// sends.
    EndOfInput,
    /// Everything has been sent. Bytes of the client are discarded until it closes its side.
    Draining,
}

impl ConnectionState {
    /// Begins a request, which is in flight until the guard is dropped.
    pub fn begin_request(self: &Rc<Self>) -> RequestGuard {
        self.requests.set(self.requests.get().wrapping_add(1));
        self.is_serving.set(true);
        self.has_new_bytes.set(false);
        RequestGuard {
            state: Rc::clone(self),
        }
    }

    /// Returns the number of requests that have begun.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Returns whether a request is in flight.
    pub fn is_serving(&self) -> bool {
        self.is_serving.get()
    }

    /// Returns whether the head of a request has begun to arrive and is incomplete.
    pub fn has_partial_head(&self) -> bool {
        self.has_new_bytes.get() && !self.is_serving()
    }

    /// Returns the progress of closing the connection.
    pub fn closing(&self) -> Closing {
        self.closing.get()
    }

    /// Makes the request in flight the last one, because the client or the response closes the
    /// connection (RFC 9112, section 9.6).
    pub fn close_after_request(&self) {
        if self.closing.get() == Closing::Open {
            self.closing.set(Closing::LastRequest);
        }
    }

    /// Closes a connection that was idle for too long.
    pub fn close_idle(&self) {
        if self.closing.get() == Closing::Open {
            self.closing.set(Closing::EndOfInput);
        }
    }

    /// Closes a connection with a 408, because the head of a request is late.
    pub fn close_late_head(&self) {
        if self.closing.get() == Closing::Open {
            self.closing.set(Closing::EndOfInput);
            self.owes_408.set(true);
        }
    }

    /// Discards what the client sends from now on.
    pub fn start_draining(&self) {
        self.closing.set(Closing::Draining);
    }

    /// Returns whether the connection is being closed.
    pub fn is_closing(&self) -> bool {
        self.closing.get() != Closing::Open
    }

    /// Returns, once, whether a 408 must be sent.
    pub fn take_408(&self) -> bool {
        self.owes_408.take()
    }

    /// Allows as much read-ahead again, because a handler has read a part of a body.
    pub fn record_body_read(&self) {
        self.read_ahead_bytes.set(0);
    }

    /// Updates the state after a poll of actix-http. Returns whether actix-http must be polled
    /// again because it may now read what it could not read before.
    pub fn resume_reading(&self) -> bool {
        if !self.is_serving() {
            self.read_ahead_bytes.set(0);
            if self.closing.get() == Closing::LastRequest {
                self.closing.set(Closing::EndOfInput);
                return true;
            }
        }
        self.readable_bytes() > 0 && self.is_paused.take()
    }

    /// Returns the number of bytes that may be read now.
    pub fn readable_bytes(&self) -> usize {
        READ_AHEAD_BYTES_MAX.saturating_sub(self.read_ahead_bytes.get())
    }

    /// Records that actix-http wanted to read more than it may.
    pub fn pause_reading(&self) {
        self.is_paused.set(true);
    }

    /// Records that `bytes` were read.
    pub fn record_read(&self, bytes: usize) {
        let read = self.read_ahead_bytes.get().saturating_add(bytes);
        self.read_ahead_bytes.set(read);
        if bytes > 0 && !self.is_serving() {
            self.has_new_bytes.set(true);
        }
    }
}

/// A request in flight.
#[derive(Debug)]
pub struct RequestGuard {
    state: Rc<ConnectionState>,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.state.is_serving.set(false);
    }
}
