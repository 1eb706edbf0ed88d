//! The manifest: which runs exist, which are being merged, and which are being deleted.
//!
//! The manifest is one row, written in the commit that changed it. A merge that a crash interrupts
//! so continues after its last durable step.

use super::{bloom::bloom_id, key::Kind};
use serde::{Deserialize, Serialize};

/// A complete run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Id of the run, which begins the keys of its blocks.
    pub id: u64,
    /// Number of merges that the newest entries passed through.
    pub level: u32,
    /// Lower bound of the versions of the entries, inclusive.
    pub first_version: u64,
    /// Upper bound of the versions of the entries, inclusive.
    pub last_version: u64,
    /// Number of entries.
    pub entries: u64,
}

/// A merge in progress.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MergeJob {
    /// Level of the newest source. The output has the next one.
    pub level: u32,
    /// Ids of the merged runs, oldest first. They are adjacent in the list of runs.
    pub sources: Vec<u64>,
    /// Id of the run that the merge writes.
    pub output: u64,
    /// Number of entries that were written.
    pub written: u64,
    /// The last entry that was read from a source. Empty before the first step.
    pub last_taken: Vec<u8>,
}

/// The runs of one index.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// Runs, oldest first. Levels never rise along the list.
    pub list: Vec<Run>,
    /// Merges in progress, at most one per level.
    pub jobs: Vec<MergeJob>,
    /// First version whose entries are in no run.
    pub unflushed_from: u64,
}

/// The runs of all indices.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Id of the newest run, which may be an output that is not complete.
    last_run: u64,
    indices: [Runs; Kind::ALL.len()],
    /// Ids of discarded runs and of their bloom filters, whose blocks are being deleted.
    pub garbage: Vec<u64>,
}

impl Manifest {
    /// Returns the runs of an index.
    pub(crate) fn runs(&self, kind: Kind) -> &Runs {
        &self.indices[kind as usize]
    }

    /// Returns the runs of an index for a change.
    pub(crate) fn runs_mut(&mut self, kind: Kind) -> &mut Runs {
        &mut self.indices[kind as usize]
    }

    /// Returns an unused run id.
    pub(crate) fn new_run(&mut self) -> u64 {
        self.last_run += 1;
        self.last_run
    }

    /// Adds a run that is newer than all others of its index.
    pub(crate) fn add(&mut self, kind: Kind, run: Run) {
        self.runs_mut(kind).list.push(run);
    }

    /// Replaces the sources of a complete merge by its output, and discards them.
    pub(crate) fn finish(&mut self, kind: Kind, job: &MergeJob) {
        let runs = self.runs_mut(kind);
        runs.jobs.retain(|other| other.output != job.output);
        let is_source = |run: &Run| job.sources.contains(&run.id);
        let sources: Vec<Run> = runs
            .list
            .iter()
            .filter(|run| is_source(run))
            .cloned()
            .collect();
        let insert_index = runs
            .list
            .iter()
            .position(is_source)
            .unwrap_or(runs.list.len());
        runs.list.retain(|run| !is_source(run));
        if job.written > 0
            && let (Some(oldest), Some(newest)) = (sources.first(), sources.last())
        {
            runs.list.insert(
                insert_index,
                Run {
                    id: job.output,
                    level: job.level + 1,
                    first_version: oldest.first_version,
                    last_version: newest.last_version,
                    entries: job.written,
                },
            );
        }
        self.discard(sources.iter().map(|run| run.id));
    }

    /// Discards the runs of an index that are completely below `oldest_version`, and the merges of
    /// only such runs.
    pub(crate) fn drop_below(&mut self, kind: Kind, oldest_version: u64) {
        let runs = self.runs_mut(kind);
        let is_below = |run: &Run| run.last_version < oldest_version;
        let below: Vec<u64> = runs
            .list
            .iter()
            .filter(|run| is_below(run))
            .map(|run| run.id)
            .collect();
        let is_retained = |id: &u64| !below.contains(id);
        // A source of another merge is discarded when that merge ends.
        let (retained_jobs, dropped_jobs): (Vec<MergeJob>, Vec<MergeJob>) =
            std::mem::take(&mut runs.jobs)
                .into_iter()
                .partition(|job| job.sources.iter().any(is_retained));
        let merging: Vec<u64> = retained_jobs
            .iter()
            .flat_map(|job| job.sources.clone())
            .collect();
        runs.jobs = retained_jobs;
        runs.list
            .retain(|run| !below.contains(&run.id) || merging.contains(&run.id));
        self.discard(below.into_iter().filter(|id| !merging.contains(id)));
        self.discard(dropped_jobs.iter().map(|job| job.output));
    }

    /// Marks the blocks of runs and of their bloom filters for deletion.
    fn discard(&mut self, runs: impl Iterator<Item = u64>) {
        self.garbage
            .extend(runs.flat_map(|run| [run, bloom_id(run)]));
    }
}
