//! Blocks in the encoded form of their log record.
//!
//! A response in BCS copies a transaction from the record. There it is contiguous, and reading it
//! is several times as fast as reading the some twenty allocations that it was encoded from.

use super::{Record, RecordWriter};
use ledger_crypto::HashValue;
use ledger_types::{
    BlockHeader, ChainTip, DiscardedTransaction, ExecutedBlock, ExecutedTransaction,
};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::{
    cell::{Cell, RefCell},
    io,
    ops::Range,
    sync::Arc,
};

/// An executed block in the encoded form of its log record.
#[derive(Clone, Debug)]
pub struct WalBlock {
    record: Record,
    transactions: Vec<TransactionOffsets>,
}

/// A committed transaction in a log record: its parts in BCS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalTransaction<'a> {
    /// The [`Transaction`](ledger_types::Transaction).
    pub transaction: &'a [u8],
    /// The [`TransactionInfo`](ledger_types::TransactionInfo), then the list of events.
    pub info_and_events: &'a [u8],
    /// The [`WriteSet`](ledger_types::WriteSet).
    pub writes: &'a [u8],
    /// The root of the transaction accumulator after the transaction.
    pub accumulator_root: &'a [u8],
}

impl WalBlock {
    /// Returns the blocks of a record. `offsets` locates their transactions.
    pub(crate) fn of_record(record: &Record, offsets: RecordOffsets) -> Vec<Self> {
        let blocks = offsets.0.into_iter().map(|transactions| Self {
            record: Arc::clone(record),
            transactions,
        });
        blocks.collect()
    }

    /// Returns the transaction at `index`, or `None` if the block has fewer transactions.
    pub fn transaction(&self, index: usize) -> Option<WalTransaction<'_>> {
        let offsets = self.transactions.get(index)?;
        let part = |range: Range<usize>| self.record.get(range);
        // The info names the hash, so the hash after the transaction is omitted.
        let info_begin = offsets.transaction_end + HashValue::LENGTH;
        Some(WalTransaction {
            transaction: part(offsets.begin..offsets.transaction_end)?,
            info_and_events: part(info_begin..offsets.events_end)?,
            writes: part(offsets.events_end..offsets.writes_end)?,
            accumulator_root: part(offsets.writes_end..offsets.writes_end + HashValue::LENGTH)?,
        })
    }
}

impl WalTransaction<'_> {
    /// Returns the total size of the parts, in bytes.
    pub fn size_bytes(&self) -> usize {
        [
            self.transaction,
            self.info_and_events,
            self.writes,
            self.accumulator_root,
        ]
        .map(<[u8]>::len)
        .iter()
        .sum()
    }
}

/// Offsets in a record at which a transaction begins and its parts end. The hash follows the first
/// part.
#[derive(Clone, Copy, Debug)]
struct TransactionOffsets {
    begin: usize,
    transaction_end: usize,
    events_end: usize,
    writes_end: usize,
}

/// Offsets of all transactions of a record, by block.
#[derive(Debug, Default)]
pub(crate) struct RecordOffsets(Vec<Vec<TransactionOffsets>>);

/// Records the offsets of transactions while blocks are encoded.
#[derive(Debug, Default)]
pub(super) struct OffsetTracker {
    /// Offset of the next byte in the record.
    position: Cell<usize>,
    offsets: RefCell<RecordOffsets>,
}

impl OffsetTracker {
    /// Returns a writer into `out` that updates the position of the tracker.
    pub(super) fn track<'a, 'b>(&'a self, out: &'a mut RecordWriter<'b>) -> TrackedWriter<'a, 'b> {
        self.position.set(out.position());
        TrackedWriter { out, tracker: self }
    }

    /// Returns the recorded offsets.
    pub(super) fn into_offsets(self) -> RecordOffsets {
        self.offsets.into_inner()
    }
}

/// A writer into a record that updates the position of an [`OffsetTracker`].
pub(super) struct TrackedWriter<'a, 'b> {
    out: &'a mut RecordWriter<'b>,
    tracker: &'a OffsetTracker,
}

impl io::Write for TrackedWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.tracker.position.set(self.out.position());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value whose encoding records offsets. The encoding is that of the value.
pub(super) struct Tracked<'a, T: ?Sized>(pub(super) &'a T, pub(super) &'a OffsetTracker);

impl Serialize for Tracked<'_, ExecutedBlock> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// An [`ExecutedBlock`] with tracked transactions.
        #[derive(Serialize)]
        struct Block<'a> {
            header: &'a BlockHeader,
            first_version: u64,
            transactions: Tracked<'a, [ExecutedTransaction]>,
            discarded: &'a [DiscardedTransaction],
            certificate: &'a bytes::Bytes,
            tip: &'a ChainTip,
        }
        let Self(block, tracker) = self;
        let ExecutedBlock {
            header,
            first_version,
            transactions,
            discarded,
            certificate,
            tip,
        } = block;
        let offsets = Vec::with_capacity(transactions.len());
        tracker.offsets.borrow_mut().0.push(offsets);
        let transactions = Tracked(transactions.as_slice(), tracker);
        Block {
            header,
            first_version: *first_version,
            transactions,
            discarded,
            certificate,
            tip,
        }
        .serialize(serializer)
    }
}

impl Serialize for Tracked<'_, [ExecutedTransaction]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(transactions, tracker) = self;
        serializer.collect_seq(
            transactions
                .iter()
                .map(|transaction| Tracked(transaction, tracker)),
        )
    }
}

impl Serialize for Tracked<'_, ExecutedTransaction> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(executed, tracker) = self;
        let ExecutedTransaction {
            transaction,
            hash,
            info,
            events,
            writes,
            accumulator_root,
        } = executed;
        let mut parts = serializer.serialize_struct("ExecutedTransaction", 6)?;
        let begin = tracker.position.get();
        parts.serialize_field("transaction", transaction)?;
        let transaction_end = tracker.position.get();
        parts.serialize_field("hash", hash)?;
        parts.serialize_field("info", info)?;
        parts.serialize_field("events", events)?;
        let events_end = tracker.position.get();
        parts.serialize_field("writes", writes)?;
        let writes_end = tracker.position.get();
        parts.serialize_field("accumulator_root", accumulator_root)?;
        if let Some(block) = tracker.offsets.borrow_mut().0.last_mut() {
            block.push(TransactionOffsets {
                begin,
                transaction_end,
                events_end,
                writes_end,
            });
        }
        parts.end()
    }
}
