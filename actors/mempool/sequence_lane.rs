//! The pending transactions of one account that have sequence numbers, in their order.
//!
//! Seen from the account's sequence number up, they are first *taken* (a block has them that is not
//! durable yet), then *ready* (they follow without a gap), and from the first missing number on *parked*.
//! Where a block left some out that a later block's follow, taken ones stand between ready ones: those
//! above wait for them, but are not parked, because no number is missing.

use super::{
    entry::{Amount, Entry},
    small_map::SmallSortedMap,
};

/// The transactions with sequence numbers of one account.
#[derive(Debug, Default)]
pub(super) struct SequenceQueue {
    /// The number of its next transaction on the ledger, as far as the pool knows.
    sequence_number: u64,
    /// The next that a block would get: all from `sequence_number` to before it are taken.
    next: u64,
    /// All from `next` to before it are ready.
    ready_end: u64,
    /// The first missing number: what lies above it is parked.
    gap: u64,
    /// All from `next` to before it have been the head since they were last parked: they keep their turns.
    exposed_end: u64,
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
            exposed_end: sequence_number,
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

    /// The lowest number that no block has.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The number that parked transactions wait for: the first that is missing.
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

    /// The transaction that a block would get next.
    pub(super) fn head(&self) -> Option<&Entry> {
        (self.next < self.ready_end)
            .then(|| self.entries.get(self.next))
            .flatten()
    }

    /// The head, if it has become that since the last call. One that a block gave back has been it before.
    pub(super) fn expose_head(&mut self) -> Option<&mut Entry> {
        if self.next == self.ready_end || self.next < self.exposed_end {
            return None;
        }
        self.exposed_end = self.next + 1;
        self.entries.get_mut(self.next)
    }

    /// The highest parked number.
    pub(super) fn highest_parked(&self) -> Option<u64> {
        let mut parked = self.entries.range_from(self.gap).rev();
        parked
            .find(|(_, entry)| !entry.taken)
            .map(|(number, _)| number)
    }

    /// What would be parked no longer with a newcomer at the first gap, except `but_not`.
    pub(super) fn promoted_by_gap(&self, but_not: Option<u64>) -> Amount {
        let mut amount = Amount::default();
        let mut expected = self.gap;
        for (number, entry) in self.entries.range_from(self.gap.saturating_add(1)) {
            expected += 1;
            if number != expected || but_not == Some(number) {
                break;
            }
            if !entry.taken {
                amount.add(Amount::of(entry));
            }
        }
        amount
    }

    /// Puts a transaction at a free number, or in the place of one that no block has.
    pub(super) fn insert(&mut self, sequence_number: u64, entry: Entry) -> Option<Entry> {
        let amount = Amount::of(&entry);
        let before = self.entries.insert(sequence_number, entry);
        if let Some(before) = &before {
            if sequence_number >= self.gap {
                self.parked.remove(Amount::of(before));
                self.parked.add(amount);
            }
        } else if sequence_number >= self.gap {
            self.parked.add(amount);
            self.promote();
        }
        before
    }

    /// Takes the head for a block.
    pub(super) fn take(&mut self) -> Option<Entry> {
        if self.next == self.ready_end {
            return None;
        }
        let entry = self.entries.get_mut(self.next)?;
        entry.taken = true;
        let entry = entry.clone();
        self.next += 1;
        // What other blocks have may follow, where one before it had gone back or was refused.
        if self.next == self.ready_end && self.entries.get(self.next).is_some() {
            self.settle();
        }
        Some(entry)
    }

    /// Gives taken transactions back: their block did not execute them. At once for all of a block,
    /// which may have many of one account. Tells which those were.
    pub(super) fn untake(&mut self, sequence_numbers: &[u64]) -> Vec<Entry> {
        let mut back = Vec::new();
        for &number in sequence_numbers {
            if let Some(entry) = self.entries.get_mut(number).filter(|entry| entry.taken) {
                entry.taken = false;
                back.push(entry.clone());
            }
        }
        self.settle();
        back
    }

    /// Takes one out; those above it wait for its number then. Only these are looked at, and none of them
    /// again until its gap is filled, so that it costs little to take out many, in whatever order.
    pub(super) fn remove(&mut self, sequence_number: u64) -> Option<Entry> {
        let entry = self.entries.remove(sequence_number)?;
        if sequence_number >= self.gap {
            if !entry.taken {
                self.parked.remove(Amount::of(&entry));
            }
            return Some(entry);
        }
        let after = self.entries.range_from(sequence_number);
        for (_, later) in after.take_while(|(number, _)| *number < self.gap) {
            if !later.taken {
                self.parked.add(Amount::of(later));
            }
        }
        self.next = self.next.min(sequence_number);
        self.ready_end = self.ready_end.min(sequence_number);
        self.gap = sequence_number;
        self.exposed_end = self.exposed_end.min(sequence_number);
        Some(entry)
    }

    /// The ledger has executed all below `sequence_number`: they leave, in order.
    pub(super) fn advance(&mut self, sequence_number: u64) -> Vec<Entry> {
        let mut gone = Vec::new();
        while let Some(lowest) = self
            .entries
            .first_key()
            .filter(|&lowest| lowest < sequence_number)
        {
            gone.extend(self.entries.remove(lowest));
        }
        self.sequence_number = self.sequence_number.max(sequence_number);
        // When all were taken, which is the way of a node that makes its own blocks, nothing else moves.
        if self.next < self.sequence_number || gone.iter().any(|entry| !entry.taken) {
            self.settle();
        }
        gone
    }

    /// Moves the first gap and the end of the ready ones over what follows them.
    fn promote(&mut self) {
        while let Some(entry) = self.entries.get(self.gap) {
            if !entry.taken {
                self.parked.remove(Amount::of(entry));
            }
            self.gap += 1;
        }
        while self.ready_end < self.gap
            && self
                .entries
                .get(self.ready_end)
                .is_some_and(|entry| !entry.taken)
        {
            self.ready_end += 1;
        }
    }

    /// Finds anew what is taken, ready and parked.
    fn settle(&mut self) {
        self.next = self.sequence_number;
        while self.entries.get(self.next).is_some_and(|entry| entry.taken) {
            self.next += 1;
        }
        self.ready_end = self.next;
        self.gap = self.next;
        self.parked = Amount::default();
        for (_, entry) in self.entries.range_from(self.next) {
            if !entry.taken {
                self.parked.add(Amount::of(entry));
            }
        }
        self.promote();
        self.exposed_end = self.exposed_end.min(self.gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft;
    use proptest::prelude::*;

    fn entry(number: u64) -> Entry {
        Entry {
            transaction: draft(1, number).checked(),
            insertion: number,
            start_tag: 0,
            inserted_at_secs: 0,
            expires_at_secs: 1,
            taken: false,
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(u64),
        Take,
        Untake(u64),
        Remove(u64),
        Advance(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..12u64).prop_map(Step::Insert),
            4 => Just(Step::Take),
            1 => (0..12u64).prop_map(Step::Untake),
            2 => (0..12u64).prop_map(Step::Remove),
            1 => (0..6u64).prop_map(Step::Advance),
        ]
    }

    proptest! {
        /// What each step changes in place is what looking at everything finds.
        #[test]
        fn the_marks_are_where_they_would_be_found(steps in prop::collection::vec(step(), 0..60)) {
            let mut lane = SequenceQueue::new(0);
            for step in steps {
                match step {
                    Step::Insert(number) => {
                        let is_taken = lane.get(number).is_some_and(|entry| entry.taken);
                        if number >= lane.sequence_number && !is_taken {
                            lane.insert(number, entry(number));
                        }
                    }
                    Step::Take => drop(lane.take()),
                    Step::Untake(number) => drop(lane.untake(&[number])),
                    Step::Remove(number) => drop(lane.remove(number)),
                    Step::Advance(number) => drop(lane.advance(number)),
                }
                let marks = |lane: &SequenceQueue| (lane.next, lane.ready_end, lane.gap, lane.parked);
                let kept = marks(&lane);
                lane.settle();
                prop_assert_eq!(kept, marks(&lane), "after {:?}", step);
            }
        }
    }
}
