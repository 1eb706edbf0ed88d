//! Policy of compaction: when memtables are flushed, and which runs are merged.

use crate::index::{
    key::Kind,
    manifest::{Manifest, MergeJob, Run},
};

/// Number of runs of a level that merge into one of the next. Fewer cause more copying, more leave
/// more runs to search.
const FAN_IN: usize = 4;

/// Number of levels of [`Kind::PrunedState`] with a larger fan-in.
///
/// Runs above them are in proportion to the live state, and waiting ones take space for values that
/// the merge drops.
const PRUNED_STATE_WIDE_LEVELS: u32 = 2;

/// Configuration of compaction. Tests use smaller limits, so that few rows cover all cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactionConfig {
    /// Number of entries, or of versions, after which a memtable is flushed.
    ///
    /// Large enough that runs are few. Opening a store reads the rows since the last flush of each
    /// kind, so the versions are limited even for a kind with hardly any entries.
    pub flush_after: usize,
    /// Minimum number of entries in a merge step. A step writes a few pages however small it is.
    pub step_entries_min: usize,
    /// Maximum size of the writes that a step of pruning moves to [`Kind::PrunedState`], in bytes,
    /// unless its first block alone exceeds it. The writes are sorted in memory, beside the
    /// commits.
    pub prune_bytes_max: usize,
    /// Maximum number of runs of the first levels of [`Kind::PrunedState`] that merge into one, not
    /// below the fan-in of other kinds.
    ///
    /// The entries contain values, so that copying them is the main cost of pruning. The first runs
    /// are small, because each belongs to one step.
    pub pruned_state_fan_in: usize,
}

impl CompactionConfig {
    /// A configuration for tests, in which a few hundred rows pass through several levels of runs.
    pub(crate) const SMALL: Self = Self {
        flush_after: 6,
        step_entries_min: 3,
        prune_bytes_max: usize::MAX,
        pruned_state_fan_in: 6,
    };

    /// Returns the runs to merge into one of the level after `level`, oldest first, or none if the
    /// runs of `level` are too few.
    ///
    /// `runs` are all runs of the kind, oldest first. As many as possible merge, so that their
    /// entries are copied less often. Runs of the pruned state merge with all older runs once they
    /// have more entries than these. Both mostly contain the same keys then, and each takes space
    /// for them.
    pub(crate) fn pick_compaction(&self, kind: Kind, level: u32, runs: &[Run]) -> Vec<u64> {
        let is_pruned_state = kind == Kind::PrunedState;
        let is_wide = is_pruned_state && level < PRUNED_STATE_WIDE_LEVELS;
        let fan_in_max = if is_wide {
            self.pruned_state_fan_in
        } else {
            FAN_IN
        };
        let of_level = runs.iter().filter(|run| run.level == level);
        let candidates: Vec<&Run> = of_level.take(fan_in_max).collect();
        let older: Vec<&Run> = runs.iter().filter(|run| run.level > level).collect();
        let entries = |runs: &[&Run]| runs.iter().map(|run| run.entries).sum::<u64>();
        let merges_with_older = is_pruned_state
            && candidates.len() >= if is_wide { FAN_IN } else { 1 }
            && candidates.len() + older.len() > 1
            && entries(&candidates) > entries(&older);
        let merged = match merges_with_older {
            true => [older, candidates].concat(),
            false if candidates.len() >= fan_in_max => candidates,
            false => Vec::new(),
        };
        merged.iter().map(|run| run.id).collect()
    }
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self {
            flush_after: 65_536,
            step_entries_min: 2_048,
            prune_bytes_max: 64 * 1024 * 1024,
            pruned_state_fan_in: 16,
        }
    }
}

/// The state of compaction in memory.
///
/// It is not persisted, because losing it at a restart only delays a merge.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompactionState {
    pub config: CompactionConfig,
    /// Number of entries that each kind still has to merge.
    pub(super) debt: [usize; Kind::ALL.len()],
}

/// Starts a merge on each level that has enough runs, no merge, and no run in another merge.
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
        let is_busy = |id: &u64| runs.jobs.iter().any(|job| job.sources.contains(id));
        if !sources.is_empty() && !sources.iter().any(is_busy) {
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

    /// Returns runs of a level with these numbers of entries, with ascending ids from `first`.
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
    fn merges_the_pruned_state_with_older_runs_once_it_has_more_entries() {
        let config = CompactionConfig::default();
        let picked = |kind, level, older: u64, newer: usize| {
            let older = runs(0, level + 1, &[older]);
            let all = [older, runs(1, level, &vec![10; newer])].concat();
            config.pick_compaction(kind, level, &all)
        };
        // Up to level 1, few runs wait for more.
        for level in [0, 1] {
            let counts = |older, newer| picked(Kind::PrunedState, level, older, newer).len();
            assert_eq!(
                [3, 4, 15, 16, 20].map(|of| counts(1_000, of)),
                [0, 0, 0, 16, 16]
            );
            assert_eq!([3, 4, 5].map(|of| counts(39, of)), [0, 5, 6]);
            assert_eq!([4, 5].map(|of| counts(40, of)), [0, 6]);
        }
        let counts = |older, newer| picked(Kind::PrunedState, 2, older, newer).len();
        assert_eq!([1, 2, 3, 4, 5].map(|of| counts(1_000, of)), [0, 0, 0, 4, 4]);
        assert_eq!([1, 2, 3].map(|of| counts(10, of)), [0, 3, 4]);
        assert_eq!(picked(Kind::PrunedState, 2, 9, 1), [0, 1], "oldest first");
        assert_eq!(
            [3, 4, 20].map(|of| picked(Kind::State, 0, 9, of).len()),
            [0, 4, 4]
        );
    }

    #[test]
    fn runs_of_the_pruned_state_without_older_ones_merge_in_pairs_above_level_1() {
        let config = CompactionConfig::default();
        let counts = |level, newer: usize| {
            let all = runs(0, level, &vec![10; newer]);
            config.pick_compaction(Kind::PrunedState, level, &all).len()
        };
        assert_eq!([1, 2].map(|newer| counts(2, newer)), [0, 2]);
        assert_eq!([1, 3, 4].map(|newer| counts(1, newer)), [0, 0, 4]);
    }

    #[test]
    fn no_merge_begins_with_a_run_that_another_merge_reads() {
        let config = CompactionConfig::default();
        let kind = Kind::PrunedState;
        let mut manifest = Manifest::default();
        let add = |manifest: &mut Manifest, level, entries: &[u64]| {
            for &entries in entries {
                let id = manifest.new_run();
                manifest.add(kind, runs(id, level, &[entries])[0].clone());
            }
            start_jobs(manifest, kind, &config);
            let jobs = &manifest.runs(kind).jobs;
            jobs.iter().map(|job| job.sources.len()).collect::<Vec<_>>()
        };
        assert_eq!(add(&mut manifest, 2, &[100]), [0; 0]);
        assert_eq!(add(&mut manifest, 1, &[30; 4]), [5]);
        assert_eq!(
            add(&mut manifest, 0, &[100; 4]),
            [5],
            "all older runs are in a merge"
        );
        let job = manifest.runs(kind).jobs[0].clone();
        manifest.finish(
            kind,
            &MergeJob {
                written: 100,
                ..job
            },
        );
        assert_eq!(add(&mut manifest, 0, &[]), [5]);
    }

    #[test]
    fn merges_the_oldest_runs_of_a_level_first() {
        let config = CompactionConfig::default();
        let all = [runs(0, 3, &[9]), runs(1, 2, &[1; 6]), runs(7, 0, &[1])].concat();
        assert_eq!(
            config.pick_compaction(Kind::PrunedState, 2, &all),
            [1, 2, 3, 4]
        );
    }
}
