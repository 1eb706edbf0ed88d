//! Memtables: the newest entries of an index, in memory until they are flushed as a run.
//!
//! A memtable is a list of sorted tiers, oldest first, each at least twice as long as the next. New
//! entries merge with the tiers that are too short for that. With n entries, each is copied at most
//! log2(n) times, and there are at most log2(n) tiers to search. Tiers are immutable, so a clone
//! for a reader costs only their reference counts.

use std::{cmp::Ordering, ops::Range, sync::Arc};

/// Sorted entries of one width, in one allocation.
#[derive(Debug)]
pub(crate) struct SortedEntries {
    bytes: Vec<u8>,
    width: usize,
}

impl SortedEntries {
    /// Creates the value from sorted entries of `width` bytes each.
    pub(crate) fn new(bytes: Vec<u8>, width: usize) -> Self {
        Self { bytes, width }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Returns the entries in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.width)
    }

    /// Returns the entries from `low` to `high`, both inclusive, in order.
    pub(crate) fn between(
        &self,
        low: &[u8],
        high: &[u8],
    ) -> impl DoubleEndedIterator<Item = &[u8]> {
        let range = between(&self.bytes, self.width, low, high);
        self.bytes[range].chunks_exact(self.width)
    }
}

/// Returns the byte range of the entries from `low` to `high`, both inclusive, among sorted
/// entries.
pub(crate) fn between(bytes: &[u8], width: usize, low: &[u8], high: &[u8]) -> Range<usize> {
    let entry = |i: usize| &bytes[i * width..(i + 1) * width];
    let partition = |mut from: usize, mut to: usize, is_before: &dyn Fn(&[u8]) -> bool| {
        while from < to {
            let middle = from + (to - from) / 2;
            if is_before(entry(middle)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    };
    let all = bytes.len() / width;
    let start = partition(0, all, &|entry| entry < low);
    // Usually few entries match. The search for the end so reads adjacent entries first, in steps
    // that double.
    let mut step = 1;
    while start + step <= all && entry(start + step - 1) <= high {
        step *= 2;
    }
    let end = partition(start + step / 2, all.min(start + step - 1), &|entry| {
        entry <= high
    });
    start * width..end * width
}

/// Entries of an index that are in no run yet. Clones are cheap.
#[derive(Clone, Debug)]
pub(crate) struct Memtable {
    width: usize,
    tiers: Vec<Arc<SortedEntries>>,
}

impl Memtable {
    /// Creates an empty memtable of entries of `width` bytes.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            tiers: Vec::new(),
        }
    }

    /// Adds sorted entries, which are newer than all entries before.
    pub(crate) fn push(&mut self, entries: Vec<u8>) {
        if entries.is_empty() {
            return;
        }
        let mut newest = SortedEntries::new(entries, self.width);
        while let Some(last) = self.tiers.last()
            && last.len() < newest.len() * 2
        {
            newest = merge(last, &newest);
            self.tiers.pop();
        }
        self.tiers.push(Arc::new(newest));
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.tiers.iter().map(|tier| tier.len()).sum()
    }

    /// Returns the sorted tiers, oldest first.
    pub(crate) fn tiers(&self) -> &[Arc<SortedEntries>] {
        &self.tiers
    }

    /// Removes and returns all entries.
    pub(crate) fn take(&mut self) -> SortedEntries {
        let mut all = SortedEntries::new(Vec::new(), self.width);
        while let Some(tier) = self.tiers.pop() {
            all = merge(&tier, &all);
        }
        all
    }
}

/// Merges two sorted lists. Of equal entries, those of `a` come first.
fn merge(a: &SortedEntries, b: &SortedEntries) -> SortedEntries {
    let mut bytes = Vec::with_capacity(a.bytes.len() + b.bytes.len());
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let from_left = match (left.peek(), right.peek()) {
            (Some(x), Some(y)) => x.cmp(y) != Ordering::Greater,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => break,
        };
        let next = if from_left { left.next() } else { right.next() };
        bytes.extend_from_slice(next.unwrap_or_default());
    }
    SortedEntries::new(bytes, a.width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn returns_all_pushed_entries_sorted(groups in prop::collection::vec(prop::collection::vec(any::<u16>(), 0..40), 0..40)) {
            let mut memtable = Memtable::new(2);
            let mut expected: Vec<u16> = Vec::new();
            for group in groups {
                expected.extend(&group);
                let mut entries: Vec<[u8; 2]> = group.iter().map(|n| n.to_be_bytes()).collect();
                entries.sort_unstable();
                memtable.push(entries.into_flattened());
                prop_assert!(memtable.tiers().len() <= 12);
            }
            expected.sort_unstable();
            prop_assert_eq!(memtable.len(), expected.len());
            let all: Vec<u16> = memtable.take().iter().map(|e| u16::from_be_bytes([e[0], e[1]])).collect();
            prop_assert_eq!(all, expected);
        }

        #[test]
        fn finds_entries_between_inclusive_bounds(mut entries: Vec<u16>, low: u16, high: u16) {
            entries.sort_unstable();
            let bytes: Vec<u8> = entries.iter().flat_map(|n| n.to_be_bytes()).collect();
            let packed = SortedEntries::new(bytes, 2);
            let found: Vec<u16> = packed
                .between(&low.to_be_bytes(), &high.to_be_bytes())
                .map(|e| u16::from_be_bytes([e[0], e[1]]))
                .collect();
            let expected: Vec<u16> = entries.into_iter().filter(|n| (low..=high).contains(n)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
