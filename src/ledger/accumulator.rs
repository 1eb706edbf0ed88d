//! The append-only Merkle tree over all transactions, kept as the roots of its full subtrees, so
//! that appending costs one hash per transaction on average and a root costs at most 64.
//!
//! Leaves fill the tree from the left; the sibling of a last, lonely subtree is the placeholder.
//! Inner nodes are `SHA3-256(seed || left || right)`.

use crate::{HashValue, hash::Seed};
use serde::{Deserialize, Serialize};

/// Stands for an absent right subtree, and is the root of the empty tree.
pub const PLACEHOLDER: HashValue = HashValue::new(*b"ACCUMULATOR_PLACEHOLDER_HASH\0\0\0\0");

/// An append-only Merkle tree, without its inner nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Accumulator {
    leaf_count: u64,
    /// Roots of the full subtrees, largest first: one per set bit of `leaf_count`.
    peaks: Vec<HashValue>,
}

impl Accumulator {
    /// How many leaves were appended.
    pub fn leaf_count(&self) -> u64 {
        self.leaf_count
    }

    /// Appends a leaf.
    pub fn append(&mut self, leaf: HashValue, seed: &Seed) {
        let mut node = leaf;
        // Every trailing one bit of the count is a full subtree that the new one completes.
        for _ in 0..self.leaf_count.trailing_ones() {
            let left = self.peaks.pop().expect("one peak per set bit");
            node = inner(left, node, seed);
        }
        self.peaks.push(node);
        self.leaf_count += 1;
    }

    /// The root.
    pub fn root(&self, seed: &Seed) -> HashValue {
        let mut levels = (0..u64::BITS).filter(|level| self.leaf_count >> level & 1 == 1);
        let mut peaks = self.peaks.iter().rev();
        let (Some(mut level), Some(&smallest)) = (levels.next(), peaks.next()) else {
            return PLACEHOLDER;
        };
        let mut node = smallest;
        for (peak_level, &left) in levels.zip(peaks) {
            while level < peak_level {
                node = inner(node, PLACEHOLDER, seed);
                level += 1;
            }
            node = inner(left, node, seed);
            level += 1;
        }
        node
    }
}

fn inner(left: HashValue, right: HashValue, seed: &Seed) -> HashValue {
    seed.hash(&[left.as_bytes(), right.as_bytes()])
}

/// The root over `leaves`.
pub fn root_of(leaves: impl IntoIterator<Item = HashValue>, seed: &Seed) -> HashValue {
    let mut tree = Accumulator::default();
    for leaf in leaves {
        tree.append(leaf, seed);
    }
    tree.root(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(n: u64) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    /// The definition, written the slow way: pad with placeholders to a power of two, where a
    /// subtree of placeholders only is itself the placeholder.
    fn naive(leaves: &[HashValue], size: usize, seed: &Seed) -> HashValue {
        if leaves.is_empty() {
            return PLACEHOLDER;
        }
        if size == 1 {
            return leaves[0];
        }
        let (left, right) = leaves.split_at(leaves.len().min(size / 2));
        inner(naive(left, size / 2, seed), naive(right, size / 2, seed), seed)
    }

    #[test]
    fn every_size_matches_the_definition() {
        let seed = Seed::new("NODE", "TransactionAccumulator");
        let mut tree = Accumulator::default();
        let mut leaves = Vec::new();
        assert_eq!(tree.root(&seed), PLACEHOLDER);
        for n in 0..130 {
            tree.append(leaf(n), &seed);
            leaves.push(leaf(n));
            let size = leaves.len().next_power_of_two();
            assert_eq!(tree.root(&seed), naive(&leaves, size, &seed), "{} leaves", n + 1);
        }
    }
}
