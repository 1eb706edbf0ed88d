//! The reasons that a connection ends.

use crate::codec::{CodecError, ReadError};
use ledger_crypto::HashValue;
use std::io;

/// The reason that a connection is not established, or has ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Io(io::Error),
    #[error("it closed the connection")]
    Closed,
    #[error("TLS is not available: {0}")]
    Tls(#[from] tokio_rustls::rustls::Error),
    #[error("the first messages took too long")]
    SlowHandshake,
    #[error("it speaks another version of the protocol")]
    Version,
    #[error("its chain has the genesis {theirs}, and this node's has {own}")]
    Chain { own: HashValue, theirs: HashValue },
    #[error("it sent nothing for too long")]
    Silent,
    #[error("it did not receive for too long")]
    Stalled,
    #[error("a newer connection or an address replaced this one")]
    Replaced,
    #[error("it broke the protocol: {0}")]
    Violation(#[from] CodecError),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

impl From<ReadError> for Ended {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error.into(),
            ReadError::Codec(error) => Self::Violation(error),
        }
    }
}
