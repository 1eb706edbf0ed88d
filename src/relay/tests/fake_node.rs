//! A node in memory, as a relay uses it.

use ledger_actors::relay::{Admission, FoundHere, RelayNode};
use ledger_actors::{NodeError, Overload};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_types::{SignedTransaction, Vendor};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// The answer of a node to a look-up.
#[derive(Clone)]
pub enum Answer {
    Found(FoundHere),
    /// The node has too many requests.
    Busy,
    /// The node never answers.
    Never,
}

#[derive(Default)]
struct State {
    received: Vec<HashValue>,
    clients: Vec<ClientKey>,
    answers: HashMap<HashValue, Answer>,
    questions: usize,
    panics: bool,
}

/// A node in memory. Clones share it.
#[derive(Clone)]
pub struct FakeNode {
    state: Arc<Mutex<State>>,
    /// One permit for each list of transactions that may be admitted.
    admissions: Arc<Semaphore>,
}

impl FakeNode {
    /// Creates a node that admits all transactions.
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            admissions: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }

    /// Creates a node that never answers a transaction.
    pub fn stuck() -> Self {
        Self {
            admissions: Arc::new(Semaphore::new(0)),
            ..Self::new()
        }
    }

    /// Returns the hashes of the received transactions, in order.
    pub fn received(&self) -> Vec<HashValue> {
        self.state.lock().unwrap().received.clone()
    }

    /// Returns the turns in which transactions were received.
    pub fn clients(&self) -> Vec<ClientKey> {
        self.state.lock().unwrap().clients.clone()
    }

    /// Returns the number of look-ups of peers.
    pub fn questions(&self) -> usize {
        self.state.lock().unwrap().questions
    }

    /// Sets the answer to look-ups of a transaction. It is [`FoundHere::Unknown`] otherwise.
    pub fn set_answer(&self, hash: HashValue, answer: Answer) {
        self.state.lock().unwrap().answers.insert(hash, answer);
    }

    /// Lets the next admission panic.
    pub fn panic_at_next(&self) {
        self.state.lock().unwrap().panics = true;
    }
}

impl RelayNode for FakeNode {
    async fn admit(&self, transactions: Vec<SignedTransaction>, peer: ClientKey) -> Admission {
        self.admissions.acquire().await.unwrap().forget();
        let mut state = self.state.lock().unwrap();
        assert!(!state.panics, "a panic of the node");
        let mut admission = Admission::default();
        for transaction in transactions {
            let hash = transaction.hash(&Vendor::default());
            match state.received.contains(&hash) {
                true => admission.known += 1,
                false => admission.added += 1,
            }
            state.received.push(hash);
        }
        state.clients.push(peer);
        admission
    }

    async fn find_here(&self, hash: HashValue, _peer: ClientKey) -> Result<FoundHere, NodeError> {
        let answer = {
            let mut state = self.state.lock().unwrap();
            state.questions += 1;
            state.answers.get(&hash).cloned()
        };
        match answer {
            None => Ok(FoundHere::Unknown),
            Some(Answer::Found(found)) => Ok(found),
            Some(Answer::Busy) => Err(NodeError::Overloaded(Overload::brief("test", 1))),
            Some(Answer::Never) => std::future::pending().await,
        }
    }
}
