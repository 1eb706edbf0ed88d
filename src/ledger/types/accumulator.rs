//! The append-only Merkle tree over all transactions.
//!
//! The tree is stored as the roots of its full subtrees. An append then costs one hash per
//! transaction on average, and a root costs at most 64. The leaves of a block are appended in one
//! call, because nodes of one level can be hashed in parallel, and so can the roots after each
//! leaf.
//!
//! Leaves fill the tree from the left. A subtree without a sibling has the placeholder as its right
//! sibling. Inner nodes are `SHA3-256(seed || left || right)`.

use ledger_crypto::{HashBatch, HashValue, Seed};
use serde::{Deserialize, Serialize};

/// The root of an empty tree, also used for an absent right subtree.
pub const PLACEHOLDER: HashValue = HashValue::new(*b"ACCUMULATOR_PLACEHOLDER_HASH\0\0\0\0");

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
    fn roots(&self, count: u64, seed: &Seed) -> Vec<HashValue> {
        let first = self.previous.leaf_count + 1;
        let counts = first..first + count;
        let mut roots: Vec<_> = counts
            .clone()
            .map(|leaf_count| self.peak(leaf_count, leaf_count.trailing_zeros()))
            .collect();
        let mut batch = HashBatch::with_capacity(roots.len(), NODE_BYTES);
        let mut indices = Vec::new();
        for level in 0..tree_height(counts.end - 1) {
            for (root, leaf_count) in roots.iter().zip(counts.clone()) {
                // The path from the smallest peak of the tree to its root spans these levels only.
                if !(leaf_count.trailing_zeros()..tree_height(leaf_count)).contains(&level) {
                    continue;
                }
                indices.push((leaf_count - first) as usize);
                let is_smallest = level == leaf_count.trailing_zeros();
                if !is_smallest && leaf_count >> level & 1 == 1 {
                    let left = self.peak(leaf_count, level);
                    batch.push(seed, &[left.as_bytes(), root.as_bytes()]);
                } else {
                    batch.push(seed, &[root.as_bytes(), PLACEHOLDER.as_bytes()]);
                }
            }
            for (index, root) in indices.drain(..).zip(batch.finish()) {
                roots[index] = root;
            }
        }
        roots
    }
}

/// Returns the number of levels above the leaves of a tree with `leaf_count` leaves.
fn tree_height(leaf_count: u64) -> u32 {
    leaf_count.next_power_of_two().trailing_zeros()
}

/// Returns the roots of many trees. Each element of `trees` has the leaves of one tree.
pub fn roots_of(mut trees: Vec<Vec<HashValue>>, seed: &Seed) -> Vec<HashValue> {
    let leaf_count: usize = trees.iter().map(Vec::len).sum();
    // A tree with an odd number of leaves has a pair of one leaf and the placeholder.
    let mut batch = HashBatch::with_capacity(leaf_count / 2 + trees.len(), NODE_BYTES);
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

/// Returns the root of the tree with these leaves.
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

    /// Returns the root of a tree of `size` leaves, computed directly from the definition.
    ///
    /// Placeholders pad the leaves to a power of two. A subtree of placeholders only is itself the
    /// placeholder.
    fn root_by_definition(leaves: &[HashValue], size: usize, seed: &Seed) -> HashValue {
        if leaves.is_empty() {
            return PLACEHOLDER;
        }
        if size == 1 {
            return leaves[0];
        }
        let (left, right) = leaves.split_at(leaves.len().min(size / 2));
        let halves = [left, right].map(|leaves| root_by_definition(leaves, size / 2, seed));
        seed.hash(&[halves[0].as_bytes(), halves[1].as_bytes()])
    }

    #[test]
    fn roots_of_all_sizes_match_the_definition() {
        let seed = Seed::new("NODE", "TransactionAccumulator");
        let leaves: Vec<_> = (0..130).map(leaf).collect();
        let mut one_by_one = Accumulator::default();
        for count in 0..=leaves.len() {
            let expected = root_by_definition(&leaves[..count], count.next_power_of_two(), &seed);
            assert_eq!(
                root_of(leaves[..count].iter().copied(), &seed),
                expected,
                "{count} leaves"
            );
            if let Some(&leaf) = leaves.get(count) {
                let roots = one_by_one.extend(vec![leaf], &seed);
                let expected =
                    root_by_definition(&leaves[..=count], (count + 1).next_power_of_two(), &seed);
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

        #[test]
        fn roots_of_many_trees_equal_single_roots(sizes in vec(0..12u64, 0..20)) {
            let seed = Seed::new("NODE", "EventAccumulator");
            let trees: Vec<Vec<_>> = sizes.iter().map(|&size| (0..size).map(leaf).collect()).collect();
            let expected: Vec<_> = trees
                .iter()
                .map(|tree| root_by_definition(tree, tree.len().next_power_of_two(), &seed))
                .collect();
            prop_assert_eq!(roots_of(trees, &seed), expected);
        }
    }
}
