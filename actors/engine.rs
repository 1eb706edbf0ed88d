//! The interface to a consensus engine, which orders the blocks of a chain of several validators.
//!
//! The engine runs beside the node and asks it: for blocks to propose, for a check of the blocks of
//! others, for storage of what was decided. Each [`EngineRequest`] has a channel for the reply. The
//! node replies to all within a bound, with one exception: it withholds the reply to
//! [`EngineRequest::Finalized`] while too many decided blocks are not durable, or while the chain
//! has nothing to order.
//!
//! A height has rounds, numbered from 0. Each round has one proposer. A block is proposed in the
//! round of its header, and later rounds of the height may propose it again, unchanged.

use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CommitCertificate};
use std::time::Duration;
use tokio::sync::oneshot;

/// A block in a round of its height, as the engine votes on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposedBlock {
    /// Height of the block.
    pub height: u64,
    /// Round in which the block was proposed.
    pub round: u32,
    /// Round in which two thirds voted for the block, if it is proposed again.
    pub valid_round: Option<u32>,
    /// Validator that proposed it in this round.
    pub proposer: AccountAddress,
    /// Block hash.
    pub hash: HashValue,
    /// Whether the block follows the rules of the chain. Validators vote against any other.
    pub is_valid: bool,
}

/// A block in the form in which validators exchange it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedBlock {
    /// Block hash.
    pub hash: HashValue,
    /// Header and transactions.
    pub bytes: Bytes,
}

/// A block that two thirds of the validators have committed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBlock {
    /// Header and transactions.
    pub bytes: Bytes,
    /// The votes.
    pub certificate: CommitCertificate,
}

/// The node's reply to a decided block of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncedBlock {
    /// The block is durable on this node.
    Stored(ProposedBlock),
    /// The bytes are no block of this height: a fault of the peer.
    Malformed,
    /// This node cannot store the block now.
    Unavailable,
}

/// Two different messages that one validator signed for one height, round and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivocation {
    /// The validator.
    pub validator: AccountAddress,
    /// Height of both messages.
    pub height: u64,
    /// Round of both messages.
    pub round: u32,
    /// Kind of both messages.
    pub kind: EquivocationKind,
}

/// The kind of a message that a validator signed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivocationKind {
    /// A proposal.
    Proposal,
    /// A vote.
    Vote,
}

/// A request of the engine to the node.
#[derive(Debug)]
pub enum EngineRequest {
    /// The engine is ready. The reply is the first height to decide.
    Ready {
        /// Receives the height above the newest decided block.
        reply: oneshot::Sender<u64>,
    },
    /// A round begins. The reply has the blocks of the height that this node knows.
    RoundStarted {
        /// Height of the round.
        height: u64,
        /// The round.
        round: u32,
        /// Proposer of the round.
        proposer: AccountAddress,
        /// Receives the known blocks of the height.
        reply: oneshot::Sender<Vec<ProposedBlock>>,
    },
    /// This node is the proposer of the round.
    Propose {
        /// Height of the block.
        height: u64,
        /// Round of the block.
        round: u32,
        /// Time within which the reply is of use.
        timeout: Duration,
        /// Receives the block. A height and round receives the same block again.
        reply: oneshot::Sender<EncodedBlock>,
    },
    /// A validator proposes a block.
    BlockReceived {
        /// Height of the block.
        height: u64,
        /// Round of the proposal.
        round: u32,
        /// Round in which two thirds voted for the block, if it is proposed again.
        valid_round: Option<u32>,
        /// Proposer of the round.
        proposer: AccountAddress,
        /// The block, at most [`BLOCK_BYTES_MAX`].
        bytes: Bytes,
        /// Receives the checked block, or `None` if this node cannot check it yet. The node offers
        /// it again when a round starts.
        reply: oneshot::Sender<Option<ProposedBlock>>,
    },
    /// A peer has transactions for this height, so the height shall begin.
    WorkAnnounced {
        /// Height that the peer begins.
        height: u64,
    },
    /// Requests a block that this node proposed or received, to send it to the peers again.
    GetBlock {
        /// Height of the block.
        height: u64,
        /// Hash of the block.
        hash: HashValue,
        /// Receives the block, or `None` if this node does not have it.
        reply: oneshot::Sender<Option<Bytes>>,
    },
    /// A block is decided.
    Decided {
        /// The votes.
        certificate: CommitCertificate,
        /// Receives a value when the block is durable. Peers may then request it.
        reply: oneshot::Sender<()>,
    },
    /// The height of a decided block is over.
    Finalized {
        /// The votes, possibly more than before.
        certificate: CommitCertificate,
        /// Contradictory messages that the engine met at this height.
        equivocations: Vec<Equivocation>,
        /// Receives the next height, with which the engine continues.
        reply: oneshot::Sender<u64>,
    },
    /// Requests the lowest height whose block this node has.
    GetOldestHeight {
        /// Receives the height.
        reply: oneshot::Sender<u64>,
    },
    /// A peer requests decided blocks.
    GetDecidedBlocks {
        /// First height.
        first: u64,
        /// Last height.
        last: u64,
        /// Receives consecutive blocks from `first` on: fewer if they are too large or not stored.
        reply: oneshot::Sender<Vec<DecidedBlock>>,
    },
    /// A peer sent a decided block whose votes were verified.
    BlockSynced {
        /// Height of the block.
        height: u64,
        /// Round of the votes.
        round: u32,
        /// Proposer of the round.
        proposer: AccountAddress,
        /// The block.
        bytes: Bytes,
        /// Receives what became of it.
        reply: oneshot::Sender<SyncedBlock>,
    },
}
