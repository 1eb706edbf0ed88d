//! One account of the pool: a queue of transactions with sequence numbers, orderless transactions,
//! and the account's shares in the fair queue.

use super::{
    account_queue::{AccountQueue, AccountShares, PriceShare},
    entry::{Amount, Entry},
    sequence_queue::SequenceQueue,
    small_sorted_map::SmallSortedMap,
};
use ledger_types::ReplayProtector::{self, Nonce, SequenceNumber};

/// The pending transactions of one account.
#[derive(Debug)]
pub(super) struct Account {
    sequence: SequenceQueue,
    /// Transactions with nonces, by nonce.
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

    /// Returns the transactions with sequence numbers.
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

    /// Returns the account's share among the transactions that wait at `price`.
    pub(super) fn share(&self, price: u64) -> Option<&PriceShare> {
        self.shares.get(price)
    }

    /// Returns the number of waiting transactions of the account at each price.
    #[cfg(test)]
    pub(super) fn waiting_counts(&self) -> std::collections::BTreeMap<u64, usize> {
        self.shares.waiting_counts()
    }

    /// Inserts a waiting transaction and returns the waiting transaction that it replaces, if any.
    pub(super) fn insert(&mut self, protector: ReplayProtector, entry: Entry) -> Option<Entry> {
        self.shares.add_waiting(entry.price(), entry.tags().end);
        let replaced = match protector {
            SequenceNumber(number) => self.sequence.insert(number, entry),
            Nonce(nonce) => self.orderless.insert(nonce, entry),
        };
        self.remove_share(replaced)
    }

    /// Marks a ready transaction as taken by a block and returns it.
    ///
    /// For a protector with a sequence number, this takes the first ready transaction, whatever the
    /// number.
    pub(super) fn take(&mut self, protector: ReplayProtector) -> Option<Entry> {
        let entry = match protector {
            SequenceNumber(_) => self.sequence.take(),
            Nonce(nonce) => {
                let entry = self
                    .orderless
                    .get_mut(nonce)
                    .filter(|entry| !entry.is_taken)?;
                entry.is_taken = true;
                Some(entry.clone())
            }
        }?;
        self.shares.take(entry.price(), entry.tags().end);
        Some(entry)
    }

    /// Makes taken transactions wait again, because their block did not execute them.
    ///
    /// Returns the transactions that were taken before the call.
    pub(super) fn release(&mut self, protectors: &[ReplayProtector]) -> Vec<Entry> {
        let mut numbers = Vec::new();
        let mut released = Vec::new();
        for &protector in protectors {
            match protector {
                SequenceNumber(number) => numbers.push(number),
                Nonce(nonce) => {
                    if let Some(entry) =
                        self.orderless.get_mut(nonce).filter(|entry| entry.is_taken)
                    {
                        entry.is_taken = false;
                        released.push(entry.clone());
                    }
                }
            }
        }
        released.extend(self.sequence.release(&numbers));
        for entry in &released {
            self.shares.add_waiting(entry.price(), entry.tags().end);
        }
        released
    }

    pub(super) fn remove(&mut self, protector: ReplayProtector) -> Option<Entry> {
        let entry = match protector {
            SequenceNumber(number) => self.sequence.remove(number),
            Nonce(nonce) => self.orderless.remove(nonce),
        };
        self.remove_share(entry)
    }

    /// Removes the transactions below `sequence_number`, because the ledger has passed them.
    ///
    /// Returns them in ascending order.
    pub(super) fn advance(&mut self, sequence_number: u64) -> Vec<Entry> {
        let removed = self.sequence.advance(sequence_number);
        removed
            .into_iter()
            .filter_map(|entry| self.remove_share(Some(entry)))
            .collect()
    }

    /// Gives the head of the sequence a start tag that has not passed, if it has newly become the
    /// head.
    pub(super) fn retag_new_head(&mut self, account_queue: &AccountQueue) {
        if let Some(head) = self.sequence.new_head() {
            let (sender, price) = (head.transaction.raw().sender, head.price());
            let earliest_tag = account_queue.earliest_tag(sender, price, self.shares.get(price));
            head.start_tag = head.start_tag.max(earliest_tag);
        }
    }

    /// Returns the head of the sequence and the amount of parked transactions, the two values that
    /// the indices over accounts depend on.
    pub(super) fn head_and_parked(&self) -> (Option<&Entry>, Amount) {
        (self.sequence.head(), self.sequence.parked())
    }

    /// Stops counting a removed transaction in the account's shares, unless a block had taken it.
    fn remove_share(&mut self, entry: Option<Entry>) -> Option<Entry> {
        if let Some(entry) = entry.as_ref().filter(|entry| !entry.is_taken) {
            self.shares.remove_waiting(entry.price());
        }
        entry
    }
}
