//! Relays on loopback.

use crate::fake_node::FakeNode;
use ledger_actors::relay::{Find, FoundElsewhere, RelayQueues};
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, HashValue};
use ledger_limits::ClientKeys;
use ledger_relay::{Peer, PeerReport, Relay, RelayState, Settings, Times};
use ledger_types::{CheckedTransaction, Vendor};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{interval, timeout};

pub const GENESIS: HashValue = HashValue::new([3; 32]);

/// Maximum size of a transaction.
pub const TRANSACTION_BYTES_MAX: usize = 64 * 1024;

/// Time within which a condition is met. It is long, because machines may be slow.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A time that no test reaches.
pub const NEVER: Duration = Duration::from_secs(3600);

/// Returns the keys of nodes in ascending order of their public keys, so that each node dials the
/// validators after it.
pub fn keys<const COUNT: usize>() -> [Ed25519PrivateKey; COUNT] {
    let mut keys: [_; COUNT] = std::array::from_fn(|index| {
        Ed25519PrivateKey::from_seed(&[u8::try_from(index).unwrap() + 1; 32])
    });
    keys.sort_by_key(Ed25519PrivateKey::public_key);
    keys
}

/// Waits until the condition is true.
pub async fn wait_until(condition: impl Fn() -> bool) {
    let poll = async {
        let mut ticks = interval(Duration::from_millis(1));
        while !condition() {
            ticks.tick().await;
        }
    };
    timeout(WAIT_MAX, poll).await.expect("timeout");
}

pub fn settings(key: &Ed25519PrivateKey, is_validator: bool) -> Settings {
    Settings {
        key: key.clone(),
        is_validator,
        genesis_hash: GENESIS,
        vendor: Vendor::default(),
        transaction_bytes_max: TRANSACTION_BYTES_MAX,
        listen: "127.0.0.1:0".parse().unwrap(),
        peers: Vec::new(),
        client_keys: ClientKeys::default(),
        times: Times::default(),
    }
}

pub fn peer(key: &Ed25519PrivateKey, is_validator: bool, address: Option<SocketAddr>) -> Peer {
    Peer {
        name: "peer".to_owned(),
        key: key.public_key(),
        address: address.map(|address| address.to_string()),
        is_validator,
    }
}

/// Waits for the answer to a look-up.
pub async fn answer(found: oneshot::Receiver<FoundElsewhere>) -> FoundElsewhere {
    timeout(WAIT_MAX, found).await.expect("timeout").unwrap()
}

/// A node with its relay.
pub struct Node {
    pub relay: Relay,
    pub fake: FakeNode,
    settings: Settings,
    outgoing: mpsc::Sender<Arc<CheckedTransaction>>,
    finds: mpsc::Sender<Find>,
}

impl Node {
    pub fn start(settings: Settings, fake: FakeNode) -> Self {
        let (outgoing, outgoing_receiver) = mpsc::channel(10_000);
        let (finds, finds_receiver) = mpsc::channel(1_000);
        let queues = RelayQueues {
            outgoing: outgoing_receiver,
            finds: finds_receiver,
        };
        Self {
            relay: Relay::start(settings.clone(), fake.clone(), queues).unwrap(),
            fake,
            settings,
            outgoing,
            finds,
        }
    }

    pub fn validator(key: &Ed25519PrivateKey) -> Self {
        Self::start(settings(key, true), FakeNode::new())
    }

    /// Stops the node, and starts it with the same address and node in memory.
    pub fn restart(self) -> Self {
        let settings = Settings {
            listen: self.relay.listen_address(),
            ..self.settings
        };
        self.relay.stop();
        Self::start(settings, self.fake)
    }

    pub fn key(&self) -> Ed25519PublicKey {
        self.settings.key.public_key()
    }

    /// Returns this node as a peer of others.
    pub fn as_peer(&self) -> Peer {
        peer(
            &self.settings.key,
            self.settings.is_validator,
            Some(self.relay.listen_address()),
        )
    }

    pub fn send(&self, transaction: &Arc<CheckedTransaction>) {
        self.outgoing.try_send(Arc::clone(transaction)).unwrap();
    }

    /// Begins a look-up at the other nodes.
    pub fn begin_find(&self, hash: HashValue) -> oneshot::Receiver<FoundElsewhere> {
        let (reply, found) = oneshot::channel();
        self.finds.try_send(Find { hash, reply }).unwrap();
        found
    }

    pub async fn find(&self, hash: HashValue) -> FoundElsewhere {
        answer(self.begin_find(hash)).await
    }

    pub fn report(&self, peer: &Ed25519PublicKey) -> PeerReport {
        let reports = self.relay.report();
        reports
            .into_iter()
            .find(|report| report.key == *peer)
            .unwrap()
    }

    pub async fn wait_for_report(
        &self,
        peer: &Ed25519PublicKey,
        is_met: impl Fn(&PeerReport) -> bool,
    ) {
        wait_until(|| is_met(&self.report(peer))).await;
    }

    pub fn state(&self) -> RelayState {
        *self.relay.state().borrow()
    }
}

/// Makes all nodes peers of each other, and waits until each has as many connections as stated.
pub async fn connect<const COUNT: usize>(nodes: [&Node; COUNT], connections: [usize; COUNT]) {
    for node in nodes {
        for other in nodes {
            if node.key() != other.key() {
                node.relay.admit(other.as_peer()).unwrap();
            }
        }
    }
    for (node, connections) in nodes.into_iter().zip(connections) {
        let connected = || {
            let reports = node.relay.report();
            reports.iter().filter(|report| report.is_connected).count()
        };
        wait_until(|| connected() == connections).await;
    }
}
