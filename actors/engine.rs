//! The interface to a consensus engine, which orders the blocks of a chain of several validators.
//!
//! The engine runs beside the node and asks it: for blocks to propose, for a check of the blocks of
//! others, for storage of what was decided. Each [`EngineRequest`] has a channel for the reply. The
//! node replies to all within a bound, with one exception: it withholds the reply to
//! [`EngineRequest::Finalized`] while the decision is not durable, while too many decided blocks
//! are not in the ledger, or while the chain has nothing to order.
//!
//! A height has rounds, numbered from 0. Each round has one proposer. A block is proposed in the
//! round of its header, and later rounds of the height may propose it again, unchanged.

mod report;

pub use report::{ACTORS, EngineReport, HEIGHTS, NETWORK, ValidatorReport};
pub(crate) use report::{EngineSource, WATCHED_PARTS};

use crate::{relay::RelaySender, runtime::mailbox::Recipient};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_store::{ConsensusLog, StoreError};
use ledger_types::{AccountAddress, CommitCertificate};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

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
        /// Whether the engine signs. Otherwise it follows without votes.
        is_signer: bool,
        /// Receives the height above the newest decided block.
        reply: oneshot::Sender<u64>,
    },
    /// A round begins. The reply has the blocks of the height that this node knows. The engine must
    /// not sign for the height before it.
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
        /// The block, at most as large as the chain's
        /// [`Parameters`](ledger_types::Parameters::encoded_block_bytes_max) allow.
        bytes: Bytes,
        /// Receives the checked block, or `None` if this node cannot check it yet. The node offers
        /// it again when a round starts.
        reply: oneshot::Sender<Option<ProposedBlock>>,
    },
    /// So many validators have stated their height to this follower since its engine started that
    /// they are a quorum with this one. Sent once.
    QuorumReached {
        /// Highest decided height that one of them stated.
        height: u64,
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

/// What a node of a chain of several validators starts with, beside the ledger.
#[derive(Debug)]
pub struct ConsensusStart {
    /// Address of this validator. `None` for a full node.
    pub address: Option<AccountAddress>,
    /// The durable memory of the node.
    pub log: ConsensusLog,
    /// Receives each height that this validator begins because it has transactions. The engine
    /// announces it to the peers.
    pub work: watch::Sender<u64>,
    /// Receives a value when a node that followed without votes may vote from the next height on.
    pub may_vote: oneshot::Sender<()>,
    /// The queues of the relay, or `None` without one: transactions then stay at the node that
    /// received them.
    pub relay: Option<RelaySender>,
}

/// Returns the newest height for which a validator may have signed, according to its log and to the
/// engine's, whose height is `engine_log_height`.
///
/// A record below the engine's log is older than it, because the end of `log` was lost. It is
/// raised, since the engine forgets its height when it begins a lower one.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the log cannot be read or written.
pub fn signed_height(
    log: &ConsensusLog,
    engine_log_height: Option<u64>,
) -> Result<u64, StoreError> {
    let recorded = log.signed_height()?;
    match engine_log_height {
        Some(height) if height > recorded => {
            log.record_height(height)?;
            Ok(height)
        }
        _ => Ok(recorded),
    }
}

/// Returns whether a validator may sign for `next_height`, so that it never signs two different
/// messages for one step.
///
/// `signed_height` is the newest height for which it may have signed, or `None` without a record.
/// Its signatures of that height are in the engine's log, which covers one height:
/// `engine_log_height`.
pub fn may_sign(
    next_height: u64,
    signed_height: Option<u64>,
    engine_log_height: Option<u64>,
) -> bool {
    match signed_height {
        Some(signed) if next_height == signed => engine_log_height == Some(signed),
        Some(signed) => next_height > signed,
        None => false,
    }
}

/// The sending side of the requests of the engine. Clones share it.
///
/// The node accepts every request, and refuses what peers cause beyond its queue: a block is then
/// not checked, and a request for decided blocks receives none. The engine must send the next of
/// the other requests only after the reply to the one before, except for those about a decided
/// block.
#[derive(Clone, Debug)]
pub struct EngineRequests(Recipient<EngineRequest>);

impl EngineRequests {
    pub(crate) fn new(sequencer: Recipient<EngineRequest>) -> Self {
        Self(sequencer)
    }

    /// Sends a request. A stopped node drops its reply.
    pub fn send(&self, request: EngineRequest) {
        self.0.send(request);
    }
}

#[cfg(test)]
mod tests {
    use super::{may_sign, signed_height};
    use ledger_store::ConsensusLog;
    use ledger_test_support::Disk;

    #[test]
    fn a_record_below_the_engines_log_is_raised_durably() {
        let disk = Disk::default();
        let log = ConsensusLog::create_backend(disk.clone(), 3).unwrap();
        assert_eq!(signed_height(&log, None).unwrap(), 3);
        assert_eq!(signed_height(&log, Some(3)).unwrap(), 3);
        assert_eq!(signed_height(&log, Some(9)).unwrap(), 9);
        drop(log);
        let log = ConsensusLog::open_backend(Disk::new(disk.synced())).unwrap();
        assert_eq!(signed_height(&log, Some(4)).unwrap(), 9);
    }

    #[test]
    fn a_validator_signs_no_height_twice() {
        assert!(may_sign(1, Some(0), None), "a new chain");
        assert!(may_sign(8, Some(7), Some(7)), "a regular restart");
        assert!(may_sign(7, Some(7), Some(7)), "the log has its signatures");
        assert!(
            !may_sign(7, Some(7), Some(6)),
            "the log of the height is lost"
        );
        assert!(!may_sign(7, Some(7), None));
        assert!(
            !may_sign(6, Some(7), Some(7)),
            "an older ledger was restored"
        );
        assert!(!may_sign(1, None, None), "a machine with the same keys");
    }
}
