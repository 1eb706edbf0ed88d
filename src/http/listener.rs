//! A listener: a bound address with its own worker threads.

use crate::{
    config::ConnectionConfig,
    connection::{self, Admission},
    context::{EndOfWaits, ListenerContext},
    error::ListenerError,
    head_error::HeadError,
    metrics::ListenerMetrics,
    tls::CertificateHolder,
};
use actix_server::{Server, ServerHandle};
use actix_web::{HttpResponse, web::ServiceConfig};
use ledger_limits::{KeyedLimit, Networks};
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};
use tokio::time::sleep;

/// Maximum number of worker threads of a listener. actix-server panics above it.
pub const WORKERS_MAX: usize = 512;

/// Size of a socket's send buffer, in bytes: what the kernel holds of a response that its client
/// does not read. The kernel reserves twice as much for its own records.
///
/// It suffices to send 1 MB/s over a line with a delay of 100 ms. A larger one would delay the
/// detection of slow clients, because the kernel reports progress when a third of it is free.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Maximum number of connections that wait to be accepted. The kernel lowers it to its own limit,
/// commonly as much.
const BACKLOG: i32 = 4_096;

/// Interval at which a stop looks whether all connections are closed. actix-server looks once per
/// second, and would prolong each stop by that.
const CLOSED_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Options of a listener.
#[derive(Debug, Clone)]
pub struct ListenerOptions<D> {
    /// Name of the listener in messages and of its threads.
    pub name: &'static str,
    /// Counters of rejected and closed connections.
    pub metrics: Arc<ListenerMetrics>,
    /// Address to bind; port 0 picks a free one.
    pub address: SocketAddr,
    /// Number of worker threads, from 1 to [`WORKERS_MAX`].
    pub workers: usize,
    /// Maximum number of open connections of all threads. Each thread may exceed its part by one.
    /// Further connections wait to be accepted.
    pub max_connections: usize,
    /// Limit on the open connections of each address. A connection beyond it is closed.
    pub addresses: Arc<KeyedLimit<IpAddr>>,
    /// Name of this limit: its setting, if it has one.
    pub addresses_limit: &'static str,
    /// Proxies whose connections do not count against the limit of their address, because each
    /// serves many clients.
    pub trusted_proxies: Networks,
    /// HTTP over TLS with this certificate; without one, plain HTTP/1.1.
    pub tls: Option<CertificateHolder>,
    /// Limits and deadlines of each connection.
    pub connection: ConnectionConfig,
    /// Makes the data of a new connection.
    ///
    /// A handler finds it with [`HttpRequest::conn_data`](actix_web::HttpRequest::conn_data) if its
    /// request came over HTTP/1.1, and in the extensions of the request if it came over HTTP/2.
    pub on_connect: fn(EndOfWaits) -> D,
    /// Makes the response to a request that is rejected before the app gets it. Its body is in
    /// memory.
    pub respond_to_rejected: fn(&HeadError) -> HttpResponse,
    /// Maximum time for which a stop waits for the requests in flight.
    pub shutdown_timeout: Duration,
}

/// A bound listener, with the actix-server that serves it.
#[derive(Debug)]
pub struct Listener {
    name: &'static str,
    address: SocketAddr,
    scheme: &'static str,
    handle: ServerHandle,
    metrics: Arc<ListenerMetrics>,
    serving: actix_web::rt::task::JoinHandle<io::Result<()>>,
}

impl Listener {
    /// Binds the address and starts to serve what `routes` registers. The threads exist after
    /// [`Self::wait_until_serving`].
    ///
    /// # Errors
    ///
    /// Returns [`ListenerError::Bind`] if the address cannot be bound.
    ///
    /// # Panics
    ///
    /// Panics if the number of workers is 0 or above [`WORKERS_MAX`].
    pub fn start<F, D>(options: &ListenerOptions<D>, routes: F) -> Result<Self, ListenerError>
    where
        F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
        D: Clone + 'static,
    {
        let name = options.name;
        let bind_error = |source| ListenerError::Bind {
            address: options.address,
            source,
        };
        let server = Server::build()
            .workers(options.workers)
            .max_concurrent_connections(options.max_connections.div_ceil(options.workers))
            // Whole seconds, rounded up.
            .shutdown_timeout(options.shutdown_timeout.as_millis().div_ceil(1000) as u64)
            // The caller stops the listener.
            .disable_signals();
        let context = ListenerContext {
            config: options.connection.clone(),
            metrics: Arc::clone(&options.metrics),
            stopping: server.graceful_shutdown_signal(),
            on_connect: options.on_connect,
            respond_to_rejected: options.respond_to_rejected,
        };
        let admission = Admission {
            addresses: Arc::clone(&options.addresses),
            addresses_limit: options.addresses_limit,
            trusted_proxies: options.trusted_proxies.clone(),
            tls: options.tls.as_ref().map(CertificateHolder::server_config),
        };
        let socket = bind(options.address).map_err(bind_error)?;
        let address = socket.local_addr().map_err(bind_error)?;
        // HTTP/2 is offered with TLS only, because clients do not use it without TLS.
        let scheme = if options.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let server = server
            .listen(name, socket, move || {
                connection::service(&context, &admission, routes.clone())
            })
            .map_err(bind_error)?
            .run();
        Ok(Self {
            name,
            address,
            scheme,
            handle: server.handle(),
            metrics: Arc::clone(&options.metrics),
            serving: actix_web::rt::spawn(server),
        })
    }

    /// Returns the name of the listener.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the URL of the bound address: `http://HOST:PORT` or `https://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Waits until all worker threads of the listener run and connections are accepted.
    ///
    /// # Errors
    ///
    /// Returns [`ListenerError::Ended`] if the listener ended instead. Do not call [`Self::ended`]
    /// then.
    pub async fn wait_until_serving(&mut self) -> Result<(), ListenerError> {
        // actix-server handles commands once its threads run. Resuming a server that is not paused
        // has no effect.
        self.handle.resume().await;
        if self.serving.is_finished() {
            return Err(self.ended().await);
        }
        Ok(())
    }

    /// Waits for the end of the listener, which is an error unless [`Self::stop`] caused it.
    pub async fn ended(&mut self) -> ListenerError {
        let reason = match (&mut self.serving).await {
            Ok(Ok(())) => "it stopped".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        ListenerError::Ended {
            name: self.name,
            reason,
        }
    }

    /// Stops accepting connections, ends the waits of requests ([`EndOfWaits`]), finishes the
    /// requests in flight within the shutdown timeout, and ends the threads.
    pub async fn stop(self) {
        tokio::select! {
            () = self.handle.stop(true) => {}
            () = all_closed(&self.metrics) => {
                // The worker threads end with the server. An error means that it was canceled.
                self.serving.abort();
                let _ = self.serving.await;
            }
        }
    }
}

/// Waits until no connection of a listener that accepts none is open.
async fn all_closed(metrics: &ListenerMetrics) {
    // Looks only after an interval, so that the listener has begun to stop.
    loop {
        sleep(CLOSED_CHECK_INTERVAL).await;
        if metrics.open.held() == 0 {
            return;
        }
    }
}

/// Returns a listening socket. Connections inherit its options.
fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A restarted node binds the address although connections of its predecessor still end.
    socket.set_reuse_address(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actix_server_accepts_the_maximum_number_of_worker_threads() {
        // It panics on a number that it does not accept.
        let _builder = Server::build().workers(WORKERS_MAX);
    }
}
