//! The reasons that a connection ends.

use crate::codec::{CodecError, ReadError};
use ledger_crypto::HashValue;

/// The reason that a connection is not established, or has ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Io(#[from] std::io::Error),
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

impl From<ReadError> for Ended {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::Io(error),
            ReadError::Codec(error) => Self::Violation(error),
        }
    }
}
