//! What was learnt of the ledger for certain: later answers must agree with it.

use super::number;
use ledger_crypto::HashValue;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
};

/// How many bodies are remembered; then they are forgotten all at once.
const BODIES_MAX: usize = 20_000;

/// A block as first seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub first_version: u64,
    pub last_version: u64,
    pub hash: String,
}

/// A transfer of one coin from the payer to the payee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    pub version: u64,
    pub hash: HashValue,
}

/// All that is known.
#[derive(Debug, Default)]
pub struct Known {
    blocks: BTreeMap<u64, Block>,
    /// The payer's transfers, by sequence number.
    transfers: Vec<Transfer>,
    bodies: HashMap<String, u64>,
}

impl Known {
    /// Learns a block; it must be the one that was seen before, and adjoin its neighbours.
    pub fn learn_block(&mut self, height: u64, block: &Block) {
        let before = self.blocks.range(..height).next_back();
        if let Some((_, before)) = before.filter(|(lower, _)| **lower + 1 == height) {
            assert_eq!(
                before.last_version + 1,
                block.first_version,
                "block {height} after {before:?}"
            );
        }
        let after = self.blocks.range(height + 1..).next();
        if let Some((_, after)) = after.filter(|(higher, _)| **higher == height + 1) {
            assert_eq!(
                block.last_version + 1,
                after.first_version,
                "block {height} before {after:?}"
            );
        }
        let seen = self.blocks.entry(height).or_insert_with(|| block.clone());
        assert_eq!(seen, block, "block {height} has changed");
    }

    /// Learns a transfer of the payer; none is learnt after one that nobody was told of.
    pub fn learn_transfer(&mut self, sequence_number: u64, transfer: Transfer) {
        if sequence_number == self.transfers.len() as u64 {
            self.transfers.push(transfer);
        }
    }

    /// The payer's transfers, by sequence number.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// The transfers of `first_version` and later ones that are known, with their sequence numbers.
    pub fn transfers_from(&self, first_version: u64) -> impl Iterator<Item = (u64, &Transfer)> {
        let first = self
            .transfers
            .partition_point(|transfer| transfer.version < first_version);
        (first as u64..).zip(&self.transfers[first..])
    }

    /// What is asked for here never changes: it must be the body that was seen before.
    pub fn learn_body(&mut self, path: &str, body: &str) {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let digest = hasher.finish();
        if self.bodies.len() >= BODIES_MAX {
            self.bodies.clear();
        }
        let seen = *self.bodies.entry(path.to_owned()).or_insert(digest);
        assert_eq!(seen, digest, "{path} was another answer before: {body}");
    }
}

impl Block {
    /// The block of an answer.
    pub fn of(json: &Value) -> Self {
        Self {
            first_version: number(&json["first_version"]),
            last_version: number(&json["last_version"]),
            hash: json["block_hash"].to_string(),
        }
    }
}
