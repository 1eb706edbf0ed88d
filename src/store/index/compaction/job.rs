//! Merge jobs, which run in bounded steps within the commits.

use super::{garbage::delete_garbage, policy::CompactionState};
use crate::{
    StoreError,
    index::{
        key::Kind,
        manifest::{Manifest, MergeJob},
        run::{block::RunTableMut, cursor::RunCursor, writer::RunWriter},
    },
    tables::{codec::is_deletion, schema::RunTable},
};

/// Returns the number of entries that each merge of an index reads per two entries that arrive.
///
/// A merge must end before the level below has the next one ready, or runs accumulate. A merge of
/// the pruned state with older runs reads up to twice as many entries as arrived for it, others as
/// many.
const fn merged_per_two_arrivals(kind: Kind) -> usize {
    match kind {
        Kind::PrunedState => 6,
        _ => 3,
    }
}

/// The tables of a merge step, and the lower end of the window.
pub(crate) struct CompactionContext<'a, 't> {
    /// Runs as of the last commit.
    pub sources: &'a RunTable,
    /// The table of this commit.
    pub table: &'a mut RunTableMut<'t>,
    /// Oldest version whose entries are retained.
    pub oldest_version: u64,
}

/// Runs a step of each merge of a kind, in proportion to the number of entries that arrived.
///
/// Small numbers of arrivals accumulate, and cause a step later.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
pub(crate) fn compact(
    manifest: &mut Manifest,
    kind: Kind,
    compaction: &mut CompactionState,
    arrivals: usize,
    context: &mut CompactionContext<'_, '_>,
) -> Result<(), StoreError> {
    let debt = &mut compaction.debt[kind as usize];
    *debt += arrivals * merged_per_two_arrivals(kind) / 2;
    if *debt < compaction.config.step_entries_min {
        return Ok(());
    }
    let budget = std::mem::take(debt);
    let jobs = manifest.runs(kind).jobs.clone();
    let mut merged = 0;
    for mut job in jobs {
        // If the oldest run is a source, no older run has a value that a deletion must hide.
        let has_oldest =
            manifest.runs(kind).list.first().map(|run| run.id) == job.sources.first().copied();
        let step = merge_step(kind, &mut job, has_oldest, budget, context)?;
        merged += step.merged;
        if step.is_complete {
            manifest.finish(kind, &job);
        } else if let Some(stored) = manifest
            .runs_mut(kind)
            .jobs
            .iter_mut()
            .find(|stored| stored.output == job.output)
        {
            *stored = job;
        }
    }
    delete_garbage(manifest, merged, context.table)
}

/// The result of a merge step.
struct MergeStep {
    /// Number of entries that were read.
    merged: usize,
    /// Whether all sources were read to their end.
    is_complete: bool,
}

/// Merges up to `budget` entries of a job.
///
/// `has_oldest` is whether the oldest run of the index is a source.
fn merge_step(
    kind: Kind,
    job: &mut MergeJob,
    has_oldest: bool,
    budget: usize,
    context: &mut CompactionContext<'_, '_>,
) -> Result<MergeStep, StoreError> {
    let open = |&run: &u64| RunCursor::new(kind, context.sources, run, &job.last_taken);
    let mut sources = job
        .sources
        .iter()
        .map(open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut writer = RunWriter::new(kind, job.output, context.table)?;
    let mut merged = 0;
    let is_complete = loop {
        let Some(source) = least(&mut sources) else {
            break true;
        };
        if merged >= budget {
            break false;
        }
        if let Some((entry, payload)) = source.peek()
            && *entry != *job.last_taken
        {
            if is_retained(kind, entry, payload, has_oldest, context.oldest_version) {
                writer.push(entry, payload)?;
            }
            job.last_taken.clear();
            job.last_taken.extend_from_slice(entry);
        }
        source.advance()?;
        merged += 1;
    };
    let appended = writer.close()?;
    appended.write_filter(context.table)?;
    job.written += appended.entries;
    Ok(MergeStep {
        merged,
        is_complete,
    })
}

/// Returns the source with the least entry. Of equal entries the newest counts, which comes last.
fn least(sources: &mut [RunCursor]) -> Option<&mut RunCursor> {
    let mut least: Option<(usize, &[u8])> = None;
    for (index, source) in sources.iter().enumerate() {
        if let Some((entry, _)) = source.peek()
            && least.is_none_or(|(_, before)| entry <= before)
        {
            least = Some((index, entry));
        }
    }
    let (index, _) = least?;
    sources.get_mut(index)
}

/// Returns whether a merge retains an entry: one in the window, or of the pruned state one that is
/// not a deletion without older values.
fn is_retained(
    kind: Kind,
    entry: &[u8],
    payload: &[u8],
    has_oldest: bool,
    oldest_version: u64,
) -> bool {
    match kind.version(entry) {
        Some(version) => version >= oldest_version,
        None => !(has_oldest && is_deletion(payload)),
    }
}
