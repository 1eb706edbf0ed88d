//! The peers of a node: their file, and their addresses.

use super::entry::{AdmissionError, PeerEntry};
use crate::replaced_file::replace_file;
use ledger_bft::{Peer, PeerIdentity};
use ledger_limits::{open_regular_file, read_bounded_text};
use ledger_types::AccountAddress;
use serde::{Deserialize, Serialize};
use std::{io, path::PathBuf};

/// Maximum number of peers: the validators of the largest set, and a thousand full nodes. The
/// engine sends each message to each peer.
const PEERS_MAX: usize = 1_100;

/// Maximum size of the file of peers, in bytes: three times the largest number of usual entries.
const PEERS_BYTES_MAX: usize = 1024 * 1024;

/// Permissions of the file of peers, without those that the umask removes. It has no secrets.
const FILE_MODE: u32 = 0o666;

/// The content of the file of peers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeersText {
    #[serde(default)]
    peers: Vec<PeerEntry>,
}

/// A peer that the node connects to.
#[derive(Clone, Debug)]
pub struct NodePeer {
    /// The peer of the engine.
    pub peer: Peer,
    /// Address of the peer's relay, `HOST:PORT`. Without one, this node sends it no transactions.
    pub relay: Option<String>,
}

impl PeerEntry {
    /// Returns the peer.
    ///
    /// # Errors
    ///
    /// Returns the reason for which an identity or an address is malformed.
    pub(super) fn parse(&self) -> Result<NodePeer, String> {
        let identity: PeerIdentity = self.identity.parse().map_err(|error| format!("{error}"))?;
        let validator = match &self.validator {
            Some(text) => Some(
                text.parse::<AccountAddress>()
                    .map_err(|error| error.to_string())?,
            ),
            None => None,
        };
        let peer = Peer {
            identity,
            address: self.address.clone(),
            validator,
        };
        peer.check().map_err(|error| error.to_string())?;
        if let Some(relay) = &self.relay
            && !is_host_and_port(relay)
        {
            return Err(format!("{relay:?} is no address of a relay, HOST:PORT"));
        }
        Ok(NodePeer {
            peer,
            relay: self.relay.clone(),
        })
    }
}

/// Returns whether a text has the form `HOST:PORT`.
fn is_host_and_port(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// Returns the text of a file with these peers.
///
/// # Errors
///
/// Returns the error of the TOML library, which has none for these types.
pub fn peers_text(peers: Vec<PeerEntry>) -> Result<String, String> {
    toml::to_string(&PeersText { peers }).map_err(|error| error.to_string())
}

/// Parses the text of the file.
fn parse_file(text: &str) -> Result<Vec<PeerEntry>, String> {
    let parsed = toml::from_str::<PeersText>(text).map_err(|error| error.to_string());
    parsed.map(|file| file.peers)
}

/// The error of using the file of peers.
#[derive(Debug, thiserror::Error)]
pub enum PeersFileError {
    /// It cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is malformed.
    #[error("{path}: {cause}")]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
}

impl From<PeersFileError> for AdmissionError {
    fn from(error: PeersFileError) -> Self {
        Self::File(error.to_string())
    }
}

/// The file of peers.
#[derive(Clone, Debug)]
pub struct PeersFile(PathBuf);

impl PeersFile {
    /// Names a file.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Reads the peers.
    ///
    /// # Errors
    ///
    /// Returns [`PeersFileError`] if the file cannot be used.
    pub fn peers(&self) -> Result<Vec<NodePeer>, PeersFileError> {
        let entries = self.entries()?;
        let peers: Result<_, _> = entries.iter().map(PeerEntry::parse).collect();
        peers.map_err(|cause| self.malformed(cause))
    }

    /// Reads the entries.
    ///
    /// # Errors
    ///
    /// Returns [`PeersFileError`] if the file cannot be used.
    pub fn entries(&self) -> Result<Vec<PeerEntry>, PeersFileError> {
        parse_file(&self.text()?).map_err(|cause| self.malformed(cause))
    }

    fn text(&self) -> Result<String, PeersFileError> {
        let read = open_regular_file(&self.0);
        read.and_then(|file| read_bounded_text(file, PEERS_BYTES_MAX))
            .map_err(|source| self.unreadable(source))
    }

    fn unreadable(&self, source: io::Error) -> PeersFileError {
        let path = self.0.clone();
        PeersFileError::Unreadable { path, source }
    }

    fn malformed(&self, cause: String) -> PeersFileError {
        let path = self.0.clone();
        PeersFileError::Malformed { path, cause }
    }

    /// Adds a peer, and leaves the other text. Returns whether it is new.
    ///
    /// # Errors
    ///
    /// Returns [`AdmissionError::Invalid`] if the entry is malformed, [`AdmissionError::Conflict`]
    /// if there are too many peers or another entry has its identity, and [`AdmissionError::File`]
    /// if the file cannot be read or written. The file is unchanged then, except if only the sync of
    /// the directory failed.
    pub fn add(&self, entry: &PeerEntry) -> Result<bool, AdmissionError> {
        entry.parse().map_err(AdmissionError::Invalid)?;
        let mut entries = self.entries()?;
        if entries.contains(entry) {
            return Ok(false);
        }
        if let Some(other) = entries.iter().find(|one| one.identity == entry.identity) {
            return Err(AdmissionError::Conflict(format!(
                "peers.toml has another entry of {}, with the address {}; change it there, and \
                 restart this node",
                entry.identity, other.address
            )));
        }
        if entries.len() >= PEERS_MAX {
            return Err(AdmissionError::Conflict(format!(
                "this node has {PEERS_MAX} peers, and can have no more"
            )));
        }
        let added = peers_text(vec![entry.clone()]).map_err(AdmissionError::File)?;
        let text = format!("{}\n\n{added}", self.text()?.trim_end());
        entries.push(entry.clone());
        // An inline array cannot be continued.
        if parse_file(&text).ok().as_ref() != Some(&entries) {
            let cause = "an entry [[peers]] cannot be added at its end; add it by hand";
            return Err(self.malformed(cause.to_owned()).into());
        }
        let written = replace_file(&self.0, &text, FILE_MODE);
        written.map_err(|source| self.unreadable(source))?;
        Ok(true)
    }
}
