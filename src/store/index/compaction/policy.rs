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

    /// Returns the runs of `level` to merge into one of the next level, or none if they are too
    /// few.
    ///
    /// `runs` are all runs of the kind, oldest first. As many as possible merge, so that their
    /// entries are copied less often. Fewer merge if they have more entries than all older runs:
    /// they mostly contain the same keys then, and each takes space for them again.
    pub(crate) fn pick_compaction(&self, kind: Kind, level: u32, runs: &[Run]) -> Vec<u64> {
        let fan_in_max = match kind {
            Kind::PrunedState if level < PRUNED_STATE_WIDE_LEVELS => self.pruned_state_fan_in,
            _ => FAN_IN,
        };
        let entries = |runs: &[&Run]| runs.iter().map(|run| run.entries).sum::<u64>();
        let candidates: Vec<&Run> = runs
            .iter()
            .filter(|run| run.level == level)
            .take(fan_in_max)
            .collect();
        let older: Vec<&Run> = runs.iter().filter(|run| run.level > level).collect();
        if candidates.len() >= fan_in_max
            || candidates.len() >= FAN_IN && entries(&candidates) > entries(&older)
        {
            candidates.iter().map(|run| run.id).collect()
        } else {
            Vec::new()
        }
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

/// Starts a merge on each level that has enough runs and no merge.
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
    fn merges_more_runs_of_the_pruned_state_while_older_runs_are_larger() {
        let config = CompactionConfig::default();
        let picked = |kind, older: u64, newer: usize| {
            let all = [runs(0, 1, &[older]), runs(1, 0, &vec![10; newer])].concat();
            config.pick_compaction(kind, 0, &all).len()
        };
        assert_eq!(
            [3, 4, 15, 16, 20].map(|newer| picked(Kind::PrunedState, 1_000, newer)),
            [0, 0, 0, 16, 16]
        );
        // The new runs are as large as all older ones, and mostly contain the same keys.
        assert_eq!(
            [3, 4, 5].map(|newer| picked(Kind::PrunedState, 40, newer)),
            [0, 0, 5]
        );
        assert_eq!(
            [3, 4, 20].map(|newer| picked(Kind::State, 1_000, newer)),
            [0, 4, 4]
        );
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
