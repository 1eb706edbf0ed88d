//! The life of an HTTP/2 connection: its streams are served concurrently until it is idle for too
//! long, its client breaks the protocol, or the node stops.

use super::{
    CLOSE_TIMEOUT, HEADER_LIST_BYTES_MAX, RECEIVE_WINDOW_BYTES, RESETS_MAX, SEND_BUFFER_BYTES_MAX,
    request::{is_too_long, request},
    response::{self, Outcome},
    slow_client::ConnectionTimer,
};
use crate::{
    config::ConnectionConfig, context::ListenerContext, metrics::ListenerMetrics,
    transport::Transport,
};
use actix_http::{Request, Response};
use actix_service::Service;
use actix_web::{HttpMessage as _, body::BoxBody, dev::ServiceResponse};
use bytes::Bytes;
use futures::stream::{FuturesUnordered, StreamExt as _};
use h2::{
    Reason, RecvStream,
    server::{self, SendResponse},
};
use http::{Method, StatusCode};
use std::{
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    rc::Rc,
};
use tokio::time::{Instant, sleep, timeout};

/// Serves a connection whose first byte has arrived to its end.
pub async fn serve<S, D>(
    transport: Transport,
    peer: SocketAddr,
    app: Rc<S>,
    context: &ListenerContext<D>,
) where
    D: Clone + 'static,
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
{
    let handshake = builder(&context.config).handshake(transport);
    let connection = match timeout(context.config.client_request_timeout, handshake).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            count_misbehavior(&error, &context.metrics);
            return;
        }
        Err(_) => {
            context.metrics.counters.cut_slow_heads.increment();
            return;
        }
    };
    let data = (context.on_connect)();
    let patience = Rc::new(ConnectionTimer::new(context.config.client_send_timeout));
    let serve_stream = |stream: (http::Request<RecvStream>, SendResponse<Bytes>)| {
        let (app, data) = (Rc::clone(&app), data.clone());
        serve_stream(stream, peer, app, data, Rc::clone(&patience))
    };
    // Boxed, as it is larger than what serves HTTP/1.1, and most connections are that.
    Box::pin(run(connection, context, serve_stream)).await;
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

type Streams = server::Connection<Transport, Bytes>;

/// Serves streams until the connection ends. What is being served then is dropped with it, as on a connection
/// of HTTP/1.1.
async fn run<F, D>(
    mut connection: Streams,
    context: &ListenerContext<D>,
    serve_stream: impl Fn((http::Request<RecvStream>, SendResponse<Bytes>)) -> F,
) where
    F: Future<Output = Outcome>,
{
    let metrics = &context.metrics;
    let mut served = FuturesUnordered::new();
    let mut stopping = pin!(context.stopping.notified());
    let mut is_stopping = false;
    let mut idle = pin!(sleep(context.config.keep_alive));
    let mut taken_back = 0_u32;
    loop {
        tokio::select! {
            accepted = poll_fn(|context| connection.poll_accept(context)) => match accepted {
                Some(Ok(stream)) => served.push(serve_stream(stream)),
                Some(Err(error)) => {
                    count_misbehavior(&error, metrics);
                    return;
                }
                None => return,
            },
            Some(outcome) = served.next(), if !served.is_empty() => {
                match outcome {
                    Outcome::Sent => taken_back = taken_back.saturating_sub(1),
                    Outcome::Reset => taken_back += 1,
                    Outcome::Unread => metrics.counters.reset_unread_streams.increment(),
                    Outcome::Broken => {}
                }
                if taken_back > RESETS_MAX {
                    metrics.counters.cut_misbehaving.increment();
                    connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                    break;
                }
                if served.is_empty() {
                    idle.as_mut().reset(Instant::now() + context.config.keep_alive);
                }
            },
            () = &mut stopping, if !is_stopping => {
                is_stopping = true;
                connection.graceful_shutdown();
            },
            () = &mut idle, if served.is_empty() => {
                metrics.counters.closed_idle.increment();
                connection.graceful_shutdown();
                break;
            },
        }
    }
    drop(served);
    let closed = poll_fn(|context| connection.poll_closed(context));
    // Whoever does not close in time is cut.
    let _ = timeout(CLOSE_TIMEOUT, closed).await;
}

/// Counts a connection that ends because its client broke the protocol. Other errors are of the
/// transport.
fn count_misbehavior(error: &h2::Error, metrics: &ListenerMetrics) {
    if error.is_library() || error.is_go_away() {
        metrics.counters.cut_misbehaving.increment();
    }
}

async fn serve_stream<S, D>(
    (stream, mut respond): (http::Request<RecvStream>, SendResponse<Bytes>),
    peer: SocketAddr,
    app: Rc<S>,
    data: D,
    patience: Rc<ConnectionTimer>,
) -> Outcome
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error>,
    D: 'static,
{
    let (head, body) = stream.into_parts();
    let is_head = head.method == Method::HEAD;
    if is_too_long(&head.headers) {
        return response::refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, respond);
    }
    let Some(request) = request(&head, body, peer) else {
        return Outcome::Broken;
    };
    drop(head);
    request.extensions_mut().insert(data);
    let response: Response<BoxBody> = tokio::select! {
        answered = app.call(request) => match answered {
            Ok(response) => response.into(),
            Err(error) => error.into(),
        },
        // Nobody waits for the answer: the request is dropped, as with a connection of HTTP/1.1.
        _ = poll_fn(|context| respond.poll_reset(context)) => return Outcome::Reset,
    };
    response::send(response, respond, is_head, patience).await
}
