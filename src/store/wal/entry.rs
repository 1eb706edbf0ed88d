//! What a record of the log holds: the blocks of a group as the writer was given them, or what a step of pruning
//! left.
//!
//! Not the ordered blocks, which are smaller: a start would have to execute them, with the state as it was, and with
//! the program that executed them first. Not the rows, which are as large: the index entries that come with them are
//! made of what is in the blocks.

use crate::wal::{
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

/// What is to be done again, as it is written.
#[derive(Serialize)]
enum WalEntryRef<'a> {
    Commit(Vec<Tracked<'a, ExecutedBlock>>),
    Prune(u64),
}

/// What is to be done again, as it is read.
#[derive(Deserialize)]
pub(crate) enum WalEntry {
    /// These blocks follow.
    Commit(Vec<ExecutedBlock>),
    /// This version is the oldest from now on.
    Prune(u64),
}

/// Writes the record of a group; gives where in it the transactions stand.
pub(crate) fn write_blocks(
    blocks: &[Arc<ExecutedBlock>],
    out: &mut RecordWriter<'_>,
) -> Result<RecordOffsets, StoreError> {
    let marker = OffsetTracker::default();
    let marked = blocks.iter().map(|block| Tracked(&**block, &marker));
    let redo = WalEntryRef::Commit(marked.collect());
    bcs::serialize_into(&mut marker.noting(out), &redo).map_err(no_form)?;
    drop(redo);
    Ok(marker.places())
}

/// Writes the record of a step of pruning.
pub(crate) fn write_prune(
    oldest_version: u64,
    out: &mut RecordWriter<'_>,
) -> Result<(), StoreError> {
    bcs::serialize_into(out, &WalEntryRef::Prune(oldest_version)).map_err(no_form)
}

impl WalEntry {
    /// What a record holds.
    ///
    /// # Errors
    /// When that is nothing known.
    pub(crate) fn read(content: &[u8]) -> Result<Self, StoreError> {
        decode(content, "a record of the block log")
    }
}
