//! The interface to the relay, which carries transactions between the nodes of a chain of several
//! validators.
//!
//! The mempool queues each transaction that a client submitted at this node, and the relay sends it
//! to the validators. What arrives from other nodes is submitted through [`RelayNode`], and is not
//! sent on. A node also asks the others, through [`Find`], before it states that it does not know a
//! transaction.

use crate::NodeError;
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_types::{CheckedTransaction, SignedTransaction};
use std::{fmt, ops::AddAssign, sync::Arc};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of transactions that wait for the relay: those of half a second at 32,000 per
/// second. The mempool offers one again that finds the queue full.
pub const OUTGOING_MAX: usize = 16_384;

/// Maximum number of look-ups that wait for the relay. More are answered as if no other node could
/// be reached.
pub const FINDS_MAX: usize = 1_024;

/// A question to the other nodes: what they know of a transaction.
#[derive(Debug)]
pub struct Find {
    /// Hash of the transaction.
    pub hash: HashValue,
    /// Receives the answer. The relay replies within a bound.
    pub reply: oneshot::Sender<FoundElsewhere>,
}

/// The answer of the other nodes to a [`Find`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundElsewhere {
    /// Each node that counts has no record of it.
    Unknown,
    /// It is pending at another node.
    Pending(Box<SignedTransaction>),
    /// It is committed at this version, as another node states.
    Committed {
        /// Version of the transaction.
        version: u64,
    },
    /// A node that may know it did not answer.
    Unreachable,
}

/// The answer of this node to a look-up of another one.
#[derive(Clone, Debug)]
pub enum FoundHere {
    /// It has no record, or removed the transaction without executing it.
    Unknown,
    /// The mempool holds it, or its block is not durable yet.
    Pending(Arc<CheckedTransaction>),
    /// It is committed.
    Committed {
        /// Version of the transaction.
        version: u64,
    },
}

/// The number of transactions of another node, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// Added to the mempool.
    pub added: usize,
    /// Pending or committed already.
    pub known: usize,
    /// Rejected as invalid.
    pub rejected: usize,
    /// Not taken, because the mempool or a queue is full. The sender offers them again.
    pub refused: usize,
}

impl AddAssign for Admission {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.known += other.known;
        self.rejected += other.rejected;
        self.refused += other.refused;
    }
}

/// The state of a relay, and what it exchanged with all peers since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayReport {
    /// Number of connected peers.
    pub peers: usize,
    /// Number of peers that it is to be connected to.
    pub peers_configured: usize,
    /// Transactions that were sent, once for each peer.
    pub sent: u64,
    /// Transactions that were not sent, because the peer was not connected or its queue was full.
    pub unsent: u64,
    /// Received transactions, by what became of them.
    pub received: Admission,
    /// Look-ups that peers answered.
    pub answers: u64,
    /// Look-ups of peers.
    pub questions: u64,
    /// Messages that broke the protocol.
    pub violations: u64,
}

/// Returns a report.
type Report = dyn Fn() -> RelayReport + Send + Sync;

/// The reports of a node's relay.
pub(crate) struct RelaySource(Box<Report>);

impl fmt::Debug for RelaySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RelaySource")
    }
}

impl RelaySource {
    pub(crate) fn new(report: impl Fn() -> RelayReport + Send + Sync + 'static) -> Self {
        Self(Box::new(report))
    }

    /// Returns the present report.
    pub(crate) fn report(&self) -> RelayReport {
        (self.0)()
    }
}

/// The node, as the relay uses it. It runs on the relay's thread.
pub trait RelayNode: Clone + 'static {
    /// Adds transactions of another node to the mempool, in order. `peer` takes turns with the
    /// clients of this node.
    fn admit(
        &self,
        transactions: Vec<SignedTransaction>,
        peer: ClientKey,
    ) -> impl Future<Output = Admission>;

    /// Returns what this node itself knows of a transaction.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if an actor has too many requests, the node is stopping, or the store
    /// cannot be read.
    fn find_here(
        &self,
        hash: HashValue,
        peer: ClientKey,
    ) -> impl Future<Output = Result<FoundHere, NodeError>>;
}

/// The senders of the relay's queues, which a node fills.
#[derive(Clone, Debug)]
pub struct RelaySender {
    outgoing: mpsc::Sender<Arc<CheckedTransaction>>,
    finds: mpsc::Sender<Find>,
}

/// The queues of the relay.
#[derive(Debug)]
pub struct RelayQueues {
    /// Transactions that clients submitted at this node.
    pub outgoing: mpsc::Receiver<Arc<CheckedTransaction>>,
    /// Look-ups at the other nodes.
    pub finds: mpsc::Receiver<Find>,
}

/// Creates the queues between a node and its relay.
pub fn relay_queues() -> (RelaySender, RelayQueues) {
    let (outgoing, outgoing_receiver) = mpsc::channel(OUTGOING_MAX);
    let (finds, finds_receiver) = mpsc::channel(FINDS_MAX);
    let sender = RelaySender { outgoing, finds };
    let queues = RelayQueues {
        outgoing: outgoing_receiver,
        finds: finds_receiver,
    };
    (sender, queues)
}

impl RelaySender {
    /// Queues a transaction for the other nodes. Returns whether there was room.
    pub(crate) fn send(&self, transaction: Arc<CheckedTransaction>) -> bool {
        self.outgoing.try_send(transaction).is_ok()
    }

    /// Asks the other nodes for a transaction.
    pub(crate) async fn find(&self, hash: HashValue) -> FoundElsewhere {
        Self::answer(self.ask(hash)).await
    }

    /// Sends a question to the other nodes, whose answer [`Self::answer`] awaits.
    pub(crate) fn ask(&self, hash: HashValue) -> oneshot::Receiver<FoundElsewhere> {
        let (reply, found) = oneshot::channel();
        // An error means that the queue is full, or that the relay has stopped. It drops `reply`.
        let _ = self.finds.try_send(Find { hash, reply });
        found
    }

    /// Awaits the answer to a question. Without one, no other node could be reached.
    pub(crate) async fn answer(found: oneshot::Receiver<FoundElsewhere>) -> FoundElsewhere {
        found.await.unwrap_or(FoundElsewhere::Unreachable)
    }
}
