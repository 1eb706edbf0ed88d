//! Keeping the runs few: flushes, merges in bounded steps, deletion of what was merged.

mod garbage;
mod job;
mod policy;

use crate::StoreError;
use crate::index::{
    key::Kind,
    manifest::{Manifest, Run},
    memtable::SortedEntries,
    run::{block::RunTableMut, writer::RunWriter},
};
pub(crate) use job::{CompactionContext, compact};
pub use policy::WAL_BYTES_MAX;
pub(crate) use policy::{CompactionConfig, CompactionState, start_jobs};

/// Writes sorted entries as a new run.
pub(crate) fn write_run<'e>(
    manifest: &mut Manifest,
    kind: Kind,
    entries: impl Iterator<Item = (&'e [u8], &'e [u8])>,
    (first_version, last_version): (u64, u64),
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let id = manifest.new_run();
    let mut writer = RunWriter::new(kind, id, table)?;
    for (entry, payload) in entries {
        writer.push(entry, payload)?;
    }
    let appended = writer.close()?;
    appended.write_filter(table)?;
    let entries = appended.entries;
    if entries > 0 {
        let level = 0;
        manifest.add(
            kind,
            Run {
                id,
                level,
                first_version,
                last_version,
                entries,
            },
        );
    }
    Ok(())
}

/// Writes the entries that gathered in memory as a new run, if there are any; they end with
/// `last_version`.
pub(crate) fn flush(
    manifest: &mut Manifest,
    kind: Kind,
    entries: &SortedEntries,
    last_version: u64,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let versions = (manifest.runs(kind).unflushed_from, last_version);
    let entries = entries.iter().map(|entry| (entry, [].as_slice()));
    write_run(manifest, kind, entries, versions, table)?;
    manifest.runs_mut(kind).unflushed_from = last_version + 1;
    Ok(())
}
