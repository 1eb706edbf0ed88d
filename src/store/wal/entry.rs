//! Content of a log record: a group of blocks, or the end of a step of pruning.
//!
//! A record holds executed blocks. Ordered blocks are smaller, but a start would have to execute
//! them on the same state and with the program that executed them first. Rows are as large, and
//! their index entries are made from the content of blocks.

use super::{
    RecordWriter,
    block::{OffsetTracker, RecordOffsets, Tracked},
};
use crate::{
    StoreError,
    tables::codec::{decode, no_form},
};
use ledger_types::ExecutedBlock;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An entry to encode.
#[derive(Serialize)]
enum WalEntryRef<'a> {
    Commit(Vec<Tracked<'a, ExecutedBlock>>),
    Prune(u64),
}

/// A decoded entry.
#[derive(Deserialize)]
pub(crate) enum WalEntry {
    /// A group of consecutive blocks.
    Commit(Vec<ExecutedBlock>),
    /// The oldest version after a step of pruning.
    Prune(u64),
}

impl WalEntry {
    /// Decodes the content of a record.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the content is not an entry.
    pub(crate) fn decode(content: &[u8]) -> Result<Self, StoreError> {
        decode(content, "a record of the write-ahead log")
    }
}

/// Writes the entry of a group of blocks, and returns the offsets of its transactions.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if a value has no BCS form or the record is full.
pub(crate) fn write_blocks(
    blocks: &[Arc<ExecutedBlock>],
    out: &mut RecordWriter<'_>,
) -> Result<RecordOffsets, StoreError> {
    let tracker = OffsetTracker::default();
    let tracked = blocks.iter().map(|block| Tracked(&**block, &tracker));
    let entry = WalEntryRef::Commit(tracked.collect());
    bcs::serialize_into(&mut tracker.track(out), &entry).map_err(no_form)?;
    drop(entry);
    Ok(tracker.into_offsets())
}

/// Writes the entry of a step of pruning.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the record is full.
pub(crate) fn write_prune(
    oldest_version: u64,
    out: &mut RecordWriter<'_>,
) -> Result<(), StoreError> {
    bcs::serialize_into(out, &WalEntryRef::Prune(oldest_version)).map_err(no_form)
}
