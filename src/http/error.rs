//! Errors of listeners and of TLS.

use std::{io, net::SocketAddr, path::PathBuf};

/// A listener that does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The listener ended although nobody stopped it.
    #[error("the {name} listener ended: {reason}")]
    Ended {
        /// Name of the listener.
        name: &'static str,
        /// The error of actix-server.
        reason: String,
    },
}

/// A certificate that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file does not hold what it should. The message repeats nothing of the file, which may hold
    /// the private key.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The problem with the file.
        message: String,
    },
    /// rustls rejects the certificate or the private key, or the key is not that of the
    /// certificate.
    #[error(
        "{} and {} cannot be used together: {source}",
        certificate.display(),
        private_key.display()
    )]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the private key.
        private_key: PathBuf,
        /// The error of rustls.
        source: rustls::Error,
    },
}
