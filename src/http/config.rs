//! Limits and deadlines of a connection.

use std::time::Duration;

/// Limits and deadlines of each connection of a listener.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    /// Maximum time without a request, before the first one as well as between two.
    pub keep_alive: Duration,
    /// Maximum time between the first byte of a request's head and its end, and of a TLS handshake.
    pub client_request_timeout: Duration,
    /// Maximum time for which a client may read nothing of a response.
    pub client_send_timeout: Duration,
    /// Maximum number of open streams of an HTTP/2 connection.
    pub max_streams: u32,
}
