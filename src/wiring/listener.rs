//! One HTTP listener of the node: bound, served on its own threads, stopped in order.

use crate::commands::Failure;
use actix_web::{App, HttpServer, dev::ServerHandle, web::ServiceConfig};
use ledger_api::remember_connection;
use rustls::ServerConfig;
use std::{net::SocketAddr, time::Duration};

/// How long a closing connection may take to read the rest of its last answer and to close its own side.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How a listener serves.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// Its name in messages: `api`.
    pub name: &'static str,
    /// Where it listens; port 0 picks a free one.
    pub address: SocketAddr,
    /// Threads; 0 is one for each core.
    pub workers: usize,
    /// Connections that wait to be accepted.
    pub backlog: u32,
    /// Connections that are open at once, over all threads and up to one for each thread more; others wait
    /// to be accepted.
    pub max_connections: usize,
    /// HTTP over TLS with this certificate; without one, plain HTTP/1.1.
    pub tls: Option<ServerConfig>,
    /// How long a TLS handshake may take.
    pub tls_handshake_timeout: Duration,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// How long a client may take to send a request's head.
    pub client_request_timeout: Duration,
    /// How long a stop waits for the requests that are being served.
    pub shutdown_timeout: Duration,
}

/// A listener that answers.
#[derive(Debug)]
pub struct Listener {
    name: &'static str,
    address: SocketAddr,
    scheme: &'static str,
    handle: ServerHandle,
    serving: actix_web::rt::task::JoinHandle<std::io::Result<()>>,
}

impl Listener {
    /// Binds the address and begins to serve what `routes` registers.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn start<F>(options: &ListenerOptions, routes: F) -> Result<Self, Failure>
    where
        F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
    {
        let name = options.name;
        let failure = |error| Failure::fatal(format!("{name}.listen = \"{}\"", options.address), &error);
        let workers = match options.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        let worker_connections = options.max_connections.div_ceil(workers);
        let server = HttpServer::new(move || App::new().configure(routes.clone()))
            .on_connect(remember_connection)
            .workers(workers)
            .backlog(options.backlog)
            .max_connections(worker_connections)
            // Of these connections all may be in their handshake: with a smaller bound, a few clients that
            // begin one and then say nothing would keep all others out.
            .max_connection_rate(worker_connections)
            .tls_handshake_timeout(options.tls_handshake_timeout)
            .keep_alive(options.keep_alive)
            .client_request_timeout(options.client_request_timeout)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            // A client that closes its side has gone away, as a rule: its request is dropped, so
            // that an abandoned long poll costs nothing. Clients that half-close and still read
            // are rare, and none of the SDKs does.
            .h1_allow_half_closed(false)
            .tcp_nodelay(true)
            // Whole seconds, rounded up.
            .shutdown_timeout(options.shutdown_timeout.as_millis().div_ceil(1000) as u64)
            // Signals are the node's: they stop listeners and actors in order.
            .disable_signals();
        // HTTP/2 only inside TLS: without it, no client of this interface asks for HTTP/2.
        let (bound, scheme) = match options.tls.clone() {
            Some(tls) => (server.bind_rustls_0_23(options.address, tls), "https"),
            None => (server.bind(options.address), "http"),
        };
        let server = bound.map_err(failure)?;
        let address = server.addrs().first().copied().unwrap_or(options.address);
        let server = server.run();
        Ok(Self {
            name,
            address,
            scheme,
            handle: server.handle(),
            serving: actix_web::rt::spawn(server),
        })
    }

    /// `api=http://HOST:PORT` or `api=https://HOST:PORT`, the listener's part of the ready line.
    pub fn ready_words(&self) -> String {
        format!("{}={}://{}", self.name, self.scheme, self.address)
    }

    /// Ends when the listener does, which without [`Listener::stop`] is an error.
    pub async fn ended(&mut self) -> Failure {
        let reason = match (&mut self.serving).await {
            Ok(Ok(())) => "it stopped".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Failure::Fatal(format!("the {} listener ended: {reason}", self.name))
    }

    /// Accepts no more, finishes what is being served within the shutdown timeout, and joins its
    /// threads.
    pub async fn stop(self) {
        self.handle.stop(true).await;
    }
}
