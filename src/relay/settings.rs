//! Settings of a relay, and the rule which of two nodes dials.

use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, HashValue};
use ledger_limits::ClientKeys;
use ledger_types::Vendor;
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of a relay.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The network key of this node.
    pub key: Ed25519PrivateKey,
    /// Whether this node is a validator. Otherwise it is a full node.
    pub is_validator: bool,
    /// Hash of the genesis, which distinguishes the chain from others.
    pub genesis_hash: HashValue,
    /// The vendor word, which the hashes of transactions cover.
    pub vendor: Vendor,
    /// Maximum size of a signed transaction in BCS, in bytes.
    pub transaction_bytes_max: usize,
    /// Address that the relay listens on.
    pub listen: SocketAddr,
    /// The other nodes.
    pub peers: Vec<Peer>,
    /// The assignment of addresses to turns.
    pub client_keys: ClientKeys,
    /// Times after which the relay gives up on a peer.
    pub times: Times,
}

/// Another node of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name in logs.
    pub name: String,
    /// Its network key.
    pub key: Ed25519PublicKey,
    /// Address of its relay, `host:port`. Without an address this node does not dial the peer.
    pub address: Option<String>,
    /// Whether it is a validator. Otherwise it is a full node.
    pub is_validator: bool,
}

/// Times after which the relay gives up on a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Time within which a connection is dialed or accepted, up to the first message.
    pub handshake: Duration,
    /// Time after its last message at which a node sends an empty one.
    pub ping: Duration,
    /// Time without a whole message, or for a write, after which a connection is closed.
    pub silence: Duration,
    /// Time within which a peer answers a look-up.
    pub answer: Duration,
    /// Time without a connection after which a peer does not count for look-ups.
    pub absence: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            ping: Duration::from_secs(2),
            // Five pings: one round trip that is lost several times is no failure.
            silence: Duration::from_secs(10),
            answer: Duration::from_secs(2),
            absence: Duration::from_secs(30),
        }
    }
}

/// This node, in relation to its peers.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub key: Ed25519PublicKey,
    pub is_validator: bool,
}

impl Role {
    /// Returns whether this node dials the peer: a full node dials validators, and of two
    /// validators the one with the smaller key dials. Full nodes have no connection.
    pub fn dials(&self, peer: &Peer) -> bool {
        peer.is_validator && (!self.is_validator || self.key < peer.key)
    }

    /// Returns whether the peer dials this node, by the same rule.
    pub fn is_dialed_by(&self, peer: &Peer) -> bool {
        self.is_validator && (!peer.is_validator || peer.key < self.key)
    }

    /// Returns whether the two nodes have a connection.
    pub fn connects(&self, peer: &Peer) -> bool {
        self.dials(peer) || self.is_dialed_by(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(key: u8, is_validator: bool) -> Role {
        Role {
            key: Ed25519PublicKey([key; 32]),
            is_validator,
        }
    }

    fn peer(role: &Role) -> Peer {
        Peer {
            name: String::new(),
            key: role.key.clone(),
            address: None,
            is_validator: role.is_validator,
        }
    }

    #[test]
    fn one_of_two_nodes_dials_unless_both_are_full_nodes() {
        for (own_is_validator, other_is_validator) in
            [(true, true), (true, false), (false, true), (false, false)]
        {
            let own = role(1, own_is_validator);
            let other = role(2, other_is_validator);
            let dialers = [own.dials(&peer(&other)), other.dials(&peer(&own))];
            let expected = [other_is_validator, own_is_validator && !other_is_validator];
            assert_eq!(dialers, expected);
            assert_eq!(own.is_dialed_by(&peer(&other)), dialers[1]);
            assert_eq!(other.is_dialed_by(&peer(&own)), dialers[0]);
            assert_eq!(own.connects(&peer(&other)), dialers[0] || dialers[1]);
        }
    }
}
