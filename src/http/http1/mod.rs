//! HTTP/1.1 by the library's dispatcher, and what that leaves open.
//!
//! actix-http has a deadline for the head of a connection's first request only; it reads requests
//! faster than it answers them; it serves requests after one that asked to close the connection;
//! and its deadline for the next request is a timer that is created and dropped for each. Here
//! [`Watch`] keeps the deadlines of each connection.

mod idle;
mod read_ahead;

use crate::{
    chunked_body::ChunkedBody,
    context::ListenerContext,
    transport::{DISCONNECT_TIMEOUT, Transport},
};
use actix_http::{
    ConnectionType, HttpService, KeepAlive, Payload, Request, Response, Version,
    body::BoxBody,
    error::{DispatchError, PayloadError},
};
use actix_service::{Service, ServiceFactory as _, fn_service};
use actix_web::dev::{Extensions, ServiceResponse};
use bytes::Bytes;
use futures::{
    future::{Either, TryFutureExt as _, pending},
    stream::{Stream, StreamExt as _},
};
use idle::Idle;
use read_ahead::{ConnectionState, TrackedStream};
use std::{
    future::{Future as _, poll_fn},
    net::SocketAddr,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Sleep, sleep};

/// What serves HTTP/1.1 connections on one thread.
pub trait Http1:
    Service<(TrackedStream, Option<SocketAddr>), Response = (), Error = DispatchError>
{
}

impl<H> Http1 for H where
    H: Service<(TrackedStream, Option<SocketAddr>), Response = (), Error = DispatchError>
{
}

/// Makes it.
///
/// # Errors
/// None: what it is made of is there.
pub async fn service<S, D>(
    app: Rc<S>,
    context: &ListenerContext<D>,
) -> Result<impl Http1 + use<S, D>, ()>
where
    D: 'static,
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
{
    let stopping = context.stopping.clone();
    let on_connect = context.on_connect;
    let served = fn_service(move |mut request: Request| {
        let Some(activity) = request.conn_data::<Rc<ConnectionState>>().cloned() else {
            // Each connection has one.
            return Either::Right(pending());
        };
        if activity.had_last() {
            // It is dropped as soon as the last answer was sent.
            return Either::Right(pending());
        }
        let serving = activity.serve();
        // By the request's own version and `Connection` header (RFC 9112, section 9.3).
        let requested = request.head().connection_type();
        if requested == ConnectionType::Close {
            activity.set_last();
        }
        report_body(&mut request, &activity);
        Either::Left(app.call(request).map_ok(move |response| {
            let mut response = Response::from(response);
            let head = response.head_mut();
            // actix-http reuses the heads of a thread's responses and resets everything but the
            // version, which may be that of another client's request. The version decides here if
            // no flag does; actix-http replaces it before it writes the head.
            head.version = Version::HTTP_11;
            if requested != ConnectionType::KeepAlive
                || head.connection_type() == ConnectionType::Close
            {
                // Without the flag, actix-http writes what the newest request that it has decoded
                // asks for. No protocol is upgraded to: actix-http ends a connection that asked for
                // one.
                head.set_connection_type(ConnectionType::Close);
                activity.set_last();
            }
            response.map_body(|_, body| ChunkedBody::new(body, serving))
        }))
    });
    HttpService::build()
        // `Watch` has the deadlines.
        .keep_alive(KeepAlive::Os)
        // It would apply to the first request only, and begin up to half a second early.
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        // A client that closes its side has gone away, as a rule: its request is dropped, so
        // that an abandoned long poll costs nothing. Clients that half-close and still read
        // are rare, and none of the SDKs does.
        .h1_allow_half_closed(false)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(move |watched: &TrackedStream, data: &mut Extensions| {
            data.insert(on_connect());
            data.insert(Rc::clone(watched.activity()));
        })
        .h1(served)
        .new_service(())
        .await
}

/// Lets `activity` know what is taken of the body.
fn report_body(request: &mut Request, activity: &Rc<ConnectionState>) {
    let payload = match request.take_payload() {
        Payload::None => return,
        payload => payload,
    };
    let activity = Rc::clone(activity);
    let reported = payload.inspect(move |_| activity.took_body());
    let payload: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(reported);
    *request.payload() = Payload::Stream { payload };
}

/// Serves a connection whose first byte has arrived to its end.
pub async fn serve<H: Http1, D>(
    http1: &H,
    transport: Transport,
    peer: SocketAddr,
    context: &ListenerContext<D>,
) {
    let activity = Rc::new(ConnectionState::default());
    let watched = TrackedStream::new(transport, Rc::clone(&activity));
    let mut dispatcher = pin!(http1.call((watched, Some(peer))));
    let mut watch = Watch::new(activity, context);
    poll_fn(|context| {
        if dispatcher.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        watch.poll(context)
    })
    .await;
}

/// The deadlines of a connection between requests.
struct Watch<'a, D> {
    activity: Rc<ConnectionState>,
    context: &'a ListenerContext<D>,
    /// Until when the head that has begun must be complete.
    head: Option<Pin<Box<Sleep>>>,
    /// Until when a connection that is being closed may take.
    closing: Option<Pin<Box<Sleep>>>,
    idle: Idle,
}

impl<'a, D> Watch<'a, D> {
    /// Watches a connection whose first byte has arrived.
    fn new(activity: Rc<ConnectionState>, context: &'a ListenerContext<D>) -> Self {
        Self {
            activity,
            head: None,
            closing: None,
            idle: Idle::after(context.config.keep_alive),
            context,
        }
    }

    /// Checks the deadlines; called after each poll of the dispatcher. Ready when the connection is
    /// to be dropped.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.activity.takes_up_reading() {
            context.waker().wake_by_ref();
        }
        if self.closing.is_none() {
            if self.activity.is_closed() {
                // The response was sent, and only the client keeps the connection open.
            } else if self.poll_head(context).is_ready() {
                self.context.metrics.counters.cut_slow_heads.increment();
                self.activity.end_late_head();
            } else if self.idle.poll(&self.activity, context).is_ready() {
                self.context.metrics.counters.closed_idle.increment();
                self.activity.end_idle();
            } else {
                return Poll::Pending;
            }
            // The dispatcher reads the end of the connection.
            context.waker().wake_by_ref();
        }
        let closing = self
            .closing
            .get_or_insert_with(|| Box::pin(sleep(DISCONNECT_TIMEOUT)));
        closing.as_mut().poll(context)
    }

    /// Ready when the head of a request has not arrived within the timeout of its first byte.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_first = self.activity.calls() == 0;
        if self.activity.had_last() || !(is_first || self.activity.is_head_begun()) {
            self.head = None;
            return Poll::Pending;
        }
        let timeout = self.context.config.client_request_timeout;
        let head = self.head.get_or_insert_with(|| Box::pin(sleep(timeout)));
        head.as_mut().poll(context)
    }
}
