//! Compaction: flushes of memtables, merges of runs in bounded steps, and deletion of garbage.

mod garbage;
mod job;
mod policy;

pub(crate) use job::{CompactionContext, compact};
pub(crate) use policy::{CompactionConfig, CompactionState, start_jobs};

use super::{
    key::Kind,
    manifest::{Manifest, Run},
    memtable::SortedEntries,
    run::{block::RunTableMut, writer::RunWriter},
};
use crate::StoreError;
use std::ops::RangeInclusive;

/// Writes sorted entries as a new run of level 0, unless there are none.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn write_run<'e>(
    manifest: &mut Manifest,
    kind: Kind,
    entries: impl Iterator<Item = (&'e [u8], &'e [u8])>,
    versions: RangeInclusive<u64>,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let id = manifest.new_run();
    let mut writer = RunWriter::new(kind, id, table)?;
    for (entry, payload) in entries {
        writer.push(entry, payload)?;
    }
    let appended = writer.close()?;
    appended.write_filter(table)?;
    if appended.entries > 0 {
        manifest.add(
            kind,
            Run {
                id,
                level: 0,
                first_version: *versions.start(),
                last_version: *versions.end(),
                entries: appended.entries,
            },
        );
    }
    Ok(())
}

/// Flushes the entries of a memtable as a new run, unless there are none.
///
/// `last_version` is the newest version whose entries are in the memtable.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn flush(
    manifest: &mut Manifest,
    kind: Kind,
    entries: &SortedEntries,
    last_version: u64,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let versions = manifest.runs(kind).unflushed_from..=last_version;
    let entries = entries.iter().map(|entry| (entry, [].as_slice()));
    write_run(manifest, kind, entries, versions, table)?;
    manifest.runs_mut(kind).unflushed_from = last_version + 1;
    Ok(())
}
