//! Errors of listeners and of TLS.

use std::{fmt, io, net::SocketAddr, path::PathBuf};

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

/// One of the two files of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFile {
    /// The certificate chain.
    Certificate,
    /// The private key.
    PrivateKey,
}

impl fmt::Display for TlsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "certificate",
            Self::PrivateKey => "private key",
        })
    }
}

/// A certificate that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServerTlsError {
    /// A file cannot be read.
    #[error("cannot read the {file} {}: {source}", path.display())]
    Unreadable {
        /// The content that was expected.
        file: TlsFile,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file does not hold what it should. The message repeats nothing of the file, which may hold
    /// the private key.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The content that was expected.
        file: TlsFile,
        /// The file.
        path: PathBuf,
        /// The problem with the file.
        message: String,
    },
    /// Neither file can be read, or neither holds what it should.
    #[error("{certificate}; {private_key}")]
    Both {
        /// The error of the certificate.
        certificate: Box<Self>,
        /// The error of the private key.
        private_key: Box<Self>,
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
