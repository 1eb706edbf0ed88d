//! The append-only Merkle tree over all transactions, as RFC 9162 defines it in section 2.1.1.
//!
//! A tree splits at the largest power of two below its number of leaves. Inner nodes are
//! `SHA3-256(seed || left || right)`, and the root of an empty tree is `SHA3-256(seed)`.
//!
//! The tree is stored as the roots of its full subtrees, the *peaks*. An append then costs one hash
//! per transaction on average, and the root one hash less than there are peaks. The leaves of a
//! block are appended in one call, because nodes of one level can be hashed in parallel, and so can
//! the roots after each leaf.

use ledger_crypto::{HashBatch, HashValue, Seed};
use serde::{Deserialize, Serialize};

/// Length of the hashed content of an inner node, in bytes: a prefix and two hashes.
const NODE_BYTES: usize = 3 * HashValue::LENGTH;

/// An append-only Merkle tree, without its inner nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Accumulator {
    leaf_count: u64,
    /// Roots of the full subtrees, largest first: one per set bit of `leaf_count`.
    peaks: Vec<HashValue>,
}

impl Accumulator {
    /// Returns the number of leaves.
    pub fn leaf_count(&self) -> u64 {
        self.leaf_count
    }

    /// Returns the smallest earlier tree with at least `leaf_count_min` leaves that consists of
    /// peaks of this tree.
    ///
    /// With the leaves that follow, it leads to this tree again. So the roots of a ledger can be
    /// computed from there on, although the leaves before are pruned. Returns `None` if the number
    /// of peaks is not that of the leaves.
    pub fn earlier(&self, leaf_count_min: u64) -> Option<Self> {
        if self.peaks.len() != self.leaf_count.count_ones() as usize {
            return None;
        }
        let (mut leaf_count, mut peaks) = (self.leaf_count, self.peaks.len());
        while peaks > 0 && clear_lowest_bit(leaf_count) >= leaf_count_min {
            leaf_count = clear_lowest_bit(leaf_count);
            peaks -= 1;
        }
        Some(Self {
            leaf_count,
            peaks: self.peaks[..peaks].to_vec(),
        })
    }

    /// Appends leaves and returns the root of the tree after each of them.
    pub fn extend(&mut self, leaves: Vec<HashValue>, seed: &Seed) -> Vec<HashValue> {
        let count = leaves.len() as u64;
        let extended = ExtendedTree::new(self, leaves, seed);
        let roots = extended.roots(count, seed);
        let leaf_count = self.leaf_count + count;
        *self = Self {
            leaf_count,
            peaks: full_subtree_levels(leaf_count)
                .rev()
                .map(|level| extended.peak(leaf_count, level))
                .collect(),
        };
        roots
    }
}

/// Returns the levels of the full subtrees of a tree with `leaf_count` leaves, in ascending order.
fn full_subtree_levels(leaf_count: u64) -> impl DoubleEndedIterator<Item = u32> {
    (0..u64::BITS).filter(move |level| leaf_count >> level & 1 == 1)
}

/// A tree during an append.
struct ExtendedTree<'a> {
    previous: &'a Accumulator,
    /// Roots of the full subtrees that the new leaves complete, by level. Level 0 has the leaves.
    completed: Vec<Vec<HashValue>>,
}

impl<'a> ExtendedTree<'a> {
    /// Hashes all full subtrees that `leaves` complete.
    fn new(previous: &'a Accumulator, leaves: Vec<HashValue>, seed: &Seed) -> Self {
        let mut batch = HashBatch::with_capacity(leaves.len() / 2 + 1, NODE_BYTES);
        let mut extended = Self {
            previous,
            completed: vec![leaves],
        };
        for level in 0..u64::BITS {
            let lower = &extended.completed[level as usize];
            // The left node of the first pair may be a peak of the previous tree, which had no
            // right node for it.
            let unpaired = (previous.leaf_count >> level & 1 == 1)
                .then(|| extended.peak(previous.leaf_count, level));
            let mut nodes = unpaired.iter().chain(lower);
            while let (Some(left), Some(right)) = (nodes.next(), nodes.next()) {
                batch.push(seed, &[left.as_bytes(), right.as_bytes()]);
            }
            let completed = batch.finish();
            if completed.is_empty() {
                break;
            }
            extended.completed.push(completed);
        }
        extended
    }

    /// Returns the root of the last full subtree at `level` in a tree with `leaf_count` leaves.
    ///
    /// The tree must have a full subtree at this level.
    fn peak(&self, leaf_count: u64, level: u32) -> HashValue {
        let subtrees_before = self.previous.leaf_count >> level;
        match ((leaf_count >> level) - 1).checked_sub(subtrees_before) {
            Some(index) => self.completed[level as usize][index as usize],
            // The subtree is a peak of the previous tree. Larger peaks precede it.
            None => {
                let larger = (self.previous.leaf_count >> level >> 1).count_ones();
                self.previous.peaks[larger as usize]
            }
        }
    }

    /// Returns the roots of the tree after each of the `count` new leaves.
    ///
    /// The root of a tree is its smallest peak, hashed with each larger peak in ascending order.
    fn roots(&self, count: u64, seed: &Seed) -> Vec<HashValue> {
        let first = self.previous.leaf_count + 1;
        let mut trees: Vec<_> = (first..first + count)
            .map(|leaf_count| UnfinishedRoot {
                root: self.peak(leaf_count, leaf_count.trailing_zeros()),
                leaf_count,
                remaining: clear_lowest_bit(leaf_count),
            })
            .collect();
        let mut batch = HashBatch::with_capacity(trees.len(), NODE_BYTES);
        loop {
            let unfinished = || trees.iter().filter(|tree| tree.remaining != 0);
            for tree in unfinished() {
                let left = self.peak(tree.leaf_count, tree.remaining.trailing_zeros());
                batch.push(seed, &[left.as_bytes(), tree.root.as_bytes()]);
            }
            let nodes = batch.finish();
            if nodes.is_empty() {
                return trees.into_iter().map(|tree| tree.root).collect();
            }
            let unfinished = trees.iter_mut().filter(|tree| tree.remaining != 0);
            for (tree, node) in unfinished.zip(nodes) {
                tree.root = node;
                tree.remaining = clear_lowest_bit(tree.remaining);
            }
        }
    }
}

/// The root of a tree while its peaks are hashed together.
struct UnfinishedRoot {
    /// Root of the smallest peaks.
    root: HashValue,
    leaf_count: u64,
    /// The bits of `leaf_count` whose peaks are not in `root` yet.
    remaining: u64,
}

fn clear_lowest_bit(number: u64) -> u64 {
    number & number.wrapping_sub(1)
}

/// Returns the root of the tree with these leaves.
pub fn root_of(leaves: impl IntoIterator<Item = HashValue>, seed: &Seed) -> HashValue {
    let mut level: Vec<_> = leaves.into_iter().collect();
    let mut batch = HashBatch::with_capacity(level.len() / 2, NODE_BYTES);
    while level.len() > 1 {
        let (pairs, unpaired) = level.as_chunks::<2>();
        for [left, right] in pairs {
            batch.push(seed, &[left.as_bytes(), right.as_bytes()]);
        }
        // A node without a sibling rises to the level where it has one.
        let nodes = batch.finish().into_iter();
        level = nodes.chain(unpaired.iter().copied()).collect();
    }
    level.pop().unwrap_or_else(|| seed.hash(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    fn leaf(n: u64) -> HashValue {
        HashValue::sha3_of(&[&n.to_le_bytes()])
    }

    /// Returns the root of a tree, computed directly from the definition in RFC 9162.
    fn root_by_definition(leaves: &[HashValue], seed: &Seed) -> HashValue {
        match leaves {
            [] => seed.hash(&[]),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                let [left, right] = [left, right].map(|half| root_by_definition(half, seed));
                seed.hash(&[left.as_bytes(), right.as_bytes()])
            }
        }
    }

    #[test]
    fn roots_of_all_sizes_match_the_definition() {
        let seed = Seed::new("NODE", "TransactionAccumulator");
        let leaves: Vec<_> = (0..130).map(leaf).collect();
        let mut one_by_one = Accumulator::default();
        for count in 0..=leaves.len() {
            let expected = root_by_definition(&leaves[..count], &seed);
            let root = root_of(leaves[..count].iter().copied(), &seed);
            assert_eq!(root, expected, "{count} leaves");
            if let Some(&leaf) = leaves.get(count) {
                let roots = one_by_one.extend(vec![leaf], &seed);
                let expected = root_by_definition(&leaves[..=count], &seed);
                assert_eq!(roots, [expected], "{count} leaves and one");
            }
        }
    }

    proptest! {
        /// The grouping of leaves into calls does not change the roots.
        #[test]
        fn batched_appends_equal_single_appends(groups in vec(0..70usize, 0..8)) {
            let seed = Seed::new("NODE", "TransactionAccumulator");
            let (mut one_by_one, mut batched) = (Accumulator::default(), Accumulator::default());
            let mut next = 0..;
            for count in groups {
                let leaves: Vec<_> = next.by_ref().take(count).map(leaf).collect();
                let expected: Vec<_> = leaves.iter().flat_map(|&leaf| one_by_one.extend(vec![leaf], &seed)).collect();
                prop_assert_eq!(batched.extend(leaves, &seed), expected);
                prop_assert_eq!(&batched, &one_by_one);
            }
        }
    }
}
