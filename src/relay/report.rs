//! Counters of each peer.

use ledger_actors::relay::Admission;
use ledger_crypto::Ed25519PublicKey;
use ledger_metrics::{Counter, counters};
use std::time::Duration;

/// The connection with a peer, and what was exchanged over it.
#[derive(Clone, Debug)]
pub struct PeerReport {
    /// Network key of the peer.
    pub key: Ed25519PublicKey,
    /// Whether it is a validator. Otherwise it is a full node.
    pub is_validator: bool,
    /// Whether it is connected.
    pub is_connected: bool,
    /// Time since it was connected last, or since the relay knows the peer. Zero if it is
    /// connected.
    pub absence: Duration,
    /// What was exchanged.
    pub traffic: TrafficReport,
}

counters! {
    /// Counters of a peer.
    pub(crate) struct Traffic;

    /// What was exchanged with a peer since the start of the relay.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TrafficReport {
        /// Connections that were established.
        pub connections: Counter,
        /// Messages that were sent, those without content included.
        pub frames_sent: Counter,
        /// Messages that were received, those without content included.
        pub frames_received: Counter,
        /// Transactions that were sent.
        pub sent: Counter,
        /// Transactions that were not sent, because the peer was not connected or its queue was
        /// full.
        pub unsent: Counter,
        /// Received transactions that were added to the mempool.
        pub added: Counter,
        /// Received transactions that were pending or committed already.
        pub known: Counter,
        /// Received transactions that were rejected as invalid.
        pub rejected: Counter,
        /// Received transactions that the mempool had no room for, or that the queue for it had no
        /// room for.
        pub refused: Counter,
        /// Look-ups that the peer answered in time.
        pub answers: Counter,
        /// Look-ups of the peer.
        pub questions: Counter,
        /// Messages that broke the protocol. Each closed a connection.
        pub violations: Counter,
    }
}

impl Traffic {
    /// Counts transactions of the peer by their outcome.
    pub fn admit(&self, admission: &Admission) {
        self.added.add(admission.added as u64);
        self.known.add(admission.known as u64);
        self.rejected.add(admission.rejected as u64);
        self.refused.add(admission.refused as u64);
    }
}
