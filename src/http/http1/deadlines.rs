//! The deadlines of an HTTP/1.1 connection outside of its requests.

use super::{
    idle::IdleDeadline,
    state::{Closing, ConnectionState},
};
use crate::{context::ListenerContext, transport::DISCONNECT_TIMEOUT};
use std::{
    future::Future as _,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};
use tokio::time::{Sleep, sleep};

/// The deadlines of one connection.
pub struct Deadlines<'a, D> {
    state: Rc<ConnectionState>,
    context: &'a ListenerContext<D>,
    /// Deadline of an incomplete head.
    head: Option<Pin<Box<Sleep>>>,
    /// Deadline of a connection that is being closed.
    disconnect: Option<Pin<Box<Sleep>>>,
    idle: IdleDeadline,
}

impl<'a, D> Deadlines<'a, D> {
    /// Creates the deadlines of a connection whose first byte has arrived.
    pub fn new(state: Rc<ConnectionState>, context: &'a ListenerContext<D>) -> Self {
        Self {
            state,
            head: None,
            disconnect: None,
            idle: IdleDeadline::after(context.config.keep_alive),
            context,
        }
    }

    /// Checks the deadlines after a poll of actix-http. Completes when the connection must be
    /// dropped.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.state.resume_reading() {
            context.waker().wake_by_ref();
        }
        if self.disconnect.is_none() {
            if self.state.closing() == Closing::Draining {
                // Everything has been sent, and only the client still holds the connection open.
            } else if self.poll_head(context).is_ready() {
                self.context.metrics.counters.cut_slow_heads.increment();
                self.state.close_late_head();
            } else if self.idle.poll(&self.state, context).is_ready() {
                self.context.metrics.counters.closed_idle.increment();
                self.state.close_idle();
            } else {
                return Poll::Pending;
            }
            // actix-http must read the end of the input.
            context.waker().wake_by_ref();
        }
        let disconnect = self
            .disconnect
            .get_or_insert_with(|| Box::pin(sleep(DISCONNECT_TIMEOUT)));
        disconnect.as_mut().poll(context)
    }

    /// Completes if the head of a request is incomplete `client_request_timeout` after its first
    /// byte.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_first = self.state.requests() == 0;
        if self.state.is_closing() || !(is_first || self.state.has_partial_head()) {
            self.head = None;
            return Poll::Pending;
        }
        let timeout = self.context.config.client_request_timeout;
        let head = self.head.get_or_insert_with(|| Box::pin(sleep(timeout)));
        head.as_mut().poll(context)
    }
}
