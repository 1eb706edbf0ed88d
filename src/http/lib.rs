//! The HTTP server of the node: listeners whose connections cannot exhaust it.
//!
//! It serves the routes of an actix-web app and knows nothing about them. Its caller passes in the
//! limits, the metrics, and a function that makes the data of a new connection.
//!
//! docs/http.md describes the life of a connection, and the threats that each limit bounds.
//!
//! | module | content |
//! |---|---|
//! | `listener` | a bound address with its worker threads |
//! | `connection` | the steps of a connection, in order |
//! | `http1` | HTTP/1.1: deadlines and limits beside those of actix-http |
//! | `http2` | HTTP/2, by the crate h2 |
//! | `chunked_body` | response bodies in chunks |
//! | `transport` | a connection with or without TLS |
//! | `slow_client` | the minimum speed at which a client reads |
//! | `tls` | the certificate and its private key |
//! | `metrics` | counters of rejected and closed connections |

mod chunked_body;
mod config;
mod connection;
mod context;
mod date;
mod error;
mod http1;
mod http2;
mod listener;
mod metrics;
mod slow_client;
mod tls;
mod transport;

pub use config::ConnectionConfig;
pub use error::{ListenerError, TlsError};
pub use listener::{Listener, ListenerOptions, WORKERS_MAX};
pub use metrics::{ConnectionStatus, ListenerMetrics, ListenerRegistry};
pub use tls::{CertificateFiles, CertificateHolder, LoadedCertificate};
