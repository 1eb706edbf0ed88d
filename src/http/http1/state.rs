//! The state of an HTTP/1.1 connection, shared by its stream, its requests and its deadlines.

use crate::context::InputEnd;
use std::{cell::Cell, rc::Rc};

/// Maximum number of bytes of a body that are read ahead of its handler, and of bytes that are read
/// ahead of the request in flight.
pub const READ_AHEAD_BYTES_MAX: usize = 4 * 1024;

/// The state of a connection.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// Number of requests that have begun.
    requests: Cell<u64>,
    /// Whether a request is in flight: from the end of its head until its response has been
    /// encoded whole.
    is_serving: Cell<bool>,
    /// Whether the socket accepts no more bytes of responses for now.
    is_write_blocked: Cell<bool>,
    /// Whether the head of a request has begun to arrive and is incomplete.
    has_partial_head: Cell<bool>,
    /// Bytes of a body that its handler has not read.
    unread_body_bytes: Cell<usize>,
    input_end: Rc<InputEnd>,
    /// Reason for which actix-http may read no more.
    pause: Cell<Option<Pause>>,
    closing: Cell<Closing>,
    /// Whether the client is to get a 408, which actix-http cannot send.
    owes_408: Cell<bool>,
    /// Whether actix-http may hold bytes of a response by the app. What it writes otherwise is its
    /// own response to a malformed head.
    is_responding: Cell<bool>,
    interim: Cell<Interim>,
}

/// Progress of the interim response 100 (RFC 9110, section 10.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interim {
    /// The client does not expect one, or not any more.
    #[default]
    NotExpected,
    /// The client waits for it before it sends the body, which no handler has read yet.
    Expected,
    /// A handler waits for the body: the interim response must be sent.
    Due,
}

/// A reason for which actix-http may read no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The handler must read its body first.
    Body,
    /// The response to the request in flight must be encoded first.
    Response,
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
    /// Begins a request, whose response has been encoded whole when the guard is dropped.
    pub fn begin_request(self: &Rc<Self>) -> RequestGuard {
        self.requests.set(self.requests.get().wrapping_add(1));
        self.is_serving.set(true);
        self.is_responding.set(true);
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
        self.has_partial_head.get()
    }

    /// Records whether actix-http has received a part of a head.
    pub fn record_partial_head(&self, has_partial_head: bool) {
        self.has_partial_head.set(has_partial_head);
    }

    /// Records that actix-http has received a whole head.
    pub fn end_head(&self) {
        self.has_partial_head.set(false);
        self.is_serving.set(true);
        self.unread_body_bytes.set(0);
    }

    /// Records that bytes of a body were passed to actix-http.
    pub fn record_body(&self, bytes: usize) {
        let unread = self.unread_body_bytes.get().saturating_add(bytes);
        self.unread_body_bytes.set(unread);
    }

    /// Records whether the last write to the socket blocked.
    pub fn record_write(&self, is_blocked: bool) {
        self.is_write_blocked.set(is_blocked);
    }

    /// Returns whether actix-http may receive the next request.
    ///
    /// actix-http encodes a response for the request that it has decoded last, so the response to
    /// the request in flight must be encoded first. While a write blocks, responses would wait in
    /// memory.
    pub fn accepts_next_request(&self) -> bool {
        !self.is_serving() && !self.is_write_blocked.get() && !self.is_closing()
    }

    /// Returns whether actix-http may hold bytes of a response by the app.
    pub fn is_responding(&self) -> bool {
        self.is_responding.get()
    }

    /// Records that actix-http has written all of its bytes.
    pub fn record_flush(&self) {
        if !self.is_serving() {
            self.is_responding.set(false);
        }
    }

    /// Returns the end of what the client sends.
    pub fn input_end(&self) -> &Rc<InputEnd> {
        &self.input_end
    }

    /// Returns the progress of the interim response.
    pub fn interim(&self) -> Interim {
        self.interim.get()
    }

    /// Records the progress of the interim response.
    pub fn set_interim(&self, interim: Interim) {
        self.interim.set(interim);
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

    /// Closes a connection whose client sent a malformed head.
    pub fn close_rejected(&self) {
        self.closing.set(Closing::EndOfInput);
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

    /// Records that a handler has read a part of a body.
    pub fn record_body_read(&self) {
        self.unread_body_bytes.set(0);
    }

    /// Updates the state after a poll of actix-http. Returns whether actix-http must be polled
    /// again because it may now read what it could not read before.
    pub fn resume_reading(&self) -> bool {
        if !self.is_serving() {
            self.unread_body_bytes.set(0);
            if self.closing.get() == Closing::LastRequest {
                self.closing.set(Closing::EndOfInput);
                return true;
            }
        }
        let resumes = match self.pause.get() {
            None => false,
            Some(Pause::Body) => self.readable_body_bytes() > 0,
            Some(Pause::Response) => self.accepts_next_request(),
        };
        if resumes {
            self.pause.set(None);
        }
        resumes
    }

    /// Returns the number of bytes of a body that may be read now.
    pub fn readable_body_bytes(&self) -> usize {
        READ_AHEAD_BYTES_MAX.saturating_sub(self.unread_body_bytes.get())
    }

    /// Records that actix-http wanted to read more than it may.
    pub fn pause_reading(&self, pause: Pause) {
        self.pause.set(Some(pause));
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
