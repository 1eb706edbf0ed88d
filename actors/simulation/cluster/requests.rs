//! Requests of an engine that wait for the reply of its node.

use super::super::scheduler::Flag;
use super::{network::ProposedBytes, votes::Input};
use crate::engine::{
    DecidedBlock, EncodedBlock, EngineRequest, EngineRequests, ProposedBlock, SyncedBlock,
};
use ledger_types::CommitCertificate;
use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake as _},
};
use tokio::sync::oneshot;

/// A reply of the node.
#[derive(Debug)]
pub(super) enum Reply {
    /// The first height.
    Ready(u64),
    RoundStarted(Vec<ProposedBlock>),
    Propose {
        height: u64,
        round: u32,
        block: EncodedBlock,
    },
    /// Verdict on a received block.
    Checked(Option<ProposedBlock>),
    /// A block to send to the peers, or `None` if the node does not have it.
    Block(Option<ProposedBytes>),
    Decided(u64),
    Finalized(u64),
    /// Decided blocks for a peer.
    Serve {
        to: usize,
        first: u64,
        blocks: Vec<DecidedBlock>,
    },
    Synced {
        certificate: CommitCertificate,
        outcome: SyncedBlock,
    },
    /// The node dropped a request.
    Dropped(&'static str),
}

/// A future of a reply.
type Pending = Pin<Box<dyn Future<Output = Reply>>>;

/// The open requests of an engine.
pub(super) struct Requests {
    node: EngineRequests,
    /// Raised at the arrival of a reply.
    pub(super) flag: Arc<Flag>,
    pending: Vec<(&'static str, Pending)>,
    pub(super) replies: VecDeque<Reply>,
}

impl Requests {
    pub(super) fn new(node: EngineRequests) -> Self {
        Self {
            node,
            flag: Flag::raised(),
            pending: Vec::new(),
            replies: VecDeque::new(),
        }
    }

    /// Sends a request of this name, whose reply becomes a [`Reply`] by `reply`.
    pub(super) fn ask<T: 'static>(
        &mut self,
        name: &'static str,
        request: impl FnOnce(oneshot::Sender<T>) -> EngineRequest,
        reply: impl FnOnce(T) -> Reply + 'static,
    ) {
        let (sender, receiver) = oneshot::channel();
        let pending = Box::pin(async move {
            match receiver.await {
                Ok(value) => reply(value),
                Err(_) => Reply::Dropped(name),
            }
        });
        self.pending.push((name, pending));
        Arc::clone(&self.flag).wake();
        self.node.send(request(sender));
    }

    /// Sends a request without a reply.
    pub(super) fn tell(&self, request: EngineRequest) {
        self.node.send(request);
    }

    /// Drops the open requests of a name, as an engine does whose patience ended.
    pub(super) fn give_up(&mut self, name: &str) {
        self.pending.retain(|(pending, _)| *pending != name);
    }

    /// Returns the names of the open requests.
    pub(super) fn open(&self) -> impl Iterator<Item = &'static str> {
        self.pending.iter().map(|(name, _)| *name)
    }

    /// Takes the replies that have arrived.
    pub(super) fn poll(&mut self) {
        self.flag.lower();
        let waker = Arc::clone(&self.flag).into();
        let context = &mut Context::from_waker(&waker);
        let replies = &mut self.replies;
        self.pending
            .retain_mut(|(_, pending)| match pending.as_mut().poll(context) {
                Poll::Ready(reply) => {
                    replies.push_back(reply);
                    false
                }
                Poll::Pending => true,
            });
    }
}

/// Returns the input that a verdict on a block is.
pub(super) fn proposal(block: &ProposedBlock) -> Input {
    Input::Proposal(super::votes::Proposal {
        round: block.round,
        valid_round: block.valid_round,
        hash: block.hash,
        is_valid: block.is_valid,
    })
}
