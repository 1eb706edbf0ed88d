//! The append-only Merkle tree over all transactions, kept as the roots of its full subtrees, so
//! that appending costs one hash per transaction on average and a root costs at most 64. The leaves of a block are
//! appended together, because nodes of one level, and the roots after each leaf, can be hashed side by side.
//!
//! Leaves fill the tree from the left; the sibling of a last, lonely subtree is the placeholder.
//! Inner nodes are `SHA3-256(seed || left || right)`.

use ledger_crypto::{HashBatch, HashValue, Seed};
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
    /// Appends leaves, and gives the root after each of them.
    pub fn extend(&mut self, leaves: Vec<HashValue>, seed: &Seed) -> Vec<HashValue> {
        let count = leaves.len() as u64;
        let grown = Grown::new(self, leaves, seed);
        let roots = grown.roots(count, seed);
        let leaf_count = self.leaf_count + count;
        *self = Self {
            leaf_count,
            peaks: levels_of(leaf_count)
                .rev()
                .map(|level| grown.peak(leaf_count, level))
                .collect(),
        };
        roots
    }
}

/// The levels of the full subtrees of a tree with so many leaves, the smallest first.
fn levels_of(leaf_count: u64) -> impl DoubleEndedIterator<Item = u32> {
    (0..u64::BITS).filter(move |level| leaf_count >> level & 1 == 1)
}

/// A tree while leaves are appended to it.
struct Grown<'a> {
    before: &'a Accumulator,
    /// By level, the full subtrees that the new leaves complete; the leaves themselves are level 0.
    completed: Vec<Vec<HashValue>>,
}

impl<'a> Grown<'a> {
    fn new(before: &'a Accumulator, leaves: Vec<HashValue>, seed: &Seed) -> Self {
        let mut grown = Self {
            before,
            completed: vec![leaves],
        };
        let mut batch = HashBatch::default();
        for level in 0..u64::BITS {
            let lower = &grown.completed[level as usize];
            // A subtree that waits for its right half is a peak of the tree before.
            let waiting =
                (before.leaf_count >> level & 1 == 1).then(|| grown.peak(before.leaf_count, level));
            let mut nodes = waiting.iter().chain(lower);
            while let (Some(left), Some(right)) = (nodes.next(), nodes.next()) {
                batch.push(seed, &[left.as_bytes(), right.as_bytes()]);
            }
            let completed = batch.finish();
            if completed.is_empty() {
                break;
            }
            grown.completed.push(completed);
        }
        grown
    }

    /// The full subtree of this level that is the last one of so many leaves; there must be one.
    fn peak(&self, leaf_count: u64, level: u32) -> HashValue {
        let subtrees_before = self.before.leaf_count >> level;
        match ((leaf_count >> level) - 1).checked_sub(subtrees_before) {
            Some(index) => self.completed[level as usize][index as usize],
            // It was there before: the peak after as many others as there are larger ones.
            None => {
                let larger = (self.before.leaf_count >> level >> 1).count_ones();
                self.before.peaks[larger as usize]
            }
        }
    }

    /// The roots after the first, the second, ... of `count` new leaves.
    fn roots(&self, count: u64, seed: &Seed) -> Vec<HashValue> {
        let first = self.before.leaf_count + 1;
        let counts = first..first + count;
        let mut roots: Vec<_> = counts
            .clone()
            .map(|leaf_count| self.peak(leaf_count, leaf_count.trailing_zeros()))
            .collect();
        let mut batch = HashBatch::default();
        let mut grows = Vec::new();
        for level in 0..height_of(counts.end - 1) {
            for (root, leaf_count) in roots.iter().zip(counts.clone()) {
                // Below its smallest peak a tree has nothing, and above its height neither.
                if !(leaf_count.trailing_zeros()..height_of(leaf_count)).contains(&level) {
                    continue;
                }
                grows.push((leaf_count - first) as usize);
                let is_smallest = level == leaf_count.trailing_zeros();
                if !is_smallest && leaf_count >> level & 1 == 1 {
                    let left = self.peak(leaf_count, level);
                    batch.push(seed, &[left.as_bytes(), root.as_bytes()]);
                } else {
                    batch.push(seed, &[root.as_bytes(), PLACEHOLDER.as_bytes()]);
                }
            }
            for (index, root) in grows.drain(..).zip(batch.finish()) {
                roots[index] = root;
            }
        }
        roots
    }
}

/// How many levels of nodes lie above the leaves of a tree.
fn height_of(leaf_count: u64) -> u32 {
    leaf_count.next_power_of_two().trailing_zeros()
}

/// The roots of many trees, each of the leaves of one of `trees`.
pub fn roots_of(mut trees: Vec<Vec<HashValue>>, seed: &Seed) -> Vec<HashValue> {
    let mut batch = HashBatch::default();
    while trees.iter().any(|level| level.len() > 1) {
        for level in trees.iter().filter(|level| level.len() > 1) {
            for pair in level.chunks(2) {
                let right = pair.get(1).unwrap_or(&PLACEHOLDER);
                batch.push(seed, &[pair[0].as_bytes(), right.as_bytes()]);
            }
        }
        let mut nodes = batch.finish().into_iter();
        for level in trees.iter_mut().filter(|level| level.len() > 1) {
            let above = level.len().div_ceil(2);
            level.clear();
            level.extend(nodes.by_ref().take(above));
        }
    }
    let root = |tree: Vec<HashValue>| tree.first().copied().unwrap_or(PLACEHOLDER);
    trees.into_iter().map(root).collect()
}

/// The root over `leaves`.
pub fn root_of(leaves: impl IntoIterator<Item = HashValue>, seed: &Seed) -> HashValue {
    roots_of(vec![leaves.into_iter().collect()], seed)[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

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
        let halves = [left, right].map(|leaves| naive(leaves, size / 2, seed));
        seed.hash(&[halves[0].as_bytes(), halves[1].as_bytes()])
    }

    #[test]
    fn every_size_matches_the_definition() {
        let seed = Seed::new("NODE", "TransactionAccumulator");
        let leaves: Vec<_> = (0..130).map(leaf).collect();
        let mut one_by_one = Accumulator::default();
        for count in 0..=leaves.len() {
            let expected = naive(&leaves[..count], count.next_power_of_two(), &seed);
            assert_eq!(
                root_of(leaves[..count].iter().copied(), &seed),
                expected,
                "{count} leaves"
            );
            if let Some(&leaf) = leaves.get(count) {
                let roots = one_by_one.extend(vec![leaf], &seed);
                let expected = naive(&leaves[..=count], (count + 1).next_power_of_two(), &seed);
                assert_eq!(roots, [expected], "{count} leaves and one");
            }
        }
    }

    proptest! {
        /// However the leaves come, each of them has the root that it would have alone.
        #[test]
        fn leaves_together_are_leaves_one_by_one(groups in vec(0..70usize, 0..8)) {
            let seed = Seed::new("NODE", "TransactionAccumulator");
            let (mut one_by_one, mut together) = (Accumulator::default(), Accumulator::default());
            let mut next = 0..;
            for count in groups {
                let leaves: Vec<_> = next.by_ref().take(count).map(leaf).collect();
                let alone: Vec<_> = leaves.iter().flat_map(|&leaf| one_by_one.extend(vec![leaf], &seed)).collect();
                prop_assert_eq!(together.extend(leaves, &seed), alone);
                prop_assert_eq!(&together, &one_by_one);
            }
        }

        #[test]
        fn trees_together_are_trees_alone(sizes in vec(0..12u64, 0..20)) {
            let seed = Seed::new("NODE", "EventAccumulator");
            let trees: Vec<Vec<_>> = sizes.iter().map(|&size| (0..size).map(leaf).collect()).collect();
            let alone: Vec<_> = trees
                .iter()
                .map(|tree| naive(tree, tree.len().next_power_of_two(), &seed))
                .collect();
            prop_assert_eq!(roots_of(trees, &seed), alone);
        }
    }
}
