//! HTTP/2: one connection whose streams become requests of the app.
//!
//! The crate h2 reads frames and enforces the protocol. This module decides how many streams and
//! bytes a connection may have, and how long they may take.

mod connection;
mod request;
mod response;
mod slow_client;
mod transport;

pub use connection::serve;
