//! HTTP/1.1, by the dispatcher of actix-http and what it leaves open.
//!
//! actix-http has a deadline for the head of a connection's first request only. It decodes requests
//! faster than it responds to them, encodes a response for the request that it decoded last, and
//! serves requests that follow `Connection: close`. Its deadline for the next request is a timer
//! that is created and dropped for each. It sends `100 Continue` before a handler decides whether
//! it reads the body, and rejects malformed heads with an empty body. [`Deadlines`] replaces its
//! deadlines, and [`TrackedStream`] passes it one request at a time and replaces those responses.

mod deadlines;
mod framing;
mod idle;
mod read_ahead;
mod rejection;
mod request_line;
mod state;

use crate::{
    chunked_body::ChunkedBody,
    context::{EndOfWaits, ListenerContext},
    transport::{DISCONNECT_TIMEOUT, Transport},
};
use actix_http::{
    ConnectionType, HttpService, KeepAlive, Payload, Request, Response, Version,
    body::{BodySize, BoxBody, MessageBody as _},
    error::{DispatchError, PayloadError},
};
use actix_service::{Service, ServiceFactory as _, fn_service};
use actix_web::dev::{Extensions, ServiceResponse};
use bytes::Bytes;
use deadlines::Deadlines;
use futures::{
    future::FutureExt as _,
    stream::{Stream, StreamExt as _, poll_fn as poll_fn_stream},
};
use read_ahead::TrackedStream;
use state::{ConnectionState, Interim, RequestGuard};
use std::{
    convert::Infallible,
    future::{Future as _, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    rc::Rc,
    task::Poll,
    time::Duration,
};

/// The service of the HTTP/1.1 connections of one thread.
pub trait Http1Service:
    Service<(TrackedStream, Option<SocketAddr>), Response = (), Error = DispatchError>
{
}

impl<H> Http1Service for H where
    H: Service<(TrackedStream, Option<SocketAddr>), Response = (), Error = DispatchError>
{
}

/// Creates the service of one thread.
///
/// # Errors
///
/// Never returns an error: the factory of actix-http has none here.
pub async fn service<S, D>(
    app: Rc<S>,
    context: &ListenerContext<D>,
) -> Result<impl Http1Service + use<S, D>, ()>
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
    D: 'static,
{
    let stopping = context.stopping.clone();
    let end_of_waits = EndOfWaits::new(&stopping);
    let ended = end_of_waits.clone();
    let on_connect = context.on_connect;
    let serve = Rc::new(move |mut request: Request| {
        let (state, guard) = begin_request(&mut request);
        let requested = Requested::by(&request);
        let ended = ended.clone();
        app.call(request).map(move |result| {
            let mut response = result.map_or_else(Response::from, Response::from);
            // actix-http may learn of the stop after a request whose wait it has ended.
            if ended.has_observed_stop() {
                response
                    .head_mut()
                    .set_connection_type(ConnectionType::Close);
            }
            let response = set_connection_header(response, requested, &state);
            response.map_body(|_, body| ChunkedBody::new(body, guard))
        })
    });
    let handler = fn_service({
        let serve = Rc::clone(&serve);
        move |request: Request| serve(request).map(Ok::<_, Infallible>)
    });
    // actix-http would send `100 Continue` when this service succeeds, and call the handler then.
    // It sends the response of the handler instead, as an error of this service.
    let expecting = fn_service(move |request: Request| {
        serve(request).map(|response| Err::<Request, _>(response.map_into_boxed_body()))
    });
    HttpService::build()
        // `Deadlines` replaces these two. That of actix-http for a head would apply to the first
        // request only, and begin up to half a second early.
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        // `TrackedStream` withholds the end of the input while a whole request is in flight, so
        // this drops incomplete requests only.
        .h1_allow_half_closed(false)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(move |stream: &TrackedStream, data: &mut Extensions| {
            let state = stream.state();
            data.insert(on_connect(end_of_waits.with_input(state.input_end())));
            data.insert(Rc::clone(state));
        })
        .expect(expecting)
        .h1(handler)
        .new_service(())
        .await
}

/// Begins a request. The response holds the guard until it has been encoded whole.
fn begin_request(request: &mut Request) -> (Rc<ConnectionState>, RequestGuard) {
    let state = request
        .conn_data::<Rc<ConnectionState>>()
        .expect("each connection has a state");
    let state = Rc::clone(state);
    let guard = state.begin_request();
    // By the request's own version and `Connection` header (RFC 9112, section 9.3).
    if request.head().connection_type() == ConnectionType::Close {
        state.close_after_request();
    }
    let interim = if request.head().expect() {
        Interim::Expected
    } else {
        Interim::NotExpected
    };
    state.set_interim(interim);
    report_body_reads(request, &state);
    (state, guard)
}

/// Reports to `state` when a handler waits for the body, and when it reads a part of it.
///
/// actix-http reads nothing after a malformed chunk. It tells the handler that the input has ended,
/// which this replaces by the cause.
fn report_body_reads(request: &mut Request, state: &Rc<ConnectionState>) {
    let mut payload = match request.take_payload() {
        Payload::None => return,
        payload => payload,
    };
    let state = Rc::clone(state);
    let reported = poll_fn_stream(move |context| {
        let mut read = payload.poll_next_unpin(context);
        if read.is_ready() {
            state.record_body_read();
            state.set_interim(Interim::NotExpected);
        } else if state.interim() == Interim::Expected {
            state.set_interim(Interim::Due);
        }
        if let Poll::Ready(Some(Err(error))) = &mut read {
            state.close_after_request();
            if !state.input_end().is_reached() {
                let cause = io::Error::new(io::ErrorKind::InvalidData, "a chunk is malformed");
                *error = PayloadError::Io(cause);
            }
        }
        read
    });
    let payload: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(reported);
    *request.payload() = Payload::Stream { payload };
}

/// The part of a request that decides how its response ends.
#[derive(Clone, Copy)]
struct Requested {
    version: Version,
    connection: ConnectionType,
}

impl Requested {
    fn by(request: &Request) -> Self {
        Self {
            version: request.version(),
            connection: request.head().connection_type(),
        }
    }
}

/// Closes the connection after the response if the request or the response closes it, if the body
/// is malformed, or if it is unknown whether the client will send its body.
fn set_connection_header(
    mut response: Response<BoxBody>,
    requested: Requested,
    state: &ConnectionState,
) -> Response<BoxBody> {
    // The end of the connection ends a body of unknown length if chunks may not (RFC 9112,
    // section 6.1).
    let ends_body =
        requested.version < Version::HTTP_11 && response.body().size() == BodySize::Stream;
    let is_body_unread = state.interim() != Interim::NotExpected;
    state.set_interim(Interim::NotExpected);
    let head = response.head_mut();
    head.no_chunking(ends_body);
    // actix-http reuses the heads of a thread's responses and resets everything but the version,
    // which may be that of another client's request. The version decides here if no flag does;
    // actix-http replaces it before it writes the head.
    head.version = Version::HTTP_11;
    if requested.connection != ConnectionType::KeepAlive
        || head.connection_type() == ConnectionType::Close
        || ends_body
        || is_body_unread
        || state.is_closing()
    {
        // The server supports no upgrade: actix-http ends a connection that requested one.
        head.set_connection_type(ConnectionType::Close);
        state.close_after_request();
    }
    response
}

/// Serves a connection whose first byte has arrived, until it ends.
pub async fn serve<H: Http1Service, D>(
    http1: &H,
    transport: Transport,
    peer: SocketAddr,
    context: &ListenerContext<D>,
) {
    let state = Rc::new(ConnectionState::default());
    let stream = TrackedStream::new(transport, Rc::clone(&state), context.respond_to_rejected);
    let mut dispatcher = pin!(http1.call((stream, Some(peer))));
    let mut deadlines = Deadlines::new(state, context);
    poll_fn(|context| {
        if dispatcher.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        deadlines.poll(context)
    })
    .await;
}

#[cfg(test)]
mod tests {
    use crate::{ConnectionConfig, Listener, ListenerOptions, ListenerRegistry};
    use actix_web::{HttpResponse, web};
    use ledger_limits::{KeyedLimit, Networks};
    use std::{
        future::poll_fn,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering::Relaxed},
        },
        task::Poll,
        time::Duration,
    };
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

    fn options() -> ListenerOptions<()> {
        const LONG: Duration = Duration::from_secs(3600);
        ListenerOptions {
            name: "test",
            metrics: ListenerRegistry::default().add("test"),
            address: ([127, 0, 0, 1], 0).into(),
            workers: 1,
            max_connections: 16,
            addresses: Arc::new(KeyedLimit::new(16)),
            addresses_limit: "connections of an address",
            trusted_proxies: Networks::default(),
            tls: None,
            connection: ConnectionConfig {
                keep_alive: LONG,
                client_request_timeout: LONG,
                client_send_timeout: LONG,
                max_streams: 1,
            },
            on_connect: |_| (),
            respond_to_rejected: |error| HttpResponse::new(error.status()),
            shutdown_timeout: Duration::from_secs(1),
        }
    }

    /// Sends a request of another client and reads its response.
    async fn get_other(other: &mut TcpStream) {
        let request = b"GET /other HTTP/1.1\r\nhost: a\r\n\r\n";
        other.write_all(request).await.unwrap();
        assert!(other.read(&mut [0; 1024]).await.unwrap() > 0);
    }

    #[actix_web::test]
    async fn serves_no_request_while_a_write_blocks() {
        /// Requests whose responses exceed all buffers of the kernel.
        const REQUESTS_MAX: usize = 400_000;
        /// Requests of another client during which the pipeline must make no progress.
        const OTHERS: usize = 1_000;
        let served = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&served);
        let mut listener = Listener::start(&options(), move |app| {
            let served = Arc::clone(&counter);
            let count = move || {
                served.fetch_add(1, Relaxed);
                async {
                    HttpResponse::Ok()
                        .insert_header(("x", "y".repeat(400)))
                        .finish()
                }
            };
            app.route("/", web::get().to(count));
            app.route("/other", web::get().to(HttpResponse::Ok));
        })
        .unwrap();
        listener.wait_until_serving().await.unwrap();
        let url = listener.url();
        let address = url.strip_prefix("http://").unwrap();
        let pipeline = TcpStream::connect(address).await.unwrap();
        let mut other = TcpStream::connect(address).await.unwrap();
        let requests = REQUEST.repeat(1_000);
        let (mut sent, mut idle) = (0, 0);
        while idle < OTHERS {
            let before = served.load(Relaxed);
            assert!(before < REQUESTS_MAX, "responses wait in memory");
            if let Ok(bytes) = pipeline.try_write(&requests[sent % requests.len()..]) {
                sent += bytes;
            }
            get_other(&mut other).await;
            idle = if served.load(Relaxed) == before {
                idle + 1
            } else {
                0
            };
        }
        drop((pipeline, other));
        listener.stop().await;
    }

    /// A closed socket can always be read.
    #[actix_web::test]
    async fn polls_no_request_in_a_loop_after_its_client_has_closed_its_side() {
        /// Requests of another client during which the first one waits.
        const OTHERS: usize = 1_000;
        /// Far more polls than the begin of the request and the end of the input cause.
        const POLLS_MAX: usize = 20;
        let polls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&polls);
        let mut listener = Listener::start(&options(), move |app| {
            let polls = Arc::clone(&counter);
            let wait = move || {
                let polls = Arc::clone(&polls);
                poll_fn(move |_| {
                    polls.fetch_add(1, Relaxed);
                    Poll::<HttpResponse>::Pending
                })
            };
            app.route("/", web::get().to(wait));
            app.route("/other", web::get().to(HttpResponse::Ok));
        })
        .unwrap();
        listener.wait_until_serving().await.unwrap();
        let url = listener.url();
        let address = url.strip_prefix("http://").unwrap();
        let mut waiting = TcpStream::connect(address).await.unwrap();
        waiting.write_all(REQUEST).await.unwrap();
        waiting.shutdown().await.unwrap();
        let mut other = TcpStream::connect(address).await.unwrap();
        for _ in 0..OTHERS {
            get_other(&mut other).await;
        }
        let polls = polls.load(Relaxed);
        assert!((1..POLLS_MAX).contains(&polls), "{polls} polls");
        assert!(
            waiting.try_read(&mut [0; 1]).is_err(),
            "the request was dropped"
        );
        drop((waiting, other));
        listener.stop().await;
    }
}
