//! The peers of a node, with the connection of each.

use crate::report::{PeerReport, Traffic};
use crate::settings::Peer;
use crate::sizes;
use bytes::Bytes;
use ledger_actors::relay::FoundElsewhere;
use ledger_crypto::{Ed25519PublicKey, HashValue};
use ledger_metrics::Metric as _;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, oneshot};

/// An encoded message with transactions.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub bytes: Bytes,
    /// Number of transactions.
    pub count: usize,
}

/// A look-up at one peer.
#[derive(Debug)]
pub(crate) struct Question {
    pub hash: HashValue,
    pub is_passed_on: bool,
    /// Receives the answer. It is dropped without one if the connection ends.
    pub reply: mpsc::Sender<FoundElsewhere>,
}

/// The queues of an established connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub frames: mpsc::Sender<Frame>,
    pub questions: mpsc::Sender<Question>,
}

/// The newest connection. Its task ends when this value is dropped.
#[derive(Debug)]
struct Current {
    connection: Connection,
    _end: oneshot::Sender<Infallible>,
}

/// The contact of a peer.
#[derive(Debug)]
struct Contact {
    peer: Peer,
    connection: Option<Current>,
    /// Number of the newest connection.
    number: u64,
    /// Time of the last disconnection, or at which the relay learned of the peer.
    absent_since: Instant,
}

impl Contact {
    fn disconnect(&mut self) {
        if self.connection.take().is_some() {
            self.absent_since = Instant::now();
        }
    }
}

/// Whether a peer can be asked.
#[derive(Debug)]
pub(crate) enum Reach {
    Connected(Connection),
    /// It has not been connected for this time.
    Absent(Duration),
}

/// A limit on log lines: one of each [`sizes::LOG_INTERVAL`].
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<Option<Instant>>);

impl LogLimit {
    /// Returns whether a line may be written now.
    pub fn permits(&self) -> bool {
        let mut last = lock(&self.0);
        let is_due = last.is_none_or(|last| last.elapsed() >= sizes::LOG_INTERVAL);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}

/// A peer with its connection and counters.
#[derive(Debug)]
pub(crate) struct PeerState {
    pub key: Ed25519PublicKey,
    pub traffic: Traffic,
    pub log_limit: LogLimit,
    contact: Mutex<Contact>,
    changed: Notify,
}

impl PeerState {
    fn new(peer: Peer) -> Self {
        Self {
            key: peer.key.clone(),
            traffic: Traffic::default(),
            log_limit: LogLimit::default(),
            contact: Mutex::new(Contact {
                peer,
                connection: None,
                number: 0,
                absent_since: Instant::now(),
            }),
            changed: Notify::new(),
        }
    }

    /// Returns a copy of the settings of the peer.
    pub fn peer(&self) -> Peer {
        self.read(Peer::clone)
    }

    /// Reads the settings of the peer, under its lock.
    pub fn read<T>(&self, read: impl FnOnce(&Peer) -> T) -> T {
        read(&lock(&self.contact).peer)
    }

    /// Returns the name of the peer in logs.
    pub fn name(&self) -> String {
        lock(&self.contact).peer.name.clone()
    }

    /// Waits until the settings of the peer have changed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Replaces the settings. If they differ, the connection is closed.
    fn replace(&self, peer: Peer) {
        let mut contact = lock(&self.contact);
        if contact.peer != peer {
            contact.peer = peer;
            contact.disconnect();
            self.changed.notify_one();
        }
    }

    /// Registers a connection. The one before is closed, because its other end may not exist any
    /// more.
    pub fn connect(self: &Arc<Self>, connection: Connection) -> Registration {
        let (end, ended) = oneshot::channel();
        let mut contact = lock(&self.contact);
        contact.number += 1;
        contact.connection = Some(Current {
            connection,
            _end: end,
        });
        self.traffic.connections.increment();
        Registration {
            peer: Arc::clone(self),
            number: contact.number,
            ended,
        }
    }

    pub fn reach(&self) -> Reach {
        let contact = lock(&self.contact);
        match &contact.connection {
            Some(current) => Reach::Connected(current.connection.clone()),
            None => Reach::Absent(contact.absent_since.elapsed()),
        }
    }

    /// Returns the connection and the counters of the peer.
    pub fn report(&self) -> PeerReport {
        let absence = match self.reach() {
            Reach::Connected(_) => None,
            Reach::Absent(absence) => Some(absence),
        };
        PeerReport {
            key: self.key.clone(),
            is_validator: lock(&self.contact).peer.is_validator,
            is_connected: absence.is_none(),
            absence: absence.unwrap_or_default(),
            traffic: self.traffic.snapshot(),
        }
    }
}

/// The registration of a connection, until it is dropped.
pub(crate) struct Registration {
    peer: Arc<PeerState>,
    number: u64,
    ended: oneshot::Receiver<Infallible>,
}

impl Registration {
    /// Waits until another connection or other settings have replaced the connection.
    pub async fn replaced(&mut self) {
        // Nothing is ever sent.
        let _ = (&mut self.ended).await;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut contact = lock(&self.peer.contact);
        if contact.number == self.number {
            contact.disconnect();
        }
    }
}

/// The error of a peer too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a node has at most {} peers", sizes::PEERS_MAX)]
pub struct TooManyPeers;

/// All peers of a node.
#[derive(Debug)]
pub(crate) struct Peers {
    states: Mutex<BTreeMap<Ed25519PublicKey, Arc<PeerState>>>,
    added: Notify,
}

impl Peers {
    /// Creates the table.
    ///
    /// # Errors
    ///
    /// Returns [`TooManyPeers`] if there are more than [`sizes::PEERS_MAX`].
    pub fn new(peers: Vec<Peer>) -> Result<Self, TooManyPeers> {
        let table = Self {
            states: Mutex::default(),
            added: Notify::new(),
        };
        for peer in peers {
            table.admit(peer)?;
        }
        Ok(table)
    }

    /// Adds a peer, or replaces the settings of the one with its key.
    ///
    /// # Errors
    ///
    /// Returns [`TooManyPeers`] if the table is full. Nothing has changed then.
    pub fn admit(&self, peer: Peer) -> Result<(), TooManyPeers> {
        let mut states = lock(&self.states);
        if let Some(state) = states.get(&peer.key) {
            state.replace(peer);
            return Ok(());
        }
        if states.len() == sizes::PEERS_MAX {
            return Err(TooManyPeers);
        }
        states.insert(peer.key.clone(), Arc::new(PeerState::new(peer)));
        self.added.notify_one();
        Ok(())
    }

    /// Waits until a peer was added.
    pub async fn added(&self) {
        self.added.notified().await;
    }

    /// Returns the peer with this key.
    pub fn get(&self, key: &Ed25519PublicKey) -> Option<Arc<PeerState>> {
        lock(&self.states).get(key).cloned()
    }

    /// Returns all peers.
    pub fn all(&self) -> Vec<Arc<PeerState>> {
        lock(&self.states).values().cloned().collect()
    }
}

/// Locks a value. It is valid even if the holder panicked: each change is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
