//! The admission of a full node at a running validator.

use super::{
    engine::{EngineSlot, RunningEngine},
    entry::{AdmissionError, PeerEntry, PeerRegistry},
    peers::PeersFile,
    relay::relay_peer,
};
use ledger_relay::Relay;
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// The peers of a running node.
pub struct RunningPeers {
    file: PeersFile,
    slot: EngineSlot,
    /// The relay, until the node stops.
    relay: Weak<Relay>,
    /// Held from the first read of the file to its replacement.
    change: Mutex<()>,
}

impl RunningPeers {
    /// Returns the peers of a node.
    pub fn new(engine: &RunningEngine) -> Self {
        Self {
            file: engine.peers_file(),
            slot: engine.slot(),
            relay: Arc::downgrade(engine.relay()),
            change: Mutex::default(),
        }
    }
}

impl fmt::Debug for RunningPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunningPeers").field(&self.file).finish()
    }
}

impl PeerRegistry for RunningPeers {
    fn entries(&self) -> Result<Vec<PeerEntry>, AdmissionError> {
        Ok(self.file.entries()?)
    }

    fn admit(&self, entry: &PeerEntry) -> Result<bool, AdmissionError> {
        let peer = entry.parse().map_err(AdmissionError::Invalid)?;
        if peer.peer.validator.is_some() {
            return Err(AdmissionError::Invalid(
                "the validators are those of the genesis; only full nodes are admitted".to_owned(),
            ));
        }
        if !self.slot.is_validator() {
            return Err(AdmissionError::Conflict(
                "this node is a full node; a full node is admitted at the validators".to_owned(),
            ));
        }
        if self.slot.identity() == peer.peer.identity {
            return Err(AdmissionError::Conflict(
                "the identity is that of this node".to_owned(),
            ));
        }
        // Valid even if the holder panicked: the file is replaced as a whole.
        let guard = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = self.file.add(entry)?;
        self.slot
            .admit(&peer.peer)
            .map_err(|error| AdmissionError::NotConnected(error.to_string()))?;
        if let (Some(relay), Some(peer)) = (self.relay.upgrade(), relay_peer(&peer)) {
            let admitted = relay.admit(peer);
            admitted.map_err(|error| AdmissionError::NotConnected(error.to_string()))?;
        }
        drop(guard);
        Ok(is_new)
    }
}
