//! Keeping the runs few: flushes, merges in bounded steps, deletion of what was merged.

use crate::index::{
    key::Kind,
    manifest::{Manifest, MergeJob, Run},
    memtable::SortedEntries,
    run::{RunCursor, RunTableMut, RunWriter, delete_blocks},
};
use crate::{StoreError, tables::schema::RunTable};

/// How many runs of a level become one of the next. Fewer means more copying, more means more runs to search.
const FAN_IN: usize = 4;
/// On so many levels of `PrunedState` more do. Above them a run is in proportion to the live state, and runs that wait for each
/// other are room that is taken again.
const PRUNED_STATE_WIDE_LEVELS: u32 = 2;
/// A level merges this many entries for every two that arrive, so that it is done well before the
/// level below has the next merge ready for it.
const MERGED_PER_TWO_ARRIVALS: usize = 3;
/// Blocks of deleted runs that go beside every commit, at the least.
const DELETED_BLOCKS_MIN: usize = 16;
/// About the fewest entries of a full block, as of `PrunedState`: how fast blocks must be deleted to keep up
/// with merging.
const BLOCK_ENTRIES_MIN: usize = 16;

/// When work is done; tests do it sooner, so that few rows try it all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactionConfig {
    /// Entries in memory become a run when there are this many of a kind, or when they span this
    /// many versions: large enough that runs are few. Opening reads the rows since the last flush
    /// of each kind, so the versions are bounded even for a kind that hardly has entries.
    pub flush_after: usize,
    /// Steps smaller than this wait: a step touches a few pages however little it does.
    pub step_entries_min: usize,
    /// A step of pruning ends before the writes it moves into `PrunedState` exceed this, unless its first
    /// block does alone: they are sorted in memory, beside the commits.
    pub prune_bytes_max: usize,
    /// How many runs of the first levels of `PrunedState` become one of the next at most, no fewer than of other kinds. Its entries
    /// carry values, so that copying them costs most of pruning, and its first runs are small: each is of one step.
    pub pruned_state_fan_in: usize,
    /// How long the block log becomes at most, in bytes.
    pub wal_bytes_max: u64,
    /// How long it is when a checkpoint takes its place, in bytes.
    pub checkpoint_after_bytes: u64,
    /// Where so many blocks are only in the log, they are brought into the database with the next one, whether somebody asks
    /// for them or not.
    pub unapplied_blocks_max: usize,
    /// The same of their bytes in the log, which bounds the memory.
    pub unapplied_bytes_max: u64,
}

impl CompactionConfig {
    /// A pace at which a few hundred rows pass through several levels of runs.
    pub(crate) const SMALL_RUNS: Self = Self {
        flush_after: 6,
        step_entries_min: 3,
        prune_bytes_max: usize::MAX,
        pruned_state_fan_in: 6,
        wal_bytes_max: 64 * 1024,
        checkpoint_after_bytes: u64::MAX,
        unapplied_blocks_max: UNAPPLIED_BLOCKS_MAX,
        unapplied_bytes_max: UNAPPLIED_BYTES_MAX,
    };

    /// The runs of a level, of all that a kind has, that are to become one of the next; none where they are too few.
    ///
    /// As many as may be, so that what they hold is copied less often. Fewer where they hold more than all that is older:
    /// then they mostly hold the same keys, and each is room that is taken again.
    pub(crate) fn pick_compaction(&self, kind: Kind, level: u32, runs: &[Run]) -> Vec<u64> {
        let most = match kind {
            Kind::PrunedState if level < PRUNED_STATE_WIDE_LEVELS => self.pruned_state_fan_in,
            _ => FAN_IN,
        };
        let entries = |runs: &[&Run]| runs.iter().map(|run| run.entries).sum::<u64>();
        let idle: Vec<&Run> = runs
            .iter()
            .filter(|run| run.level == level)
            .take(most)
            .collect();
        let older: Vec<&Run> = runs.iter().filter(|run| run.level > level).collect();
        if idle.len() >= most || idle.len() >= FAN_IN && entries(&idle) > entries(&older) {
            idle.iter().map(|run| run.id).collect()
        } else {
            Vec::new()
        }
    }
}

/// How much merging each kind is owed for entries that arrived; not durable, since what is
/// forgotten at a restart only delays a merge.
#[derive(Clone, Debug)]
pub(crate) struct CompactionState {
    pub config: CompactionConfig,
    debt: [usize; Kind::ALL.len()],
}

/// The longest block log, in bytes: one record of it is made in memory, and a larger group is a checkpoint.
pub const WAL_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A log of so many bytes is followed by a checkpoint, which writes as many pages as it has, one by one, while everybody
/// waits: of 32 MB that takes a tenth of a second and more, of this less than blocks take on their way. Much shorter, and what
/// a checkpoint costs anyway (some ms) counts.
const CHECKPOINT_AFTER_BYTES: u64 = 4 * 1024 * 1024;

/// One commit of the database for several small blocks costs little more than one for one of them; who wants to see the
/// newest waits for all of them.
const UNAPPLIED_BLOCKS_MAX: usize = 16;
/// Of blocks of some hundred transfers one is enough.
const UNAPPLIED_BYTES_MAX: u64 = 512 * 1024;

impl Default for CompactionState {
    fn default() -> Self {
        Self {
            config: CompactionConfig {
                flush_after: 65_536,
                step_entries_min: 2_048,
                prune_bytes_max: 64 * 1024 * 1024,
                pruned_state_fan_in: 16,
                wal_bytes_max: WAL_BYTES_MAX,
                checkpoint_after_bytes: CHECKPOINT_AFTER_BYTES,
                unapplied_blocks_max: UNAPPLIED_BLOCKS_MAX,
                unapplied_bytes_max: UNAPPLIED_BYTES_MAX,
            },
            debt: [0; Kind::ALL.len()],
        }
    }
}

/// Where a merge step reads and writes.
pub(crate) struct CompactionContext<'a, 't> {
    /// Runs as the last commit left them.
    pub sources: &'a RunTable,
    /// The table of this commit.
    pub table: &'a mut RunTableMut<'t>,
    /// Entries of older versions are left out.
    pub oldest_version: u64,
}

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
    delete(manifest, taken, place.table)
}

/// Deletes some of the blocks of runs that were merged or dropped.
fn delete(
    manifest: &mut Manifest,
    taken: usize,
    table: &mut RunTableMut<'_>,
) -> Result<(), StoreError> {
    let mut blocks_max = DELETED_BLOCKS_MIN + taken / BLOCK_ENTRIES_MIN;
    while let Some(&run) = manifest.garbage.first() {
        let deleted = delete_blocks(table, run, blocks_max)?;
        if deleted == blocks_max {
            break;
        }
        blocks_max -= deleted;
        manifest.garbage.remove(0);
    }
    Ok(())
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
        None => !(is_oldest && crate::write::pruned_state::is_deletion(payload)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of a level with so many entries each, the numbers from `first` on.
    fn runs(first: u64, level: u32, entries: &[u64]) -> Vec<Run> {
        let run = |(id, entries): (u64, &u64)| Run {
            id,
            level,
            first_version: id,
            last_version: id,
            entries: *entries,
        };
        (first..).zip(entries).map(run).collect()
    }

    #[test]
    fn runs_of_the_base_wait_for_more_while_what_is_older_is_larger() {
        let config = CompactionState::default().config;
        let pick_compaction = |kind, older: u64, newer: usize| {
            let all = [runs(0, 1, &[older]), runs(1, 0, &vec![10; newer])].concat();
            config.pick_compaction(kind, 0, &all).len()
        };
        assert_eq!(
            [3, 4, 15, 16, 20].map(|newer| pick_compaction(Kind::PrunedState, 1_000, newer)),
            [0, 0, 0, 16, 16]
        );
        // They are as large as all that is older: copies of it, for the most part.
        assert_eq!(
            [3, 4, 5].map(|newer| pick_compaction(Kind::PrunedState, 40, newer)),
            [0, 0, 5]
        );
        assert_eq!(
            [3, 4, 20].map(|newer| pick_compaction(Kind::State, 1_000, newer)),
            [0, 4, 4]
        );
    }

    #[test]
    fn the_oldest_runs_of_a_level_are_due_first() {
        let config = CompactionState::default().config;
        let all = [runs(0, 3, &[9]), runs(1, 2, &[1; 6]), runs(7, 0, &[1])].concat();
        assert_eq!(
            config.pick_compaction(Kind::PrunedState, 2, &all),
            [1, 2, 3, 4]
        );
    }
}
