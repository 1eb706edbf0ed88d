//! Index entries of a batch of blocks, before they are sorted.

use super::key::{
    AccountEntry, HashEntry, StateEntry, StreamEntry, account_entry, hash_entry, state_entry,
    stream_entry,
};
use crate::tables::{digest::DigestKey, rows::replay_protector, schema::Position};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, EventKey, ExecutedTransaction, ReplayProtector, StateKey, Transaction,
};

/// Entries of the kinds in [`Kind::OF_ROWS`](super::Kind::OF_ROWS), in order of their rows.
#[derive(Debug)]
pub(crate) struct IndexBatch {
    key: DigestKey,
    hashes: Vec<HashEntry>,
    states: Vec<StateEntry>,
    accounts: Vec<AccountEntry>,
    streams: Vec<StreamEntry>,
}

impl IndexBatch {
    /// Creates an empty batch.
    pub(crate) fn new(key: DigestKey) -> Self {
        Self {
            key,
            hashes: Vec::new(),
            states: Vec::new(),
            accounts: Vec::new(),
            streams: Vec::new(),
        }
    }

    /// Adds the entries of a transaction, its events, and its writes.
    pub(crate) fn add(&mut self, version: u64, executed: &ExecutedTransaction) {
        self.add_transaction(version, &executed.hash, &executed.transaction);
        for (number, event) in (0..).zip(&executed.events) {
            if let Some((key, sequence_number)) = event.stream_position() {
                self.add_event(&key, sequence_number, (version, number));
            }
        }
        for (number, (key, _)) in (0..).zip(executed.writes.iter()) {
            self.add_write(key, (version, number));
        }
    }

    /// Adds the entries of a transaction without its events and writes.
    pub(crate) fn add_transaction(
        &mut self,
        version: u64,
        hash: &HashValue,
        transaction: &Transaction,
    ) {
        self.hashes.push(hash_entry(hash, version));
        if let Some((sender, protector)) = replay_protector(transaction) {
            self.add_sender(&sender, protector, version);
        }
    }

    fn add_sender(&mut self, sender: &AccountAddress, protector: ReplayProtector, version: u64) {
        self.accounts.push(match protector {
            ReplayProtector::SequenceNumber(number) => {
                account_entry(&self.key.account(sender), number, version)
            }
            // Nonces have no order, so the version replaces the sequence number.
            ReplayProtector::Nonce(_) => {
                account_entry(&self.key.orderless(sender), version, version)
            }
        });
    }

    /// Adds the entry of an event of a stream.
    pub(crate) fn add_event(&mut self, key: &EventKey, sequence_number: u64, position: Position) {
        let prefix = self.key.stream(key);
        self.streams
            .push(stream_entry(&prefix, sequence_number, position));
    }

    /// Adds the entry of a write.
    pub(crate) fn add_write(&mut self, key: &StateKey, position: Position) {
        let digest = self.key.state_key(key);
        self.states.push(state_entry(&digest, position));
    }

    /// Returns the sorted entries of each kind, in the order of
    /// [`Kind::OF_ROWS`](super::Kind::OF_ROWS).
    pub(crate) fn into_sorted(self) -> [Vec<u8>; 4] {
        fn sort<const N: usize>(mut entries: Vec<[u8; N]>) -> Vec<u8> {
            entries.sort_unstable();
            entries.into_flattened()
        }
        [
            sort(self.hashes),
            sort(self.states),
            sort(self.accounts),
            sort(self.streams),
        ]
    }
}
