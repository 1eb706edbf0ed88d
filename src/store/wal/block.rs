//! A block as its record in the log has it. Who answers in BCS copies a transaction from there: it lies in one piece,
//! which is read several times as fast as the some twenty pieces of memory that it was written from.

use crate::wal::{Record, RecordWriter};
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

/// An executed block as the log has it.
#[derive(Clone, Debug)]
pub struct WalBlock {
    record: Record,
    transactions: Vec<TransactionOffsets>,
}

/// A committed transaction as the log has it: its parts in BCS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalTransaction<'a> {
    /// The [`Transaction`](ledger_types::Transaction).
    pub transaction: &'a [u8],
    /// Its [`TransactionInfo`](ledger_types::TransactionInfo), then the list of its events.
    pub info_and_events: &'a [u8],
    /// The [`WriteSet`](ledger_types::WriteSet).
    pub writes: &'a [u8],
    /// The root of the transaction accumulator after it.
    pub accumulator_root: &'a [u8],
}

impl WalBlock {
    /// The blocks of a record, whose transactions stand in these places.
    pub(crate) fn of_record(record: &Record, blocks: RecordOffsets) -> Vec<Self> {
        let logged = blocks.0.into_iter().map(|transactions| Self {
            record: Arc::clone(record),
            transactions,
        });
        logged.collect()
    }

    /// The transaction at `index`, or `None` when the block has no such index.
    pub fn transaction(&self, index: usize) -> Option<WalTransaction<'_>> {
        let place = self.transactions.get(index)?;
        let part = |range: Range<usize>| self.record.get(range);
        Some(WalTransaction {
            transaction: part(place.begin..place.transaction_end)?,
            info_and_events: part(place.transaction_end + HashValue::LENGTH..place.events_end)?,
            writes: part(place.events_end..place.writes_end)?,
            accumulator_root: part(place.writes_end..place.writes_end + HashValue::LENGTH)?,
        })
    }
}

impl WalTransaction<'_> {
    /// How many bytes its parts have.
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

/// Where in a record a transaction begins, and parts of it end. Its hash stands behind the first.
#[derive(Clone, Copy, Debug)]
struct TransactionOffsets {
    begin: usize,
    transaction_end: usize,
    events_end: usize,
    writes_end: usize,
}

/// The places of all transactions of a record, by block.
#[derive(Debug, Default)]
pub(crate) struct RecordOffsets(Vec<Vec<TransactionOffsets>>);

/// Notes places while blocks are written.
#[derive(Debug, Default)]
pub(super) struct OffsetTracker {
    /// Where in the record the next byte comes.
    at: Cell<usize>,
    places: RefCell<RecordOffsets>,
}

impl OffsetTracker {
    /// `out`, so that the places of what is written into it are noted.
    pub(super) fn noting<'a, 'b>(&'a self, out: &'a mut RecordWriter<'b>) -> TrackedWriter<'a, 'b> {
        self.at.set(out.position());
        TrackedWriter { out, marker: self }
    }

    /// What was noted.
    pub(super) fn places(self) -> RecordOffsets {
        self.places.into_inner()
    }
}

/// Tells a marker how far what is written goes.
pub(super) struct TrackedWriter<'a, 'b> {
    out: &'a mut RecordWriter<'b>,
    marker: &'a OffsetTracker,
}

impl io::Write for TrackedWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.marker.at.set(self.out.position());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A block, written as itself.
pub(super) struct Tracked<'a, T: ?Sized>(pub(super) &'a T, pub(super) &'a OffsetTracker);

impl Serialize for Tracked<'_, ExecutedBlock> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The block, its transactions being written by themselves.
        #[derive(Serialize)]
        struct Block<'a> {
            header: &'a BlockHeader,
            first_version: u64,
            transactions: Tracked<'a, [ExecutedTransaction]>,
            discarded: &'a [DiscardedTransaction],
            certificate: &'a bytes::Bytes,
            tip: &'a ChainTip,
        }
        let Self(block, marker) = self;
        let ExecutedBlock {
            header,
            first_version,
            transactions,
            discarded,
            certificate,
            tip,
        } = block;
        let places = Vec::with_capacity(transactions.len());
        marker.places.borrow_mut().0.push(places);
        let transactions = Tracked(transactions.as_slice(), marker);
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
        let Self(transactions, marker) = self;
        serializer.collect_seq(
            transactions
                .iter()
                .map(|transaction| Tracked(transaction, marker)),
        )
    }
}

impl Serialize for Tracked<'_, ExecutedTransaction> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(executed, marker) = self;
        let ExecutedTransaction {
            transaction,
            hash,
            info,
            events,
            writes,
            accumulator_root,
        } = executed;
        let mut parts = serializer.serialize_struct("ExecutedTransaction", 6)?;
        let begin = marker.at.get();
        parts.serialize_field("transaction", transaction)?;
        let transaction_end = marker.at.get();
        parts.serialize_field("hash", hash)?;
        parts.serialize_field("info", info)?;
        parts.serialize_field("events", events)?;
        let events_end = marker.at.get();
        parts.serialize_field("writes", writes)?;
        let writes_end = marker.at.get();
        parts.serialize_field("accumulator_root", accumulator_root)?;
        if let Some(block) = marker.places.borrow_mut().0.last_mut() {
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
