//! The two directions of an established connection.

use crate::codec::{self, CodecError, Found, Message};
use crate::context::Shared;
use crate::ended::Ended;
use crate::finds;
use crate::peers::{Frame, PeerState, Question};
use crate::settings::Times;
use crate::sizes;
use bytes::Bytes;
use ledger_actors::relay::{FoundElsewhere, RelayNode};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// A look-up that the peer has not answered.
#[derive(Debug)]
struct OpenQuestion {
    hash: HashValue,
    reply: mpsc::Sender<FoundElsewhere>,
}

/// The look-ups that the peer has not answered, by their number.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: RefCell<HashMap<u64, OpenQuestion>>,
    answered: Notify,
}

impl Questions {
    /// Returns whether the peer has room for another look-up. Those that nothing waits for any more
    /// are removed if there is none.
    fn has_room(&self) -> bool {
        let mut open = self.open.borrow_mut();
        if open.len() >= sizes::FINDS_PER_PEER_MAX {
            open.retain(|_, question| !question.reply.is_closed());
        }
        open.len() < sizes::FINDS_PER_PEER_MAX
    }

    fn insert(&self, id: u64, question: &Question) {
        let question = OpenQuestion {
            hash: question.hash,
            reply: question.reply.clone(),
        };
        self.open.borrow_mut().insert(id, question);
    }

    fn remove(&self, id: u64) -> Option<OpenQuestion> {
        let question = self.open.borrow_mut().remove(&id);
        self.answered.notify_one();
        question
    }
}

/// The messages to the peer.
pub(crate) struct Outgoing<'c, W> {
    pub writer: W,
    pub frames: mpsc::Receiver<Frame>,
    pub questions: mpsc::Receiver<Question>,
    /// Encoded answers to look-ups of the peer.
    pub answers: mpsc::Receiver<Bytes>,
    pub open: &'c Questions,
    pub peer: &'c PeerState,
    pub times: Times,
}

impl<W: AsyncWrite + Unpin> Outgoing<'_, W> {
    /// Sends messages until the connection ends, and returns the reason.
    pub async fn run(mut self) -> Ended {
        let mut next_id = 0;
        let mut sent_at = Instant::now();
        loop {
            let has_room = self.open.has_room();
            let (bytes, transactions) = tokio::select! {
                Some(frame) = self.frames.recv() => (frame.bytes, frame.count),
                Some(question) = self.questions.recv(), if has_room => {
                    if question.reply.is_closed() {
                        continue;
                    }
                    next_id += 1;
                    self.open.insert(next_id, &question);
                    (encode_question(next_id, &question), 0)
                }
                () = self.open.answered.notified(), if !has_room => continue,
                Some(answer) = self.answers.recv() => (answer, 0),
                () = sleep_until(sent_at + self.times.ping) => {
                    (codec::encode(&Message::Ping), 0)
                }
            };
            if let Err(ended) = self.write(&bytes).await {
                return ended;
            }
            sent_at = Instant::now();
            self.peer.traffic.frames_sent.increment();
            self.peer.traffic.sent.add(transactions as u64);
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let write = async {
            self.writer.write_all(bytes).await?;
            self.writer.flush().await
        };
        let written = timeout(self.times.silence, write).await;
        Ok(written.map_err(|_| Ended::Stalled)??)
    }
}

fn encode_question(id: u64, question: &Question) -> Bytes {
    codec::encode(&Message::Find {
        id,
        hash: question.hash,
        is_passed_on: question.is_passed_on,
    })
}

/// The messages of the peer.
pub(crate) struct Incoming<'c, N> {
    pub cx: &'c Rc<Shared<N>>,
    pub peer: &'c Arc<PeerState>,
    pub client: ClientKey,
    pub open: &'c Questions,
    /// Encoded transactions for the mempool.
    pub lists: mpsc::Sender<Vec<Bytes>>,
    /// Encoded answers to look-ups of the peer.
    pub answers: mpsc::Sender<Bytes>,
}

impl<N: RelayNode> Incoming<'_, N> {
    /// Receives messages until the connection ends, and returns the reason.
    pub async fn run(self, mut reader: impl AsyncRead + Unpin) -> Ended {
        // Dropping the set cancels the look-ups.
        let mut lookups = JoinSet::new();
        loop {
            let read = codec::read(&mut reader, self.cx.limits.frame_bytes_max);
            let message = match timeout(self.cx.times.silence, read).await {
                Ok(Ok(message)) => message,
                Ok(Err(error)) => return error.into(),
                Err(_) => return Ended::Silent,
            };
            self.peer.traffic.frames_received.increment();
            if let Err(error) = self.receive(message, &mut lookups) {
                return error.into();
            }
        }
    }

    fn receive(&self, message: Message, lookups: &mut JoinSet<()>) -> Result<(), CodecError> {
        match message {
            Message::Hello { .. } => return Err(CodecError::Unexpected),
            Message::Ping => {}
            Message::Transactions(list) => {
                let count = list.len();
                if self.lists.try_send(list).is_err() {
                    self.peer.traffic.refused.add(count as u64);
                }
            }
            Message::Find {
                id,
                hash,
                is_passed_on,
            } => self.find(id, hash, is_passed_on, lookups),
            Message::Found { id, found } => self.found(id, &found)?,
        }
        Ok(())
    }

    /// Answers a look-up, in a task beside the others.
    fn find(&self, id: u64, hash: HashValue, is_passed_on: bool, lookups: &mut JoinSet<()>) {
        self.peer.traffic.questions.increment();
        while lookups.try_join_next().is_some() {}
        if lookups.len() >= sizes::FINDS_PER_PEER_MAX {
            let found = Found::Unreachable;
            // With a full queue, the peer gives up by its own time.
            let _ = self
                .answers
                .try_send(codec::encode(&Message::Found { id, found }));
            return;
        }
        let (cx, peer, client) = (Rc::clone(self.cx), Arc::clone(self.peer), self.client);
        let answers = self.answers.clone();
        let task = async move {
            let found = finds::answer(&cx, hash, is_passed_on, &peer.key, client).await;
            // An error means that the connection has ended.
            let _ = answers
                .send(codec::encode(&Message::Found { id, found }))
                .await;
        };
        lookups.spawn_local(self.cx.guarded(task));
    }

    /// Passes on the answer to a look-up of this node.
    fn found(&self, id: u64, found: &Found) -> Result<(), CodecError> {
        // Without the question, the look-up has ended.
        let Some(question) = self.open.remove(id) else {
            return Ok(());
        };
        let found = match found {
            Found::Unknown => FoundElsewhere::Unknown,
            Found::Committed { version } => FoundElsewhere::Committed { version: *version },
            Found::Unreachable => FoundElsewhere::Unreachable,
            Found::Pending(bytes) => {
                let transaction = self.cx.limits.decode_transaction(bytes)?;
                if transaction.hash(&self.cx.vendor) != question.hash {
                    return Err(CodecError::Hash);
                }
                FoundElsewhere::Pending(transaction.into())
            }
        };
        // An error means that the look-up has ended. The channel has room for each peer's answer.
        if question.reply.try_send(found).is_ok() {
            self.peer.traffic.answers.increment();
        }
        Ok(())
    }
}
