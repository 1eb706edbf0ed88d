//! Facts of the ledger that a response has stated and that later responses must repeat.

use ledger_crypto::HashValue;
use ledger_test_support::http::number;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Maximum number of remembered bodies. All are forgotten when it is exceeded.
const BODIES_MAX: usize = 20_000;

/// A block, as first received.
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

/// All known facts.
#[derive(Debug, Default)]
pub struct Known {
    blocks: BTreeMap<u64, Block>,
    /// The payer's transfers, by sequence number.
    transfers: Vec<Transfer>,
    bodies: HashMap<String, u64>,
}

impl Known {
    /// Records a block. It must equal an earlier record of it, and be adjacent to its neighbors.
    pub fn record_block(&mut self, height: u64, block: &Block) {
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
        let first = self.blocks.entry(height).or_insert_with(|| block.clone());
        assert_eq!(first, block, "block {height} has changed");
    }

    /// Records a transfer of the payer, unless an earlier one is unknown.
    pub fn record_transfer(&mut self, sequence_number: u64, transfer: Transfer) {
        if sequence_number == self.transfers.len() as u64 {
            self.transfers.push(transfer);
        }
    }

    /// Returns the payer's transfers, by sequence number.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Returns the known transfers of `first_version` and later ones, with their sequence numbers.
    pub fn transfers_from(&self, first_version: u64) -> impl Iterator<Item = (u64, &Transfer)> {
        let first = self
            .transfers
            .partition_point(|transfer| transfer.version < first_version);
        (first as u64..).zip(&self.transfers[first..])
    }

    /// Records the body of an immutable resource. It must equal an earlier body of the same path.
    pub fn record_body(&mut self, path: &str, body: &str) {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let digest = hasher.finish();
        if self.bodies.len() >= BODIES_MAX {
            self.bodies.clear();
        }
        let first = *self.bodies.entry(path.to_owned()).or_insert(digest);
        assert_eq!(first, digest, "{path} had another body before: {body}");
    }
}

impl Block {
    /// Reads a block from the body of a response.
    pub fn from_json(json: &Value) -> Self {
        Self {
            first_version: number(&json["first_version"]),
            last_version: number(&json["last_version"]),
            hash: json["block_hash"].to_string(),
        }
    }
}
