//! Merges of runs, in bounded steps.

use crate::index::compaction::{garbage::delete_garbage, policy::CompactionState};
use crate::{
    StoreError,
    index::{
        key::Kind,
        manifest::{Manifest, MergeJob},
        run::{block::RunTableMut, cursor::RunCursor, writer::RunWriter},
    },
    tables::{codec::is_deletion, schema::RunTable},
};

/// A level merges this many entries for every two that arrive, so that it is done well before the
/// level below has the next merge ready for it.
const MERGED_PER_TWO_ARRIVALS: usize = 3;

/// Where a merge step reads and writes.
pub(crate) struct CompactionContext<'a, 't> {
    /// Runs as the last commit left them.
    pub sources: &'a RunTable,
    /// The table of this commit.
    pub table: &'a mut RunTableMut<'t>,
    /// Entries of older versions are left out.
    pub oldest_version: u64,
}

/// Does the work that `arrivals` new entries of a kind ask for.
pub(crate) fn compact(
    manifest: &mut Manifest,
    kind: Kind,
    compaction: &mut CompactionState,
    arrivals: usize,
    place: &mut CompactionContext<'_, '_>,
) -> Result<(), StoreError> {
    let debt = &mut compaction.debt[kind as usize];
    *debt += arrivals * MERGED_PER_TWO_ARRIVALS / 2;
    if *debt < compaction.config.step_entries_min {
        return Ok(());
    }
    let budget = std::mem::take(debt);
    let jobs = manifest.runs(kind).jobs.clone();
    let mut taken = 0;
    for mut job in jobs {
        // Where the oldest run is among the sources nothing lies below that a deletion must hide.
        let is_oldest =
            manifest.runs(kind).list.first().map(|run| run.id) == job.sources.first().copied();
        let outcome = step(kind, &mut job, is_oldest, budget, place)?;
        taken += outcome.taken;
        if outcome.is_done {
            manifest.finish(kind, &job);
        } else if let Some(slot) = manifest
            .runs_mut(kind)
            .jobs
            .iter_mut()
            .find(|j| j.output == job.output)
        {
            *slot = job;
        }
    }
    delete_garbage(manifest, taken, place.table)
}

struct Outcome {
    taken: usize,
    is_done: bool,
}

/// Merges about `budget` entries of a job.
fn step(
    kind: Kind,
    job: &mut MergeJob,
    is_oldest: bool,
    budget: usize,
    place: &mut CompactionContext<'_, '_>,
) -> Result<Outcome, StoreError> {
    let open = |&run: &u64| RunCursor::new(kind, place.sources, run, &job.last_taken);
    let mut sources = job
        .sources
        .iter()
        .map(open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut writer = RunWriter::new(kind, job.output, place.table)?;
    let mut taken = 0;
    let is_done = loop {
        let Some(source) = least(&mut sources) else {
            break true;
        };
        if taken >= budget {
            break false;
        }
        if let Some((entry, payload)) = source.peek()
            && *entry != *job.last_taken
        {
            if is_kept(kind, entry, payload, is_oldest, place.oldest_version) {
                writer.push(entry, payload)?;
            }
            job.last_taken.clear();
            job.last_taken.extend_from_slice(entry);
        }
        source.advance()?;
        taken += 1;
    };
    let appended = writer.close()?;
    appended.write_filter(place.table)?;
    job.written += appended.entries;
    Ok(Outcome { taken, is_done })
}

/// The source with the least entry; of equal ones the newest, which comes last.
fn least(sources: &mut [RunCursor]) -> Option<&mut RunCursor> {
    let mut least: Option<(usize, &[u8])> = None;
    for (at, source) in sources.iter().enumerate() {
        if let Some((entry, _)) = source.peek()
            && least.is_none_or(|(_, before)| entry <= before)
        {
            least = Some((at, entry));
        }
    }
    let (at, _) = least?;
    sources.get_mut(at)
}

fn is_kept(kind: Kind, entry: &[u8], payload: &[u8], is_oldest: bool, oldest_version: u64) -> bool {
    match kind.version(entry) {
        Some(version) => version >= oldest_version,
        None => !(is_oldest && is_deletion(payload)),
    }
}
