//! Errors of the clients, worded for the user of a command.

use ledger_crypto::HashValue;
use std::{io, path::PathBuf};

/// An error of a request to a node or a faucet.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is not a usable address of a service. No request was sent.
    #[error("{url:?} is not the URL of a service: {reason}")]
    InvalidUrl {
        /// The URL as the caller passed it.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A file of root certificates cannot be read or used. No request was sent.
    #[error("--ca {}: {reason}", path.display())]
    InvalidRoots {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No root certificate is known, so that no server can be verified. No request was sent.
    #[error(
        "this system has no root certificates to verify a server ({reason}); name a PEM file of \
         root certificates with --ca FILE"
    )]
    NoRoots {
        /// The reason.
        reason: String,
    },
    /// No complete response was received. The service may have executed the request.
    #[error("no response from {url}: {source}")]
    NoResponse {
        /// The requested URL.
        url: String,
        /// The error of the connection.
        source: RequestError,
    },
    /// No connection to a faucet could be opened. No account was funded.
    #[error(
        "no faucet listens at {url} ({source}): only a development chain has one; --faucet names \
         the address that its node prints as faucet=URL, and on another chain an account that \
         holds coins pays (account transfer --key FILE, bench --key FILE)"
    )]
    NoFaucet {
        /// The requested URL.
        url: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The service responded with an error status.
    #[error("{url} responded with {status}: {message}")]
    Rejected {
        /// The requested URL.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The message of the error body, or the start of a body in another form.
        message: String,
        /// The code of the error body, or `None` for a body in another form.
        error_code: Option<String>,
    },
    /// The response is a success, but not in the form of the interface.
    #[error("unexpected response from {url}: {reason}")]
    UnexpectedResponse {
        /// The requested URL.
        url: String,
        /// The part that is not as expected.
        reason: String,
    },
    /// The transaction expired or was removed from the mempool, and was not committed.
    #[error("transaction {hash} was not committed: {reason}")]
    NotCommitted {
        /// The hash of the transaction.
        hash: HashValue,
        /// The message of the node's last response.
        reason: String,
    },
}

/// An error of a request on a connection.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// This machine could not open the connection, for lack of descriptors, ports or memory.
    #[error("this machine cannot open the connection: {0}")]
    Local(#[source] io::Error),
    /// The connection could not be opened. The server has received no request.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// The TLS handshake failed. The server has received no request.
    #[error(transparent)]
    Tls(#[from] ClientTlsError),
    /// The server responded in TLS to a request without TLS.
    #[error("the server speaks TLS; use https://")]
    TlsServer,
    /// The connection failed. The server may have executed the request.
    #[error("the connection failed: {0}")]
    Io(#[source] io::Error),
    /// No complete response was received in time. The server may have executed the request.
    #[error("no response within {secs} s")]
    Timeout {
        /// The time limit, in seconds.
        secs: u64,
    },
    /// The response is missing, incomplete, malformed or too large. The server may have executed
    /// the request.
    #[error("the response is not a complete HTTP/1.1 response")]
    InvalidResponse,
}

/// An error of a TLS handshake.
#[derive(Debug, thiserror::Error)]
pub enum ClientTlsError {
    /// No trusted root certificate verifies the server's certificate.
    #[error(
        "the server's certificate is not trusted: no root certificate of this system or of --ca \
         has issued it; --ca FILE adds the certificate of its issuer, or its own if it is \
         self-signed"
    )]
    UntrustedCertificate,
    /// The server's certificate is the certificate of an authority.
    #[error(
        "the server's certificate is that of an authority (CA:TRUE), which is not valid for a \
         server; the server needs a certificate with CA:FALSE"
    )]
    AuthorityCertificate,
    /// The server's certificate is expired, malformed, or not valid for the host of the URL.
    #[error("the server's certificate is rejected: {0}")]
    InvalidCertificate(String),
    /// The server responded to the handshake in another protocol.
    #[error("the server does not speak TLS; use http://")]
    PlainServer,
    /// The server closed the connection during the handshake.
    #[error(
        "the server closed the connection during the TLS handshake; if it does not speak TLS, use \
         http://"
    )]
    Closed,
    /// Another error of the handshake.
    #[error("the TLS handshake failed: {0}")]
    Handshake(#[source] io::Error),
}
