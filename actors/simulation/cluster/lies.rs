//! What the one validator that lies sends.

use super::{
    super::fixture::VALIDATORS,
    engine::Engine,
    network::{Message, ProposedBytes},
    votes::Vote,
};
use crate::protocol::proposed_block::{decode_parts, encode};
use ledger_crypto::HashValue;

/// Lead of a block's time that other validators do not accept, in microseconds.
const LEAD_USECS: u64 = 3_600_000_000;

impl Engine {
    /// Signs a contradictory vote for some peers.
    pub(super) fn lie_about(&mut self, vote: Vote) {
        if !self.control.is_lying.get() || self.random.bool() {
            return;
        }
        self.record.count("lies: votes");
        let block = match vote.block {
            Some(_) => None,
            None => self.consensus.proposal(vote.round).map(|known| known.hash),
        };
        for to in self.choose_peers() {
            let lie = Message::Vote(Vote { block, ..vote });
            self.network.send(self.me, to, lie);
        }
    }

    /// Sends another block than the node's to some peers, and the node's to the others. Returns
    /// whether it did.
    pub(super) fn lie_instead_of(&mut self, block: &ProposedBytes) -> bool {
        if !self.control.is_lying.get() || self.random.u8(..4) == 0 {
            return false;
        }
        self.record.count("lies: blocks");
        let lie = self.change(block);
        let deceived = self.choose_peers();
        for to in (0..VALIDATORS).filter(|&to| to != self.me) {
            let sent = if deceived.contains(&to) { &lie } else { block };
            self.network.send(self.me, to, Message::Block(sent.clone()));
        }
        true
    }

    /// Returns another block for the same turn, in most cases one that breaks a rule.
    fn change(&mut self, block: &ProposedBytes) -> ProposedBytes {
        let (mut header, transactions) = decode_parts(&block.bytes).expect("an encoded block");
        match self.random.u8(..6) {
            0 | 1 => header.executed.accumulator_root = HashValue::sha3_of(&[b"another root"]),
            2 => header.executed.version += 1,
            3 => header.parent_hash = HashValue::sha3_of(&[b"another parent"]),
            4 => header.timestamp_usecs += LEAD_USECS,
            _ => header.timestamp_usecs += 1,
        }
        let bytes = encode(&header, &transactions);
        let hash = self.record.record_block(header);
        ProposedBytes {
            hash,
            bytes,
            ..block.clone()
        }
    }

    fn choose_peers(&mut self) -> Vec<usize> {
        let peers = (0..VALIDATORS).filter(|&peer| peer != self.me);
        peers.filter(|_| self.random.u8(..3) > 0).collect()
    }
}
