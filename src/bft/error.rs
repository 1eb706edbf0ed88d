//! The errors of starting the engine, and of admitting a peer.

use crate::peers::PeerError;
use ledger_types::AccountAddress;

/// The error of starting the engine. Nothing runs afterwards.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The chain has no validators, or too many.
    #[error("a chain of validators has 1 to 100 validators, got {0}")]
    ValidatorCount(usize),
    /// The key is not a validator's.
    #[error("{0} is no validator")]
    NoValidator(AccountAddress),
    /// The maximum size of a block is out of range.
    #[error("the maximum size of a block is not valid: {0}")]
    BlockLength(usize),
    /// The listen address, or the address of a peer, is malformed.
    #[error(transparent)]
    Address(#[from] PeerError),
    /// The node cannot listen, for example because another process does.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The engine did not listen in time.
    #[error("the engine does not listen on {0}")]
    NotListening(String),
    /// The log cannot be opened: it is malformed, or another process has it open.
    #[error("cannot open the engine's log {path}: {reason}")]
    Log {
        /// The file.
        path: String,
        /// The engine's reason.
        reason: String,
    },
    /// An actor of the engine did not start.
    #[error("the engine does not start: {0}")]
    Actor(String),
    /// The thread or its runtime did not start.
    #[error("the engine's thread does not start: {0}")]
    Thread(std::io::Error),
}

/// The error of admitting a peer to a running engine, which does not accept its connections.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// As many peers were admitted since the start as the limits of connections have room for.
    #[error("{0} peers were admitted since the start; restart this node to admit more")]
    TooMany(usize),
    /// The engine has stopped, or did not start again.
    #[error("the consensus engine has stopped")]
    Unavailable,
}
