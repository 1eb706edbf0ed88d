//! The life of an HTTP/2 connection: its streams are served concurrently until it is idle for too
//! long, its client breaks the protocol, or the listener stops.

use super::{
    request::{HEADERS_BYTES_MAX, actix_request},
    response::{self, Outcome},
    slow_client::ConnectionTimer,
    transport::DrainedTransport,
};
use crate::{
    config::ConnectionConfig,
    context::{EndOfWaits, ListenerContext},
    head_error::HeadError,
    metrics::ListenerMetrics,
    transport::{DISCONNECT_TIMEOUT, Transport},
};
use actix_http::Request;
use actix_service::Service;
use actix_web::{HttpMessage as _, HttpResponse, body::BoxBody, dev::ServiceResponse};
use bytes::Bytes;
use futures::stream::{FuturesUnordered, StreamExt as _};
use h2::{
    Reason, RecvStream,
    server::{self, SendResponse},
};
use http::Method;
use std::{
    cell::Cell,
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    rc::Rc,
    task::Poll,
};
use tokio::time::{Instant, sleep, timeout};

/// Maximum size of a request's head, in bytes as RFC 9113 counts them (section 6.5.2): the longest
/// path that is read (16 KiB), and the headers.
const HEADER_LIST_BYTES_MAX: u32 = (16 * 1024 + HEADERS_BYTES_MAX) as u32;

/// Bytes of request bodies that a client may send before a handler reads them, of a stream and of a
/// connection. A client can send 2.5 MB/s over a line with a delay of 100 ms.
const RECEIVE_WINDOW_BYTES: u32 = 256 * 1024;

/// Maximum number of bytes of a response that wait for the socket, per stream.
const SEND_BUFFER_BYTES_MAX: usize = 32 * 1024;

/// Number of requests that a client may reset beyond those whose responses it reads, before its
/// connection is closed. A browser that leaves a page resets its requests in flight, at most some
/// hundred.
const RESETS_MAX: u32 = 256;

/// Serves a connection whose first byte has arrived, until it ends.
pub async fn serve<S, D>(
    transport: Transport,
    peer: SocketAddr,
    app: Rc<S>,
    context: &ListenerContext<D>,
) where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
    D: Clone + 'static,
{
    let is_stopping = Rc::new(Cell::new(false));
    let transport = DrainedTransport::new(transport, Rc::clone(&is_stopping));
    let handshake = builder(&context.config).handshake(transport);
    let connection = match timeout(context.config.client_request_timeout, handshake).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            count_protocol_error(&error, &context.metrics);
            return;
        }
        Err(_) => {
            context.metrics.counters.cut_slow_heads.increment();
            return;
        }
    };
    let data = (context.on_connect)(EndOfWaits::new(&context.stopping));
    let timer = Rc::new(ConnectionTimer::new(context.config.client_send_timeout));
    let serve_stream = |request, respond| {
        let stream = StreamContext {
            app: Rc::clone(&app),
            peer,
            data: data.clone(),
            timer: Rc::clone(&timer),
            respond_to_rejected: context.respond_to_rejected,
        };
        serve_stream(request, respond, stream)
    };
    // Boxed, because it is larger than the future of HTTP/1.1, which most connections use.
    Box::pin(serve_streams(
        connection,
        context,
        &is_stopping,
        serve_stream,
    ))
    .await;
}

fn builder(config: &ConnectionConfig) -> server::Builder {
    let mut builder = server::Builder::new();
    builder
        .max_concurrent_streams(config.max_streams)
        .max_header_list_size(HEADER_LIST_BYTES_MAX)
        .initial_window_size(RECEIVE_WINDOW_BYTES)
        .initial_connection_window_size(RECEIVE_WINDOW_BYTES)
        .max_send_buffer_size(SEND_BUFFER_BYTES_MAX);
    builder
}

/// Serves streams until the connection ends. Requests in flight are dropped with it, as on a
/// connection of HTTP/1.1. Sets `is_stopping` when the listener begins to stop.
async fn serve_streams<F, D>(
    mut connection: server::Connection<DrainedTransport, Bytes>,
    context: &ListenerContext<D>,
    is_stopping: &Cell<bool>,
    serve_stream: impl Fn(http::Request<RecvStream>, SendResponse<Bytes>) -> F,
) where
    F: Future<Output = Outcome>,
{
    let metrics = &context.metrics;
    let mut idle_max = context.config.keep_alive;
    let mut in_flight = FuturesUnordered::new();
    let mut stopping = pin!(context.stopping.notified());
    let mut idle = pin!(sleep(idle_max));
    let mut resets = 0_u32;
    loop {
        tokio::select! {
            accepted = poll_fn(|context| connection.poll_accept(context)) => match accepted {
                Some(Ok((request, respond))) => in_flight.push(serve_stream(request, respond)),
                Some(Err(error)) => {
                    count_protocol_error(&error, metrics);
                    return;
                }
                None => return,
            },
            Some(outcome) = in_flight.next(), if !in_flight.is_empty() => {
                match outcome {
                    Outcome::Sent => resets = resets.saturating_sub(1),
                    Outcome::Reset => resets += 1,
                    Outcome::Unread => metrics.counters.reset_unread_streams.increment(),
                    Outcome::Failed => {}
                }
                if resets > RESETS_MAX {
                    metrics.counters.cut_misbehaving.increment();
                    connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                    break;
                }
                if in_flight.is_empty() {
                    idle.as_mut().reset(Instant::now() + idle_max);
                }
            },
            () = &mut stopping, if !is_stopping.get() => {
                is_stopping.set(true);
                connection.graceful_shutdown();
                // h2 closes the connection when the client has acknowledged the frame.
                idle_max = DISCONNECT_TIMEOUT;
                idle.as_mut().reset(Instant::now() + idle_max);
            },
            () = &mut idle, if in_flight.is_empty() => {
                if is_stopping.get() {
                    return;
                }
                metrics.counters.closed_idle.increment();
                connection.graceful_shutdown();
                break;
            },
        }
    }
    drop(in_flight);
    let closed = poll_fn(|context| connection.poll_closed(context));
    // After the timeout, or with an error, the socket is dropped all the same.
    let _ = timeout(DISCONNECT_TIMEOUT, closed).await;
}

/// Counts a connection that ends because its client broke the protocol. Other errors are those of
/// the transport.
fn count_protocol_error(error: &h2::Error, metrics: &ListenerMetrics) {
    if error.is_library() || error.is_go_away() {
        metrics.counters.cut_misbehaving.increment();
    }
}

/// Serves one request. Responds with 431 if its headers are too large, and with 400 if its target
/// is malformed.
async fn serve_stream<S, D>(
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    stream: StreamContext<S, D>,
) -> Outcome
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error>,
    D: 'static,
{
    let (head, body) = request.into_parts();
    let is_head = head.method == Method::HEAD;
    let is_continue_due = Rc::new(Cell::new(false));
    let response = match actix_request(&head, body, stream.peer, &is_continue_due) {
        Ok(request) => {
            drop(head);
            request.extensions_mut().insert(stream.data);
            let called = stream.app.call(request);
            match call(called, &mut respond, &is_continue_due).await {
                Some(Ok(response)) => response.into(),
                Some(Err(error)) => error.into(),
                None => return Outcome::Reset,
            }
        }
        Err(error) => (stream.respond_to_rejected)(&error).into(),
    };
    response::send(response, respond, is_head, stream.timer).await
}

/// The parts of a connection that each of its streams needs.
struct StreamContext<S, D> {
    app: Rc<S>,
    peer: SocketAddr,
    data: D,
    timer: Rc<ConnectionTimer>,
    respond_to_rejected: fn(&HeadError) -> HttpResponse,
}

/// Waits for the result of the app, and sends `100 Continue` when it is due. Returns `None` if the
/// client resets the stream: the request is then dropped, as with a connection of HTTP/1.1.
async fn call<R>(
    called: impl Future<Output = R>,
    respond: &mut SendResponse<Bytes>,
    is_continue_due: &Cell<bool>,
) -> Option<R> {
    let mut called = pin!(called);
    poll_fn(|context| {
        if let Poll::Ready(result) = called.as_mut().poll(context) {
            return Poll::Ready(Some(result));
        }
        if is_continue_due.take() {
            // An error means that the stream has ended, which the next line finds too.
            let _ = respond.send_informational(response::interim());
        }
        respond.poll_reset(context).map(|_| None)
    })
    .await
}
