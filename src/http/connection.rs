//! The steps of a connection, in order (docs/internals/http.md):
//!
//! 1. It acquires a permit of its peer's address, or is closed. One of a trusted proxy stays open
//!    without a permit.
//! 2. Its writes time out if the client reads too slowly ([`SlowClientStream`]).
//! 3. On a listener with TLS, the handshake.
//! 4. It waits for the first byte of the first request.
//! 5. It is served with HTTP/2 if the client chose that in the handshake, with HTTP/1.1 otherwise.

use crate::{
    context::ListenerContext,
    http1, http2,
    slow_client::SlowClientStream,
    transport::{DISCONNECT_TIMEOUT, Transport},
};
use actix_http::{Request, body::BoxBody};
use actix_service::{IntoServiceFactory as _, Service, ServiceFactory, fn_factory, fn_service};
use actix_web::{
    App,
    dev::{AppConfig, ServiceResponse},
    web::ServiceConfig,
};
use ledger_limits::{KeyedLimit, Networks, Permit, REJECTIONS, network_of};
use rustls::ServerConfig;
use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::Arc,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// The address limit and the TLS configuration that a connection passes before its first request.
#[derive(Clone)]
pub struct Admission {
    /// Limit on the open connections of each address.
    pub addresses: Arc<KeyedLimit<IpAddr>>,
    /// Name of this limit: its setting, if it has one.
    pub addresses_limit: &'static str,
    /// Proxies whose connections need no permit of their address.
    pub trusted_proxies: Networks,
    /// The TLS configuration, or `None` for plain HTTP/1.1.
    pub tls: Option<ServerConfig>,
}

/// Serves the connections of one worker thread.
struct Worker<S, H, D> {
    context: ListenerContext<D>,
    addresses: Arc<KeyedLimit<IpAddr>>,
    addresses_limit: &'static str,
    trusted_proxies: Networks,
    tls: Option<TlsAcceptor>,
    app: Rc<S>,
    http1: H,
}

/// Returns a factory of the service that serves connections with the routes that `routes`
/// registers. Each worker thread makes its own.
pub fn service<F, D>(
    context: &ListenerContext<D>,
    admission: &Admission,
    routes: F,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = (), InitError = ()> + use<F, D>
where
    F: Fn(&mut ServiceConfig) + Clone + 'static,
    D: Clone + 'static,
{
    let (context, admission) = (context.clone(), admission.clone());
    fn_factory(move || {
        let (context, admission) = (context.clone(), admission.clone());
        let app = app(routes.clone());
        async move {
            let app = Rc::new(app.new_service(AppConfig::default()).await?);
            let http1 = http1::service(Rc::clone(&app), &context).await?;
            let tls = admission
                .tls
                .map(|config| TlsAcceptor::from(Arc::new(config)));
            let worker = Rc::new(Worker {
                context,
                addresses: admission.addresses,
                addresses_limit: admission.addresses_limit,
                trusted_proxies: admission.trusted_proxies,
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

impl<S, H, D> Worker<S, H, D>
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
    H: http1::Http1Service,
    D: Clone + 'static,
{
    async fn serve(&self, tcp: TcpStream) {
        let metrics = &self.context.metrics;
        // A client without an address has closed the connection already.
        let Ok(peer) = tcp.peer_addr() else {
            return;
        };
        let permit = self.addresses.try_acquire(network_of(peer.ip()));
        if permit.is_none() && !self.trusted_proxies.contain(peer.ip()) {
            metrics.counters.refused_of_address.increment();
            REJECTIONS.record(self.addresses_limit, self.addresses.max() as u64);
            // An error means that the connection has ended already.
            let _ = tcp.set_zero_linger();
            return;
        };
        // The permits are released when the task is dropped, too.
        let _open = Permit::acquire(&metrics.open);
        self.serve_admitted(tcp, peer).await;
    }

    async fn serve_admitted(&self, tcp: TcpStream, peer: SocketAddr) {
        // An error only delays responses.
        let _ = tcp.set_nodelay(true);
        let context = &self.context;
        let stream = SlowClientStream::new(
            tcp,
            context.config.client_send_timeout,
            Arc::clone(&context.metrics),
        );
        let Some(mut transport) = self.transport(stream).await else {
            context.metrics.counters.failed_handshakes.increment();
            return;
        };
        if !self.has_request(&mut transport).await {
            // After the timeout, or with an error, the socket is dropped all the same.
            let _ = timeout(DISCONNECT_TIMEOUT, transport.shutdown()).await;
            return;
        }
        if transport.is_http2() {
            http2::serve(transport, peer, Rc::clone(&self.app), context).await;
        } else {
            http1::serve(&self.http1, transport, peer, context).await;
        }
    }

    /// Waits for the first byte of the first request, for as long as a connection may be idle.
    ///
    /// Returns `false` if the connection must be closed instead: it was idle for too long, its
    /// client has closed it, or the listener stops.
    async fn has_request(&self, transport: &mut Transport) -> bool {
        let context = &self.context;
        tokio::select! {
            received = transport.has_bytes() => matches!(received, Ok(true)),
            () = context.stopping.notified() => false,
            () = sleep(context.config.keep_alive) => {
                context.metrics.counters.closed_idle.increment();
                false
            }
        }
    }

    /// Performs the TLS handshake, if any. Returns `None` if it failed or took too long.
    async fn transport(&self, stream: SlowClientStream) -> Option<Transport> {
        let Some(tls) = &self.tls else {
            return Some(Transport::Plain(stream));
        };
        let handshake = timeout(
            self.context.config.client_request_timeout,
            tls.accept(stream),
        );
        // Boxed, so that the connection does not hold the state of the handshake until it ends.
        let stream = Box::pin(handshake).await.ok()?.ok()?;
        Some(Transport::Tls(Box::new(stream)))
    }
}
