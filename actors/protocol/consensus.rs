//! Messages about the blocks of a chain of several validators.

use super::proposed_block::{BlockError, CheckedBlock};
use crate::{
    engine::{EngineRequest, ProposedBlock, SyncedBlock},
    runtime::{actor::ActorMessage, mailbox::Recipient},
};
use ledger_types::{AccountAddress, CheckedTransaction};
use std::sync::Arc;
use tokio::sync::oneshot;

impl ActorMessage for EngineRequest {
    const LABEL: &'static str = "engine_request";
}

/// The round in which a block is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) height: u64,
    pub(crate) round: u32,
    /// Round in which two thirds voted for the block, if it is proposed again.
    pub(crate) valid_round: Option<u32>,
    /// Proposer of the round.
    pub(crate) proposer: AccountAddress,
}

/// Receiver of what became of a block of another node.
#[derive(Debug)]
pub(crate) enum BlockReply {
    /// The block was proposed.
    Proposed(oneshot::Sender<Option<ProposedBlock>>),
    /// The block is decided, and a peer sent it.
    Synced(oneshot::Sender<SyncedBlock>),
}

/// A block of another node, after the checks that need no state.
#[derive(Debug)]
pub(crate) struct BlockChecked {
    pub(crate) turn: Turn,
    pub(crate) block: Result<Arc<CheckedBlock>, BlockError>,
    pub(crate) reply: BlockReply,
}

impl ActorMessage for BlockChecked {
    const LABEL: &'static str = "block_checked";
}

/// A decided block is durable on this node.
#[derive(Debug)]
pub(crate) struct DecisionDurable {
    pub(crate) height: u64,
}

impl ActorMessage for DecisionDurable {
    const LABEL: &'static str = "decision_durable";
}

/// Request of the sequencer to be notified when the mempool has a transaction for a block.
#[derive(Debug)]
pub(crate) struct WatchReady {
    pub(crate) reply_to: Recipient<TransactionsReady>,
}

impl ActorMessage for WatchReady {
    const LABEL: &'static str = "watch_ready";
}

/// Reply to [`WatchReady`].
#[derive(Debug)]
pub(crate) struct TransactionsReady;

impl ActorMessage for TransactionsReady {
    const LABEL: &'static str = "transactions_ready";
}

/// Notification of the mempool that a decided block has these transactions. Those that it holds are
/// in no later batch.
#[derive(Debug)]
pub(crate) struct TransactionsDecided(pub(crate) Vec<Arc<CheckedTransaction>>);

impl ActorMessage for TransactionsDecided {
    const LABEL: &'static str = "transactions_decided";
}

/// Return of a batch of which no block became decided. The transactions wait again.
#[derive(Debug)]
pub(crate) struct ReturnBatch(pub(crate) Vec<Arc<CheckedTransaction>>);

impl ActorMessage for ReturnBatch {
    const LABEL: &'static str = "return_batch";
}
