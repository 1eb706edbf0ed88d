//! One HTTP listener of the node: bound, served on its own threads, stopped in order.

use super::net::{ConnectionOptions, ListenerMetrics, PipelineOptions, pipeline};
use crate::{cli::Failure, config::API_WORKERS_MAX};
use actix_server::{Server, ServerHandle};
use actix_web::web::ServiceConfig;
use ledger_limits::KeyedLimit;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io,
    net::{SocketAddr, TcpListener},
    num::NonZero,
    sync::Arc,
    thread::available_parallelism,
    time::Duration,
};

/// What the kernel keeps of an answer that its client does not read, in bytes; it takes twice as much for its
/// own records. As large as to send 1 MB/s over a line with a delay of 100 ms, and as small as to show soon
/// how fast a client reads: the writer hears of it when a third is free.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// How a listener serves.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// Its name in messages: `api`.
    pub name: &'static str,
    /// What it refuses and cuts is counted here.
    pub metrics: Arc<ListenerMetrics>,
    /// Where it listens; port 0 picks a free one.
    pub address: SocketAddr,
    /// Number of worker threads, as [`worker_threads`] reads it.
    pub workers: usize,
    /// Connections that wait to be accepted.
    pub backlog: u32,
    /// Connections that are open at once, over all threads and up to one for each thread more; others wait
    /// to be accepted.
    pub max_connections: usize,
    /// Connections that one address has open at once; more are closed at once.
    pub max_connections_per_address: usize,
    /// How each connection is served.
    pub connection: ConnectionOptions,
    /// How long a stop waits for the requests that are being served.
    pub shutdown_timeout: Duration,
}

/// A bound listener, with the actix-server that serves it.
#[derive(Debug)]
pub struct Listener {
    name: &'static str,
    address: SocketAddr,
    scheme: &'static str,
    handle: ServerHandle,
    serving: actix_web::rt::task::JoinHandle<io::Result<()>>,
}

impl Listener {
    /// Binds the address and starts to serve what `routes` registers. The threads exist after
    /// [`Listener::wait_until_serving`].
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Fatal`] if the address cannot be bound.
    pub fn start<F>(options: &ListenerOptions, routes: F) -> Result<Self, Failure>
    where
        F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
    {
        let name = options.name;
        let failure =
            |error| Failure::fatal(format!("{name}.listen = \"{}\"", options.address), &error);
        let workers = worker_threads(options.workers);
        let server = Server::build()
            .workers(workers)
            .max_concurrent_connections(options.max_connections.div_ceil(workers))
            // Whole seconds, rounded up.
            .shutdown_timeout(options.shutdown_timeout.as_millis().div_ceil(1000) as u64)
            // Signals are the node's: they stop listeners and actors in order.
            .disable_signals();
        let pipeline_options = PipelineOptions {
            addresses: Arc::new(KeyedLimit::new(options.max_connections_per_address)),
            metrics: Arc::clone(&options.metrics),
            connection: options.connection.clone(),
            stopping: server.graceful_shutdown_signal(),
        };
        let socket = bind(options).map_err(failure)?;
        let address = socket.local_addr().map_err(failure)?;
        // HTTP/2 only inside TLS: without it, no client of this interface asks for HTTP/2.
        let scheme = if options.connection.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let server = server
            .listen(name, socket, move || {
                pipeline(&pipeline_options, routes.clone())
            })
            .map_err(failure)?
            .run();
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

    /// Waits until all worker threads of the listener run and connections are accepted.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Fatal`] if the listener ended instead. Do not call [`Listener::ended`] then.
    pub async fn wait_until_serving(&mut self) -> Result<(), Failure> {
        // actix-server handles commands once its threads run. Resuming a server that is not paused has no effect.
        self.handle.resume().await;
        if self.serving.is_finished() {
            return Err(self.ended().await);
        }
        Ok(())
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

/// Returns the number of worker threads of a listener for a value of `api.workers`, from 1 to [`API_WORKERS_MAX`].
///
/// 0 is one thread per core.
pub fn worker_threads(configured: usize) -> usize {
    worker_threads_on(configured, available_parallelism().ok())
}

/// Returns [`worker_threads`] of a machine with `cores`, or of one whose number of cores is unknown.
fn worker_threads_on(configured: usize, cores: Option<NonZero<usize>>) -> usize {
    let wanted = match configured {
        0 => cores.map_or(1, NonZero::get),
        threads => threads,
    };
    wanted.min(usize::try_from(API_WORKERS_MAX).unwrap_or(usize::MAX))
}

/// A socket that listens; those of the connections get its options.
fn bind(options: &ListenerOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(options.address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A node that is started again may listen although connections of the last one are still ending.
    socket.set_reuse_address(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(&options.address.into())?;
    let backlog = i32::try_from(options.backlog).unwrap_or(i32::MAX);
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_no_more_worker_threads_than_actix_server_allows() {
        let cores = NonZero::new;
        for (configured, cores, expected) in [
            (0, None, 1),
            (0, cores(2), 2),
            (0, cores(512), 512),
            (0, cores(1_000), 512),
            (1, cores(1_000), 1),
            (512, cores(2), 512),
        ] {
            assert_eq!(
                worker_threads_on(configured, cores),
                expected,
                "{configured}, {cores:?}"
            );
        }
    }

    #[test]
    fn actix_server_takes_the_largest_number_of_worker_threads_on() {
        let cores = NonZero::new(usize::MAX);
        // It panics on a number that it does not take.
        let _builder = Server::build().workers(worker_threads_on(0, cores));
    }
}
