//! The pending transactions of one account that have sequence numbers, in ascending order.
//!
//! From the account's sequence number upward, transactions are first *taken* (a block that is not
//! durable yet holds them), then *ready* (they follow without a gap), and *parked* above the first
//! missing number. A block may omit transactions that a later block's transactions follow.
//! Taken transactions are then between waiting ones. The waiting ones above them are not ready, but
//! not parked either, because no number is missing.

use super::{
    entry::{Amount, Entry},
    small_sorted_map::SmallSortedMap,
};

/// The transactions of one account with sequence numbers.
#[derive(Debug, Default)]
pub(super) struct SequenceQueue {
    /// Number of the account's next transaction on the ledger, as far as the pool knows.
    sequence_number: u64,
    /// Lowest number that no block has taken. All numbers from `sequence_number` to before it are
    /// taken.
    next: u64,
    /// End of the ready numbers, which begin at `next`.
    ready_end: u64,
    /// First missing number. Transactions above it are parked unless a block has taken them.
    gap: u64,
    /// End of the numbers, from `next`, that have been the head since they were last parked. These
    /// transactions keep their start tags.
    head_end: u64,
    parked: Amount,
    entries: SmallSortedMap<Entry>,
}

impl SequenceQueue {
    pub(super) fn new(sequence_number: u64) -> Self {
        Self {
            sequence_number,
            next: sequence_number,
            ready_end: sequence_number,
            gap: sequence_number,
            head_end: sequence_number,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    /// Returns the lowest number that no block has taken.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the first missing number, which parked transactions wait for.
    pub(super) fn first_gap(&self) -> u64 {
        self.gap
    }

    pub(super) fn parked(&self) -> Amount {
        self.parked
    }

    pub(super) fn get(&self, sequence_number: u64) -> Option<&Entry> {
        self.entries.get(sequence_number)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter()
    }

    /// Returns the transaction that a block takes next.
    pub(super) fn head(&self) -> Option<&Entry> {
        (self.next < self.ready_end)
            .then(|| self.entries.get(self.next))
            .flatten()
    }

    /// Returns the head if it has become the head since the last call.
    ///
    /// A transaction that a block returned has been the head before.
    pub(super) fn new_head(&mut self) -> Option<&mut Entry> {
        if self.next == self.ready_end || self.next < self.head_end {
            return None;
        }
        self.head_end = self.next + 1;
        self.entries.get_mut(self.next)
    }

    /// Returns the highest parked number.
    pub(super) fn highest_parked(&self) -> Option<u64> {
        let mut parked = self.entries.range_from(self.gap).rev();
        parked
            .find(|(_, entry)| !entry.is_taken)
            .map(|(number, _)| number)
    }

    /// Returns the amount of parked transactions that a transaction at the first gap would promote.
    ///
    /// `excluded` is a number that is treated as missing.
    pub(super) fn amount_promoted_by_gap(&self, excluded: Option<u64>) -> Amount {
        let mut amount = Amount::default();
        let mut expected = self.gap;
        for (number, entry) in self.entries.range_from(self.gap.saturating_add(1)) {
            expected += 1;
            if number != expected || excluded == Some(number) {
                break;
            }
            if !entry.is_taken {
                amount.add(Amount::of(entry));
            }
        }
        amount
    }

    /// Inserts a transaction and returns the waiting transaction that it replaces, if any.
    ///
    /// No block may have taken the one with the same number.
    pub(super) fn insert(&mut self, sequence_number: u64, entry: Entry) -> Option<Entry> {
        let amount = Amount::of(&entry);
        let replaced = self.entries.insert(sequence_number, entry);
        if let Some(replaced) = &replaced {
            if sequence_number >= self.gap {
                self.parked.remove(Amount::of(replaced));
                self.parked.add(amount);
            }
        } else if sequence_number >= self.gap {
            self.parked.add(amount);
            self.promote();
        }
        replaced
    }

    /// Marks the head as taken by a block and returns it.
    pub(super) fn take(&mut self) -> Option<Entry> {
        if self.next == self.ready_end {
            return None;
        }
        let entry = self.entries.get_mut(self.next)?;
        entry.is_taken = true;
        let entry = entry.clone();
        self.next += 1;
        // Transactions that other blocks have taken may follow if one before them was omitted or
        // rejected.
        if self.next == self.ready_end && self.entries.get(self.next).is_some() {
            self.recompute_marks();
        }
        Some(entry)
    }

    /// Makes taken transactions wait again, because their block did not execute them.
    ///
    /// Returns the transactions that were taken before the call. One call handles all transactions
    /// of a block, because each call scans the queue and a block may have many of one account.
    pub(super) fn release(&mut self, sequence_numbers: &[u64]) -> Vec<Entry> {
        let mut released = Vec::new();
        for &number in sequence_numbers {
            if let Some(entry) = self.entries.get_mut(number).filter(|entry| entry.is_taken) {
                entry.is_taken = false;
                released.push(entry.clone());
            }
        }
        self.recompute_marks();
        released
    }

    /// Removes a transaction. The waiting ones above it are then parked.
    ///
    /// Only these are visited, and not again until the gap is filled, so it is cheap to remove many
    /// transactions in any order.
    pub(super) fn remove(&mut self, sequence_number: u64) -> Option<Entry> {
        let entry = self.entries.remove(sequence_number)?;
        if sequence_number >= self.gap {
            if !entry.is_taken {
                self.parked.remove(Amount::of(&entry));
            }
            return Some(entry);
        }
        let after = self.entries.range_from(sequence_number);
        for (_, later) in after.take_while(|(number, _)| *number < self.gap) {
            if !later.is_taken {
                self.parked.add(Amount::of(later));
            }
        }
        self.next = self.next.min(sequence_number);
        self.ready_end = self.ready_end.min(sequence_number);
        self.gap = sequence_number;
        self.head_end = self.head_end.min(sequence_number);
        Some(entry)
    }

    /// Removes the transactions below `sequence_number`, because the ledger has passed them.
    ///
    /// Returns them in ascending order.
    pub(super) fn advance(&mut self, sequence_number: u64) -> Vec<Entry> {
        let mut removed = Vec::new();
        while let Some(lowest) = self
            .entries
            .first_key()
            .filter(|&lowest| lowest < sequence_number)
        {
            removed.extend(self.entries.remove(lowest));
        }
        self.sequence_number = self.sequence_number.max(sequence_number);
        // If all removed transactions were taken, as on a node that makes its own blocks, the marks
        // are still valid.
        if self.next < self.sequence_number || removed.iter().any(|entry| !entry.is_taken) {
            self.recompute_marks();
        }
        removed
    }

    /// Advances the first gap and the end of the ready transactions over the transactions that
    /// follow.
    fn promote(&mut self) {
        while let Some(entry) = self.entries.get(self.gap) {
            if !entry.is_taken {
                self.parked.remove(Amount::of(entry));
            }
            self.gap += 1;
        }
        while self.ready_end < self.gap
            && self
                .entries
                .get(self.ready_end)
                .is_some_and(|entry| !entry.is_taken)
        {
            self.ready_end += 1;
        }
    }

    /// Recomputes which transactions are taken, ready and parked.
    fn recompute_marks(&mut self) {
        self.next = self.sequence_number;
        while self
            .entries
            .get(self.next)
            .is_some_and(|entry| entry.is_taken)
        {
            self.next += 1;
        }
        self.ready_end = self.next;
        self.gap = self.next;
        self.parked = Amount::default();
        for (_, entry) in self.entries.range_from(self.next) {
            if !entry.is_taken {
                self.parked.add(Amount::of(entry));
            }
        }
        self.promote();
        self.head_end = self.head_end.min(self.gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::draft::draft;
    use proptest::prelude::*;

    fn entry(number: u64) -> Entry {
        Entry {
            transaction: draft(1, number).checked(),
            insertion: number,
            start_tag: 0,
            cost_usecs: 1 + number,
            inserted_at_secs: 0,
            expires_at_secs: 1,
            admitted_ticks: 0,
            is_taken: false,
        }
    }

    /// An operation on the queue. The argument is a sequence number.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(u64),
        Take,
        Release(u64),
        Remove(u64),
        Advance(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..12u64).prop_map(Step::Insert),
            4 => Just(Step::Take),
            1 => (0..12u64).prop_map(Step::Release),
            2 => (0..12u64).prop_map(Step::Remove),
            1 => (0..6u64).prop_map(Step::Advance),
        ]
    }

    proptest! {
        /// Compares the marks that each step updates incrementally with recomputed ones.
        #[test]
        fn marks_equal_recomputed_ones_after_every_step(steps in prop::collection::vec(step(), 0..60)) {
            let mut queue = SequenceQueue::new(0);
            for step in steps {
                match step {
                    Step::Insert(number) => {
                        let is_taken = queue.get(number).is_some_and(|entry| entry.is_taken);
                        if number >= queue.sequence_number && !is_taken {
                            queue.insert(number, entry(number));
                        }
                    }
                    Step::Take => drop(queue.take()),
                    Step::Release(number) => drop(queue.release(&[number])),
                    Step::Remove(number) => drop(queue.remove(number)),
                    Step::Advance(number) => drop(queue.advance(number)),
                }
                let marks = |queue: &SequenceQueue| (queue.next, queue.ready_end, queue.gap, queue.parked);
                let incremental = marks(&queue);
                queue.recompute_marks();
                prop_assert_eq!(incremental, marks(&queue), "after {:?}", step);
            }
        }
    }
}
