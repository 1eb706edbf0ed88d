//! The peers of a node of several validators, as operators name and admit them.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A peer in `peers.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerEntry {
    /// Identity of the peer's network key.
    pub identity: String,
    /// Address of the peer, `HOST:PORT`.
    pub address: String,
    /// Address of the peer's relay, `HOST:PORT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// Address of the validator that runs on the peer. Absent for a full node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validator: Option<String>,
}

/// The error of reading the peers or admitting one.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// The entry is malformed, or not that of a full node. Nothing is changed.
    #[error("{0}")]
    Invalid(String),
    /// This node cannot have the peer. Nothing is changed.
    #[error("{0}")]
    Conflict(String),
    /// The file of peers cannot be read or written.
    #[error("{0}")]
    File(String),
    /// The peer is in the file, and the running engine does not accept it.
    #[error("the peer is in peers.toml, and is not connected: {0}")]
    NotConnected(String),
}

/// The peers of a running node.
pub trait PeerRegistry: Debug + Send + Sync {
    /// Returns the entries of the file of peers. Blocks while it is read.
    ///
    /// # Errors
    ///
    /// Returns [`AdmissionError::File`] if it cannot be read.
    fn entries(&self) -> Result<Vec<PeerEntry>, AdmissionError>;

    /// Adds a full node to the file of peers, and accepts it. Returns whether it is new. Blocks
    /// while the file is written.
    ///
    /// # Errors
    ///
    /// Returns the [`AdmissionError`] that applies.
    fn admit(&self, entry: &PeerEntry) -> Result<bool, AdmissionError>;
}
