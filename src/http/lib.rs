//! The HTTP server of the node: listeners whose connections cannot exhaust it.
//!
//! It serves the routes of an actix-web app and knows nothing about them. Its caller passes in the
//! limits, the metrics, and a function that makes the data of a new connection.
//!
//! | module | content |
//! |---|---|
//! | `listener` | [`Listener`]: a bound address with its worker threads |
//! | `connection`, `config` | the steps of a connection, in order; its [`ConnectionConfig`] |
//! | `transport` | a connection with or without TLS |
//! | `tls` | [`CertificateHolder`]: the certificate and its private key |
//! | `head_error` | [`HeadError`]: requests that are rejected before the app gets them |
//! | `http1` | HTTP/1.1: deadlines and limits beside those of actix-http |
//! | `http2` | HTTP/2, by the crate h2 |
//! | `chunked_body` | response bodies in chunks |
//! | `slow_client` | the minimum speed at which a client reads |
//! | `metrics` | [`ListenerRegistry`]: counters of rejected and closed connections |
//!
//! `docs/internals/http.md` describes the life of a connection, and the threats that each limit
//! bounds.
//!
//! # Example
//!
//! ```
//! use actix_web::{HttpResponse, web};
//! use ledger_http::{ConnectionConfig, Listener, ListenerOptions, ListenerRegistry};
//! use ledger_limits::{KeyedLimit, Networks};
//! # use std::{io::{Read, Write}, net::TcpStream};
//! use std::{sync::Arc, time::Duration};
//!
//! let timeout = Duration::from_secs(10);
//! let options = ListenerOptions {
//!     name: "example",
//!     metrics: ListenerRegistry::default().add("example"),
//!     address: "127.0.0.1:0".parse()?,
//!     workers: 1,
//!     max_connections: 16,
//!     addresses: Arc::new(KeyedLimit::new(16)),
//!     addresses_limit: "connections of an address",
//!     trusted_proxies: Networks::default(),
//!     tls: None,
//!     connection: ConnectionConfig {
//!         keep_alive: timeout,
//!         client_request_timeout: timeout,
//!         client_send_timeout: timeout,
//!         max_streams: 1,
//!     },
//!     on_connect: |_| (),
//!     respond_to_rejected: |error| HttpResponse::new(error.status()),
//!     shutdown_timeout: timeout,
//! };
//! # fn get(url: &str) -> std::io::Result<String> {
//! #     let mut connection = TcpStream::connect(url.strip_prefix("http://").expect("no TLS"))?;
//! #     connection.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
//! #     let mut response = String::new();
//! #     connection.read_to_string(&mut response).map(|_| response)
//! # }
//! # actix_web::rt::System::new().block_on(async {
//! let mut listener = Listener::start(&options, |app| {
//!     app.route("/", web::get().to(async || "hello"));
//! })?;
//! listener.wait_until_serving().await?;
//! // `get` sends `GET /` over a new connection.
//! let response = get(&listener.url())?;
//! assert!(response.starts_with("HTTP/1.1 200 OK") && response.ends_with("hello"));
//! listener.stop().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunked_body;
mod config;
mod connection;
mod context;
mod date;
mod error;
mod head_error;
mod http1;
mod http2;
mod listener;
mod metrics;
mod slow_client;
mod tls;
mod transport;

pub use config::ConnectionConfig;
pub use context::EndOfWaits;
pub use error::{ListenerError, ServerTlsError, TlsFile};
pub use head_error::HeadError;
pub use listener::{Listener, ListenerOptions, WORKERS_MAX};
pub use metrics::{ConnectionStatus, ListenerMetrics, ListenerRegistry};
pub use tls::{CertificateFiles, CertificateHolder, LoadedCertificate};
