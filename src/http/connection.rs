//! What happens to a connection: it is counted for its address, encrypted where the listener is, guarded, and
//! served with the HTTP that its client chose.

use super::{
    ListenerMetrics,
    guarded::SlowClientStream,
    http1,
    http2::{self, Http2Limits},
    transport::{ALPN_HTTP1, ALPN_HTTP2, Transport},
};
use actix_http::{Request, body::BoxBody};
use actix_server::GracefulShutdownSignal;
use actix_service::{IntoServiceFactory as _, Service, ServiceFactory, fn_factory, fn_service};
use actix_web::{
    App,
    dev::{AppConfig, ServiceResponse},
    web::ServiceConfig,
};
use ledger_limits::{KeyedLimit, Permit, network_of};
use rustls::ServerConfig;
use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// How long a closing connection may take to read the rest of its last answer and to close its own side.
pub const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How a connection is served.
#[derive(Debug, Clone)]
pub struct ConnectionOptions {
    /// HTTP over TLS with this certificate; without one, plain HTTP/1.1.
    pub tls: Option<ServerConfig>,
    /// How long a TLS handshake may take.
    pub tls_handshake_timeout: Duration,
    /// How long a connection is kept without a request, before its first one as well as between
    /// two.
    pub keep_alive: Duration,
    /// How long a client may take to send a request's head, from its first byte.
    pub client_request_timeout: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub client_send_timeout: Duration,
    /// What one HTTP/2 connection may have at once.
    pub http2: Http2Limits,
}

/// How the connections of a listener are served.
#[derive(Clone)]
pub struct PipelineOptions {
    /// The connections of each address.
    pub addresses: Arc<KeyedLimit<IpAddr>>,
    /// What is refused and cut.
    pub metrics: Arc<ListenerMetrics>,
    /// How each is served.
    pub connection: ConnectionOptions,
    /// Resolves when the listener begins to stop.
    pub stopping: GracefulShutdownSignal,
}

/// What one thread serves connections with.
struct Worker<S, H> {
    options: PipelineOptions,
    tls: Option<TlsAcceptor>,
    app: Rc<S>,
    http1: H,
}

/// Makes, on each thread, what serves connections with the routes that `routes` registers.
pub fn pipeline<F>(
    options: &PipelineOptions,
    routes: F,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = (), InitError = ()> + use<F>
where
    F: Fn(&mut ServiceConfig) + Clone + 'static,
{
    let options = options.clone();
    fn_factory(move || {
        let options = options.clone();
        let app = app(routes.clone());
        async move {
            let app = Rc::new(app.new_service(AppConfig::default()).await?);
            let http1 = http1::service(Rc::clone(&app), &options).await?;
            let tls = options.connection.tls.clone().map(|mut tls| {
                tls.alpn_protocols = vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()];
                TlsAcceptor::from(Arc::new(tls))
            });
            let worker = Rc::new(Worker {
                options,
                tls,
                app,
                http1,
            });
            Ok(fn_service(move |tcp| {
                let worker = Rc::clone(&worker);
                async move {
                    worker.serve(tcp).await;
                    Ok(())
                }
            }))
        }
    })
}

fn app<F>(
    routes: F,
) -> impl ServiceFactory<
    Request,
    Config = AppConfig,
    Response = ServiceResponse<BoxBody>,
    Error = actix_web::Error,
    InitError = (),
>
where
    F: FnOnce(&mut ServiceConfig),
{
    App::new().configure(routes).into_factory()
}

impl<S, H> Worker<S, H>
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
    H: http1::Http1,
{
    async fn serve(&self, tcp: TcpStream) {
        let metrics = &self.options.metrics;
        // Without an address, the client has gone already.
        let Ok(peer) = tcp.peer_addr() else {
            return;
        };
        let Some(_permit) = self.options.addresses.try_acquire(network_of(peer.ip())) else {
            metrics.counters.refused_of_address.increment();
            let _ = tcp.set_zero_linger();
            return;
        };
        // A task that is dropped releases the permit too.
        let _open = Permit::acquire(&metrics.open);
        self.serve_admitted(tcp, peer).await;
    }

    async fn serve_admitted(&self, tcp: TcpStream, peer: SocketAddr) {
        // It only makes answers later where it fails.
        let _ = tcp.set_nodelay(true);
        let options = &self.options;
        let guarded = SlowClientStream::new(
            tcp,
            options.connection.client_send_timeout,
            Arc::clone(&options.metrics),
        );
        let Some(mut transport) = self.transport(guarded).await else {
            options.metrics.counters.failed_handshakes.increment();
            return;
        };
        if !self.has_request(&mut transport).await {
            // An error means that the client has gone already; after the timeout the socket is
            // dropped.
            let _ = timeout(DISCONNECT_TIMEOUT, transport.shutdown()).await;
            return;
        }
        if transport.is_http2() {
            http2::serve(transport, peer, Rc::clone(&self.app), options).await;
        } else {
            http1::serve(&self.http1, transport, peer, options).await;
        }
    }

    /// Waits for the first byte of the first request, for as long as a connection may be idle.
    ///
    /// Returns whether it has arrived. The connection is to be closed otherwise: it was idle for
    /// too long, its client has gone, or the node stops.
    async fn has_request(&self, transport: &mut Transport) -> bool {
        let options = &self.options;
        tokio::select! {
            received = transport.has_bytes() => matches!(received, Ok(true)),
            () = options.stopping.notified() => false,
            () = sleep(options.connection.keep_alive) => {
                options.metrics.counters.closed_idle.increment();
                false
            }
        }
    }

    /// `None` where the TLS handshake failed or took too long.
    async fn transport(&self, guarded: SlowClientStream) -> Option<Transport> {
        let Some(tls) = &self.tls else {
            return Some(Transport::Plain(guarded));
        };
        let handshake = timeout(
            self.options.connection.tls_handshake_timeout,
            tls.accept(guarded),
        );
        // Boxed, so that the state of a handshake is not kept for as long as the connection.
        let stream = Box::pin(handshake).await.ok()?.ok()?;
        Some(Transport::Tls(Box::new(stream)))
    }
}
