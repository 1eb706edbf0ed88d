//! When entries are flushed, and which runs are merged.

use crate::index::{
    key::Kind,
    manifest::{Manifest, MergeJob, Run},
};

/// How many runs of a level become one of the next. Fewer means more copying, more means more runs to search.
const FAN_IN: usize = 4;
/// On so many levels of `PrunedState` more do. Above them a run is in proportion to the live state, and runs that wait for each
/// other are room that is taken again.
const PRUNED_STATE_WIDE_LEVELS: u32 = 2;

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
    pub(super) debt: [usize; Kind::ALL.len()],
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

/// Starts a merge on every level that has enough idle runs for one.
pub(crate) fn start_jobs(manifest: &mut Manifest, kind: Kind, config: &CompactionConfig) {
    let levels: Vec<u32> = {
        let mut levels: Vec<u32> = manifest
            .runs(kind)
            .list
            .iter()
            .map(|run| run.level)
            .collect();
        levels.dedup();
        levels
    };
    for level in levels {
        let runs = manifest.runs(kind);
        if runs.jobs.iter().any(|job| job.level == level) {
            continue;
        }
        let sources = config.pick_compaction(kind, level, &runs.list);
        if !sources.is_empty() {
            let output = manifest.new_run();
            manifest.runs_mut(kind).jobs.push(MergeJob {
                level,
                sources,
                output,
                written: 0,
                last_taken: Vec::new(),
            });
        }
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
