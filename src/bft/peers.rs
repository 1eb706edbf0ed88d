//! Peers and their identities.

use arc_malachitebft_app_channel::app::net::Multiaddr;
use arc_malachitebft_app_channel::app::types::{Keypair, PeerId};
use arc_malachitebft_network::PeerIdExt as _;
use ledger_crypto::Ed25519PublicKey;
use ledger_types::AccountAddress;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The key of a node's connections. It is not the key of its votes.
#[derive(Clone)]
pub struct NetworkKey(Keypair);

impl NetworkKey {
    /// Creates the Ed25519 key with this seed.
    ///
    /// # Panics
    ///
    /// Panics if the Ed25519 implementation rejects a seed of 32 bytes. It accepts all.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let key = Keypair::ed25519_from_bytes(seed);
        Self(key.expect("32 bytes are an Ed25519 seed"))
    }

    /// Returns the identity that peers know the node by.
    pub fn identity(&self) -> PeerIdentity {
        PeerIdentity(PeerId::from_libp2p(&self.0.public().to_peer_id()))
    }

    pub(crate) fn keypair(&self) -> Keypair {
        self.0.clone()
    }
}

impl fmt::Debug for NetworkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NetworkKey({})", self.identity())
    }
}

/// The public half of a [`NetworkKey`], as text in base 58. Connections prove it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerIdentity(pub(crate) PeerId);

/// The bytes of an identity before an Ed25519 key: a multihash that is no hash but the protobuf
/// message itself, its length, and the message's fields for the kind and the length of the key.
const ED25519_PREFIX: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];

impl PeerIdentity {
    /// Returns the Ed25519 key, or `None` for an identity of another kind. No node has such a one.
    pub fn public_key(&self) -> Option<Ed25519PublicKey> {
        let bytes = self.0.to_bytes();
        let key = bytes.strip_prefix(&ED25519_PREFIX)?;
        key.try_into().ok().map(Ed25519PublicKey)
    }
}

impl fmt::Display for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error of parsing a peer's identity or address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The text is no identity.
    #[error("{0:?} is no identity of a peer")]
    Identity(String),
    /// The text is neither `host:port` nor a multiaddress.
    #[error("{0:?} is no address of a peer, such as 192.0.2.1:7000 or /dns/node1/tcp/7000")]
    Address(String),
}

impl FromStr for PeerIdentity {
    type Err = PeerError;

    /// Parses an identity in base 58.
    ///
    /// # Errors
    ///
    /// Returns [`PeerError::Identity`] for any other text.
    fn from_str(text: &str) -> Result<Self, PeerError> {
        let id = text.parse().map(Self);
        id.map_err(|_| PeerError::Identity(text.chars().take(80).collect()))
    }
}

/// A node that this one connects to. Others cannot connect.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Identity of its network key.
    pub identity: PeerIdentity,
    /// Its address, `host:port` or a multiaddress over TCP.
    pub address: String,
    /// The validator that runs on the node. `None` for a node without votes, from which no blocks
    /// are accepted.
    pub validator: Option<AccountAddress>,
}

impl Peer {
    /// Checks the address.
    ///
    /// # Errors
    ///
    /// Returns [`PeerError::Address`] if it is malformed.
    pub fn check(&self) -> Result<(), PeerError> {
        self.multiaddr().map(drop)
    }

    /// Returns the address with the identity, which the engine expects to find there.
    pub(crate) fn multiaddr(&self) -> Result<Multiaddr, PeerError> {
        let address = parse_address(&self.address)?;
        let text = format!("{address}/p2p/{}", self.identity);
        text.parse().map_err(|_| PeerError::Address(text))
    }
}

/// Returns the multiaddress of `host:port`, or of a text that is one already.
pub(crate) fn parse_address(text: &str) -> Result<Multiaddr, PeerError> {
    let invalid = || PeerError::Address(text.chars().take(80).collect());
    if text.starts_with('/') {
        return text.parse().map_err(|_| invalid());
    }
    let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
    let port: u16 = port.parse().map_err(|_| invalid())?;
    let bare_host = host.trim_start_matches('[').trim_end_matches(']');
    let protocol = match bare_host.parse() {
        Ok(IpAddr::V4(_)) => "ip4",
        Ok(IpAddr::V6(_)) => "ip6",
        Err(_) => "dns",
    };
    let multiaddr = format!("/{protocol}/{bare_host}/tcp/{port}");
    multiaddr.parse().map_err(|_| invalid())
}

/// The peers whose messages are accepted, with the validator of each.
#[derive(Debug, Default)]
pub(crate) struct AllowedPeers(RwLock<BTreeMap<PeerId, Option<AccountAddress>>>);

impl AllowedPeers {
    pub(crate) fn new(peers: &[Peer]) -> Self {
        let entry = |peer: &Peer| (peer.identity.0, peer.validator);
        Self(RwLock::new(peers.iter().map(entry).collect()))
    }

    // Valid even if a holder panicked: each change is complete.
    fn peers(&self) -> RwLockReadGuard<'_, BTreeMap<PeerId, Option<AccountAddress>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn contains(&self, peer: &PeerId) -> bool {
        self.peers().contains_key(peer)
    }

    pub(crate) fn validator(&self, peer: &PeerId) -> Option<AccountAddress> {
        self.peers().get(peer).copied().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.peers().len()
    }

    pub(crate) fn insert(&self, peer: &Peer) {
        let mut peers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        peers.insert(peer.identity.0, peer.validator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::Ed25519PrivateKey;

    #[test]
    fn addresses_have_two_forms() {
        let text = |address: &str| parse_address(address).map(|parsed| parsed.to_string());
        assert_eq!(text("192.0.2.1:7000"), Ok("/ip4/192.0.2.1/tcp/7000".into()));
        assert_eq!(text("[2001:db8::1]:7"), Ok("/ip6/2001:db8::1/tcp/7".into()));
        assert_eq!(text("node1:7000"), Ok("/dns/node1/tcp/7000".into()));
        assert_eq!(
            text("/dns/node1/tcp/7000"),
            Ok("/dns/node1/tcp/7000".into())
        );
        for invalid in [
            "",
            "node1",
            "node1:x",
            "node1:70000",
            ":",
            "/node1",
            "a/b:1",
        ] {
            assert_eq!(text(invalid), Err(PeerError::Address(invalid.into())));
        }
    }

    #[test]
    fn an_identity_parses_as_it_prints() {
        let identity = NetworkKey::from_seed([7; 32]).identity();
        assert_eq!(identity.to_string().parse(), Ok(identity));
        assert_ne!(NetworkKey::from_seed([8; 32]).identity(), identity);
        assert!("node1".parse::<PeerIdentity>().is_err());
    }

    #[test]
    fn an_identity_has_the_public_key_of_its_network_key() {
        let identity = NetworkKey::from_seed([7; 32]).identity();
        let key = Ed25519PrivateKey::from_seed(&[7; 32]).public_key();
        assert_eq!(identity.public_key(), Some(key));
        // The SHA-256 hash of a key that is too long for an identity.
        let hashed = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N";
        let hashed: PeerIdentity = hashed.parse().unwrap();
        assert_eq!(hashed.public_key(), None);
    }
}
