//! Which runs there are, which of them are being merged, and which are being deleted.
//!
//! The catalog is a row of its own, written in the commit that changed it: a merge that a crash
//! interrupts goes on where its last durable step ended.

use crate::index::{bloom::bloom_id, key::Kind};
use serde::{Deserialize, Serialize};

/// A finished run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Its number, which begins the keys of its blocks.
    pub id: u64,
    /// How often its entries were merged.
    pub level: u32,
    /// No entry is of an older version.
    pub first_version: u64,
    /// No entry is of a newer version.
    pub last_version: u64,
    /// How many entries it holds.
    pub entries: u64,
}

/// A merge under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MergeJob {
    /// The level of the sources.
    pub level: u32,
    /// The runs that are merged, oldest first; neighbours in the list of runs.
    pub sources: Vec<u64>,
    /// The number of the run that is written.
    pub output: u64,
    /// How many entries were written.
    pub written: u64,
    /// The last entry that was taken from a source; empty before the first step.
    pub last_taken: Vec<u8>,
}

/// The runs of one index.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// Oldest first; levels never rise.
    pub list: Vec<Run>,
    /// At most one a level.
    pub jobs: Vec<MergeJob>,
    /// Entries of versions from here on are in no run yet.
    pub unflushed_from: u64,
}

/// The runs of all indices.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    next_run: u64,
    indices: [Runs; Kind::ALL.len()],
    /// Numbers that nothing names any more, of runs and of their filters, and whose blocks are being deleted.
    pub garbage: Vec<u64>,
}

impl Manifest {
    /// The runs of an index.
    pub(crate) fn runs(&self, kind: Kind) -> &Runs {
        &self.indices[kind as usize]
    }

    /// The runs of an index, to change them.
    pub(crate) fn runs_mut(&mut self, kind: Kind) -> &mut Runs {
        &mut self.indices[kind as usize]
    }

    /// A number no run had before.
    pub(crate) fn new_run(&mut self) -> u64 {
        self.next_run += 1;
        self.next_run
    }

    /// Adds a run that is newer than all others of its index.
    pub(crate) fn add(&mut self, kind: Kind, run: Run) {
        self.runs_mut(kind).list.push(run);
    }

    /// Puts the output of a finished merge in the place of its sources.
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

    /// Drops the runs of an index whose every entry is below `oldest_version`, and merges of only
    /// such runs.
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
        // A run that is being merged is dropped when the merge ends without it, or with it.
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

    /// Has runs deleted, and their filters.
    fn discard(&mut self, runs: impl Iterator<Item = u64>) {
        self.garbage
            .extend(runs.flat_map(|run| [run, bloom_id(run)]));
    }
}
