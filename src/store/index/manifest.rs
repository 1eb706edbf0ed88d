//! The lists of finished runs, of merges in progress, and of runs that are being deleted.
//!
//! The manifest is a row of its own. The commit that changes it also writes it, so that a merge
//! that a crash interrupts resumes after its last durable step.

use crate::index::{bloom::bloom_id, key::Kind};
use serde::{Deserialize, Serialize};

/// A finished run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Id of the run. The keys of its blocks begin with it.
    pub id: u64,
    /// Number of merges that the entries have passed through.
    pub level: u32,
    /// Lower bound of the versions of the entries.
    pub first_version: u64,
    /// Upper bound of the versions of the entries.
    pub last_version: u64,
    /// Number of entries.
    pub entries: u64,
}

/// A merge in progress.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MergeJob {
    /// Level of the sources.
    pub level: u32,
    /// Ids of the runs that are merged, oldest first. They are neighbors in the list of runs.
    pub sources: Vec<u64>,
    /// Id of the run that is written.
    pub output: u64,
    /// Number of entries written so far.
    pub written: u64,
    /// Last entry that was taken from a source. Empty before the first step.
    pub last_taken: Vec<u8>,
}

/// The runs of one index.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// Finished runs, oldest first. Their levels do not increase.
    pub list: Vec<Run>,
    /// Merges in progress, at most one per level.
    pub jobs: Vec<MergeJob>,
    /// First version whose entries are in no run yet.
    pub unflushed_from: u64,
}

/// The runs of all indices.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    next_run: u64,
    indices: [Runs; Kind::ALL.len()],
    /// Ids of runs and filters that are no longer in use, and whose blocks are being deleted.
    pub garbage: Vec<u64>,
}

impl Manifest {
    /// Returns the runs of an index.
    pub(crate) fn runs(&self, kind: Kind) -> &Runs {
        &self.indices[kind as usize]
    }

    /// Returns the runs of an index for modification.
    pub(crate) fn runs_mut(&mut self, kind: Kind) -> &mut Runs {
        &mut self.indices[kind as usize]
    }

    /// Returns an id that no run had before.
    pub(crate) fn new_run(&mut self) -> u64 {
        self.next_run += 1;
        self.next_run
    }

    /// Adds a run that is newer than all others of its index.
    pub(crate) fn add(&mut self, kind: Kind, run: Run) {
        self.runs_mut(kind).list.push(run);
    }

    /// Replaces the sources of a finished merge with its output.
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
        let place = runs
            .list
            .iter()
            .position(is_source)
            .unwrap_or(runs.list.len());
        runs.list.retain(|run| !is_source(run));
        if job.written > 0
            && let (Some(oldest), Some(newest)) = (sources.first(), sources.last())
        {
            runs.list.insert(
                place,
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

    /// Removes the runs of an index whose entries are all below `oldest_version`, and the merges
    /// of only such runs.
    pub(crate) fn drop_below(&mut self, kind: Kind, oldest_version: u64) {
        let runs = self.runs_mut(kind);
        let is_below = |run: &Run| run.last_version < oldest_version;
        let below: Vec<u64> = runs
            .list
            .iter()
            .filter(|run| is_below(run))
            .map(|run| run.id)
            .collect();
        let is_kept = |id: &u64| !below.contains(id);
        // A source of a remaining merge is removed when that merge finishes.
        let (kept, dropped): (Vec<MergeJob>, Vec<MergeJob>) = std::mem::take(&mut runs.jobs)
            .into_iter()
            .partition(|job| job.sources.iter().any(is_kept));
        let merging: Vec<u64> = kept.iter().flat_map(|job| job.sources.clone()).collect();
        runs.jobs = kept;
        runs.list
            .retain(|run| !below.contains(&run.id) || merging.contains(&run.id));
        self.discard(below.into_iter().filter(|id| !merging.contains(id)));
        self.discard(dropped.iter().map(|job| job.output));
    }

    /// Schedules runs and their filters for deletion.
    fn discard(&mut self, runs: impl Iterator<Item = u64>) {
        self.garbage
            .extend(runs.flat_map(|run| [run, bloom_id(run)]));
    }
}
