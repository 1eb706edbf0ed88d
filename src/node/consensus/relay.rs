//! The relay of a node, from the node's directory and configuration.

use super::peers::NodePeer;
use crate::config::Settings;
use ledger_actors::{
    NodeHandle,
    relay::{Admission, RelayQueues, RelayReport},
};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_limits::ClientKeys;
use ledger_relay::{
    Peer, Relay, RelayObserver, RelayState, Settings as RelaySettings, StartError, Times,
};
use tokio::sync::watch;

/// What the relay of a node needs of its directory.
pub(super) struct RelayFiles<'a> {
    /// The key of connections.
    pub(super) key: Ed25519PrivateKey,
    /// Whether the node is a validator.
    pub(super) is_validator: bool,
    /// The other nodes.
    pub(super) peers: &'a [NodePeer],
}

/// Starts the relay of a node, whose reports the node shows.
///
/// # Errors
///
/// Returns [`StartError`] if it does not start.
pub(super) fn start(
    files: RelayFiles<'_>,
    settings: &Settings,
    node: &NodeHandle,
    genesis_hash: HashValue,
    queues: RelayQueues,
) -> Result<Relay, StartError> {
    let RelayFiles {
        key,
        is_validator,
        peers,
    } = files;
    let chain = node.chain();
    let transaction_bytes_max = chain.parameters().transaction_bytes_max;
    let settings = RelaySettings {
        key,
        is_validator,
        genesis_hash,
        vendor: chain.vendor().clone(),
        transaction_bytes_max: usize::try_from(transaction_bytes_max).unwrap_or(usize::MAX),
        listen: settings.consensus.relay_listen,
        peers: peers.iter().filter_map(relay_peer).collect(),
        client_keys: ClientKeys::default(),
        times: Times::default(),
    };
    let relay = Relay::start(settings, node.clone(), queues)?;
    let observer = relay.observer();
    node.observe_relay(move || report(&observer));
    Ok(relay)
}

/// Returns the relay's form of a peer, or `None` if its identity is no Ed25519 key.
pub(super) fn relay_peer(peer: &NodePeer) -> Option<Peer> {
    Some(Peer {
        name: peer.peer.identity.to_string(),
        key: peer.peer.identity.public_key()?,
        address: peer.relay.clone(),
        is_validator: peer.peer.validator.is_some(),
    })
}

/// Returns the sums over all peers.
fn report(relay: &RelayObserver) -> RelayReport {
    let mut sum = RelayReport::default();
    for peer in relay.report() {
        let traffic = &peer.traffic;
        let count = |of: u64| usize::try_from(of).unwrap_or(usize::MAX);
        sum.peers += usize::from(peer.is_connected);
        sum.peers_configured += 1;
        sum.sent += traffic.sent;
        sum.unsent += traffic.unsent;
        sum.received += Admission {
            added: count(traffic.added),
            known: count(traffic.known),
            rejected: count(traffic.rejected),
            refused: count(traffic.refused),
        };
        sum.answers += traffic.answers;
        sum.questions += traffic.questions;
        sum.violations += traffic.violations;
    }
    sum
}

/// Waits until the relay's thread panics.
pub(super) async fn panicked(mut state: watch::Receiver<RelayState>) {
    while *state.borrow_and_update() != RelayState::Panicked {
        if state.changed().await.is_err() {
            // It was stopped.
            std::future::pending::<()>().await;
        }
    }
}
