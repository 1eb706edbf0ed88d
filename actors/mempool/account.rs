//! One account of the pool: its transactions with sequence numbers, which follow each other, its
//! orderless ones, each of which stands alone, and its share of the turns.

use super::{
    entry::{Amount, Entry},
    sequence_lane::SequenceQueue,
    small_map::SmallSortedMap,
    turns::{AccountShares, FairQueue, PriceShare},
};
use ledger_types::ReplayProtector::{self, Nonce, SequenceNumber};

/// One account.
#[derive(Debug)]
pub(super) struct Account {
    sequence: SequenceQueue,
    /// By nonce.
    orderless: SmallSortedMap<Entry>,
    shares: AccountShares,
}

impl Account {
    pub(super) fn new(sequence_number: u64) -> Self {
        Self {
            sequence: SequenceQueue::new(sequence_number),
            orderless: SmallSortedMap::default(),
            shares: AccountShares::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sequence.is_empty() && self.orderless.is_empty()
    }

    /// Those with sequence numbers.
    pub(super) fn sequence(&self) -> &SequenceQueue {
        &self.sequence
    }

    pub(super) fn orderless_len(&self) -> usize {
        self.orderless.len()
    }

    pub(super) fn get(&self, protector: ReplayProtector) -> Option<&Entry> {
        match protector {
            SequenceNumber(number) => self.sequence.get(number),
            Nonce(nonce) => self.orderless.get(nonce),
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let sequence = self.sequence.entries().map(|(_, entry)| entry);
        sequence.chain(self.orderless.iter().map(|(_, entry)| entry))
    }

    /// What of the account waits at `price`.
    pub(super) fn share(&self, price: u64) -> Option<&PriceShare> {
        self.shares.at(price)
    }

    /// How many of the account wait at each price.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> std::collections::BTreeMap<u64, usize> {
        self.shares.waiting()
    }

    /// Puts a waiting transaction at a free place, or in the place of a waiting one, which it gives.
    pub(super) fn insert(&mut self, protector: ReplayProtector, entry: Entry) -> Option<Entry> {
        self.shares.wait(entry.price(), entry.start_tag);
        let before = match protector {
            SequenceNumber(number) => self.sequence.insert(number, entry),
            Nonce(nonce) => self.orderless.insert(nonce, entry),
        };
        self.without(before)
    }

    /// Takes a ready transaction for a block; of those with sequence numbers that is the head.
    pub(super) fn take(&mut self, protector: ReplayProtector) -> Option<Entry> {
        let entry = match protector {
            SequenceNumber(_) => self.sequence.take(),
            Nonce(nonce) => {
                let entry = self.orderless.get_mut(nonce).filter(|entry| !entry.taken)?;
                entry.taken = true;
                Some(entry.clone())
            }
        }?;
        self.shares.take(entry.price(), entry.start_tag);
        Some(entry)
    }

    /// Gives taken transactions back: their block did not execute them. Tells which those were.
    pub(super) fn untake(&mut self, protectors: &[ReplayProtector]) -> Vec<Entry> {
        let mut numbers = Vec::new();
        let mut back = Vec::new();
        for &protector in protectors {
            match protector {
                SequenceNumber(number) => numbers.push(number),
                Nonce(nonce) => {
                    if let Some(entry) = self.orderless.get_mut(nonce).filter(|entry| entry.taken) {
                        entry.taken = false;
                        back.push(entry.clone());
                    }
                }
            }
        }
        back.extend(self.sequence.untake(&numbers));
        for entry in &back {
            self.shares.wait(entry.price(), entry.start_tag);
        }
        back
    }

    pub(super) fn remove(&mut self, protector: ReplayProtector) -> Option<Entry> {
        let entry = match protector {
            SequenceNumber(number) => self.sequence.remove(number),
            Nonce(nonce) => self.orderless.remove(nonce),
        };
        self.without(entry)
    }

    /// The ledger has executed all below `sequence_number`: they leave, in order.
    pub(super) fn advance(&mut self, sequence_number: u64) -> Vec<Entry> {
        let gone = self.sequence.advance(sequence_number);
        gone.into_iter()
            .filter_map(|entry| self.without(Some(entry)))
            .collect()
    }

    /// Gives the first of its sequence, where it has become that, a turn that has not passed.
    pub(super) fn expose_head(&mut self, fair_queue: &FairQueue) {
        if let Some(head) = self.sequence.expose_head() {
            let price = head.price();
            head.start_tag = head
                .start_tag
                .max(fair_queue.earliest_tag(price, self.shares.at(price)));
        }
    }

    /// The first of its sequence that a block would get, and what waits for a missing number: what the
    /// indices over accounts follow.
    pub(super) fn face(&self) -> (Option<&Entry>, Amount) {
        (self.sequence.head(), self.sequence.parked())
    }

    /// An entry that has left its lane has no share any more.
    fn without(&mut self, entry: Option<Entry>) -> Option<Entry> {
        if let Some(entry) = entry.as_ref().filter(|entry| !entry.taken) {
            self.shares.stop_waiting(entry.price());
        }
        entry
    }
}
