//! Searches in an index: its memtable and all runs, in the order of time.

use super::{
    bloom_set::BloomFilters,
    key::Kind,
    manifest::Runs,
    memtable::{Memtable, SortedEntries},
    run::reader::{ascend, descend, payload},
};
use crate::{StoreError, tables::schema::RunTable};
use std::{
    ops::{ControlFlow, RangeInclusive},
    sync::Arc,
};

/// An index in one view.
pub(crate) struct IndexReader<'a> {
    pub kind: Kind,
    /// The memtable, which [`Kind::PrunedState`] does not have.
    pub memtable: Option<&'a Memtable>,
    pub runs: &'a Runs,
    pub filters: &'a BloomFilters,
    pub table: &'a RunTable,
}

/// A range of entries.
pub(crate) struct EntryRange<'a> {
    /// Least entry.
    pub low: &'a [u8],
    /// Greatest entry.
    pub high: &'a [u8],
    /// Versions of interest. A search skips runs without one of them, but still visits other
    /// entries of the remaining runs.
    pub versions: RangeInclusive<u64>,
}

impl<'a> IndexReader<'a> {
    fn all_tiers(&self) -> &'a [Arc<SortedEntries>] {
        self.memtable.map(Memtable::tiers).unwrap_or_default()
    }

    /// Returns the tiers of the memtable, oldest first, or none if all of their entries are newer
    /// than `versions`.
    pub(crate) fn tiers(&self, versions: &RangeInclusive<u64>) -> &'a [Arc<SortedEntries>] {
        if self.runs.unflushed_from <= *versions.end() {
            self.all_tiers()
        } else {
            &[]
        }
    }

    /// Returns the ids of the runs with a version in `versions`, oldest first.
    pub(crate) fn runs(
        &self,
        versions: &RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = u64> {
        let (oldest, newest) = (*versions.start(), *versions.end());
        let list = self.runs.list.iter();
        list.filter(move |run| run.first_version <= newest && run.last_version >= oldest)
            .map(|run| run.id)
    }

    /// Returns the ids of the runs that may contain entries of a range, oldest first.
    fn candidate_runs(&self, range: &EntryRange<'_>) -> impl DoubleEndedIterator<Item = u64> {
        let key = self.kind.bloom_key_bytes().and_then(|bytes| {
            let key = range.low.get(..bytes)?;
            range.high.starts_with(key).then_some(key)
        });
        let runs = self.runs(&range.versions);
        runs.filter(move |run| key.is_none_or(|key| self.filters.may_contain(*run, key)))
    }

    /// Calls `visit` with the entries of a range, newest runs first, each descending.
    ///
    /// Returns the value with which `visit` ended the search, if it did.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn newest_first<B>(
        &self,
        range: &EntryRange<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for tier in self.tiers(&range.versions).iter().rev() {
            for entry in tier.between(range.low, range.high).rev() {
                if let ControlFlow::Break(end) = visit(entry) {
                    return Ok(Some(end));
                }
            }
        }
        for run in self.candidate_runs(range).rev() {
            let visited = descend(
                self.kind, self.table, run, range.low, range.high, &mut visit,
            )?;
            if let ControlFlow::Break(end) = visited {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Calls `visit` with the entries of a range, oldest runs first, each ascending.
    ///
    /// Returns the value with which `visit` ended the search, if it did.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn oldest_first<B>(
        &self,
        range: &EntryRange<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for run in self.candidate_runs(range) {
            let visited = ascend(
                self.kind, self.table, run, range.low, range.high, &mut visit,
            )?;
            if let ControlFlow::Break(end) = visited {
                return Ok(Some(end));
            }
        }
        for tier in self.all_tiers() {
            for entry in tier.between(range.low, range.high) {
                if let ControlFlow::Break(end) = visit(entry) {
                    return Ok(Some(end));
                }
            }
        }
        Ok(None)
    }

    /// Returns the newest payload of an entry.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn newest_payload(&self, entry: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let runs = self.runs.list.iter().rev();
        for run in runs.filter(|run| self.filters.may_contain(run.id, entry)) {
            if let Some(payload) = payload(self.kind, self.table, run.id, entry)? {
                return Ok(Some(payload));
            }
        }
        Ok(None)
    }
}
