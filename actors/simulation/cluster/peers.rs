//! Messages of the peers of an engine, and the decided blocks that it receives from them.

use super::{
    engine::{Engine, Phase},
    network::{Envelope, Message, ProposedBytes},
    record::EVERY_REQUEST_ENDS,
    requests::{Reply, proposal},
    votes::Input,
};
use crate::engine::{EngineRequest, SyncedBlock};
use ledger_types::CommitCertificate;

/// Maximum number of messages of later heights that an engine keeps.
const LATER_MESSAGES_MAX: usize = 64;
/// Maximum number of blocks of a request to a peer.
const SYNC_BATCH_BLOCKS: u64 = 3;

impl Engine {
    pub(super) fn handle_synced(&mut self, certificate: &CommitCertificate, outcome: SyncedBlock) {
        let height = self.consensus.height;
        self.trace(format_args!("at {height}, a peer's block is {outcome:?}"));
        match outcome {
            SyncedBlock::Stored(block) => {
                self.record.count("blocks of peers stored");
                self.record.acknowledge_value(self.me, &block);
                if certificate.height == height {
                    self.inputs.push_back(proposal(&block));
                    self.inputs.push_back(Input::Certificate {
                        round: certificate.round,
                        hash: certificate.block_hash,
                    });
                }
            }
            SyncedBlock::Unavailable => self.record.count("blocks of peers not stored"),
            SyncedBlock::Malformed => {
                let verdict = Err(format!("a decided block {height} is malformed"));
                self.record.report(EVERY_REQUEST_ENDS, verdict);
            }
        }
    }

    pub(super) fn receive(&mut self, envelope: Envelope) {
        let height = self.consensus.height;
        let message_height = match &envelope.message {
            Message::Block(block) => block.height,
            Message::Vote(vote) => vote.height,
            Message::Status(tip) => *tip,
            Message::Work(height) => *height,
            Message::GetBlocks { .. }
            | Message::Blocks(_)
            | Message::GetTip { .. }
            | Message::Tip { .. } => 0,
        };
        if self.phase == Phase::Decided
            && message_height > height
            && self.announced_height <= height
        {
            self.announced_height = height + 1;
            let height = height + 1;
            self.requests.tell(EngineRequest::WorkAnnounced { height });
        }
        let is_later = message_height > height;
        let Envelope { from, message, .. } = envelope;
        match message {
            Message::Vote(vote) if vote.height == height => {
                self.inputs.push_back(Input::Vote(vote));
            }
            Message::Vote(_) if is_later && self.later.len() < LATER_MESSAGES_MAX => {
                let to = self.me;
                self.later.push_back(Envelope { from, to, message });
            }
            Message::Block(block) if block.height == height || block.height == height + 1 => {
                self.check(from, block);
            }
            Message::Status(tip) if tip >= height && self.phase == Phase::Voting => {
                let last = tip.min(height + SYNC_BATCH_BLOCKS - 1);
                let first = height;
                let request = Message::GetBlocks { first, last };
                self.network.send(self.me, from, request);
            }
            Message::GetBlocks { first, last } if first <= self.tip => {
                let last = last.min(self.tip);
                self.serve(from, first, last);
            }
            Message::GetTip { start } => {
                let height = self.tip;
                self.network
                    .send(self.me, from, Message::Tip { start, height });
            }
            Message::Tip { start, height } if start == self.start && !self.has_quorum() => {
                self.tips.insert(from, height);
                if self.has_quorum() {
                    let height = self.tips.values().copied().max().unwrap_or_default();
                    self.requests.tell(EngineRequest::QuorumReached { height });
                }
            }
            Message::Blocks(blocks) if self.synced.is_empty() => self.synced = blocks.into(),
            _ => {}
        }
    }

    /// Returns whether the validators that stated their height are a quorum with this one.
    pub(super) fn has_quorum(&self) -> bool {
        let validators = self.record.fixture.chain.validators();
        self.tips.len() + 1 >= validators.quorum()
    }

    fn check(&mut self, from: usize, block: ProposedBytes) {
        let proposer = self.address(from);
        let request = |reply| EngineRequest::BlockReceived {
            height: block.height,
            round: block.round,
            valid_round: block.valid_round,
            proposer,
            bytes: block.bytes,
            reply,
        };
        self.requests.ask("BlockReceived", request, Reply::Checked);
    }

    fn serve(&mut self, to: usize, first: u64, last: u64) {
        self.record.count("requests of peers for blocks");
        let request = |reply| EngineRequest::GetDecidedBlocks { first, last, reply };
        let reply = move |blocks| Reply::Serve { to, first, blocks };
        self.requests.ask("GetDecidedBlocks", request, reply);
    }

    /// Passes the next decided block of a peer to the node.
    pub(super) fn sync_next(&mut self) {
        let height = self.consensus.height;
        self.synced
            .retain(|block| block.certificate.height >= height);
        let next = self.synced.pop_front();
        let Some(block) = next.filter(|block| block.certificate.height == height) else {
            return;
        };
        let certificate = block.certificate;
        let (round, proposer) = (certificate.round, self.proposer(certificate.round));
        let request = |reply| EngineRequest::BlockSynced {
            height,
            round,
            proposer,
            bytes: block.bytes,
            reply,
        };
        self.requests
            .ask("BlockSynced", request, move |outcome| Reply::Synced {
                certificate,
                outcome,
            });
    }
}
