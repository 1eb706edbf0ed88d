//! HTTP/2: one connection whose streams become requests of the app.
//!
//! The library reads frames and keeps the rules of the protocol; here is decided how much of anything there
//! may be, and how long it may take.

mod connection;
mod request;
mod response;
mod slow_client;

pub use connection::serve;

use std::time::Duration;

/// The longest headers of a request without its path, in bytes as RFC 9113 counts them (section 6.5.2); above it
/// the answer is 431. A byte on the wire may stand for a header that came before, and becomes a copy of it.
const HEADERS_BYTES_MAX: usize = 8 * 1024;

/// The longest head of a request, in the same bytes: the longest path that is read (16 KiB), and the headers.
const HEADER_LIST_BYTES_MAX: u32 = (16 * 1024 + HEADERS_BYTES_MAX) as u32;

/// How much of a request's body is taken before someone reads it, in bytes, of a stream and of a connection:
/// a client over a line with a delay of 100 ms can send 2.5 MB/s.
const RECEIVE_WINDOW_BYTES: u32 = 256 * 1024;

/// How much of a stream's answer waits for the socket, in bytes.
const SEND_BUFFER_BYTES_MAX: usize = 32 * 1024;

/// How many requests more a client may take back than it reads answers, before its connection is cut: a page
/// that is left takes back what a browser has under way, some hundred at most.
const RESETS_MAX: u32 = 256;

/// How long a connection may take to end after the last answer.
const CLOSE_TIMEOUT: Duration = crate::transport::DISCONNECT_TIMEOUT;
