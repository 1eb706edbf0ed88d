//! Searches of an index, which consists of a memtable and runs, in the order of versions.

use crate::index::{
    bloom_set::BloomFilters,
    key::Kind,
    manifest::Runs,
    memtable::{Memtable, SortedEntries},
    run,
};
use crate::{StoreError, tables::schema::RunTable};
use std::{
    ops::{ControlFlow, RangeInclusive},
    sync::Arc,
};

/// An index as of one view of the store.
pub(crate) struct IndexReader<'a> {
    pub kind: Kind,
    /// Entries in memory. `PrunedState` has none.
    pub memtable: Option<&'a Memtable>,
    pub runs: &'a Runs,
    pub filters: &'a BloomFilters,
    pub table: &'a RunTable,
}

/// A range of entries to visit.
pub(crate) struct EntryRange<'a> {
    /// Least entry.
    pub low: &'a [u8],
    /// Greatest entry.
    pub high: &'a [u8],
    /// Range of versions. Runs without a version in it are skipped, but entries of other versions
    /// may still be visited.
    pub versions: RangeInclusive<u64>,
}

impl<'a> IndexReader<'a> {
    fn tiers(&self) -> &'a [Arc<SortedEntries>] {
        self.memtable.map(Memtable::tiers).unwrap_or_default()
    }

    /// Returns the tiers of the memtable, oldest first, or none if all are newer than `versions`.
    pub(crate) fn tiers_of(&self, versions: &RangeInclusive<u64>) -> &'a [Arc<SortedEntries>] {
        if self.runs.unflushed_from <= *versions.end() {
            self.tiers()
        } else {
            &[]
        }
    }

    /// Returns the ids of the runs with a version in `versions`, oldest first.
    pub(crate) fn runs_of(
        &self,
        versions: &RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = u64> {
        let (oldest, newest) = (*versions.start(), *versions.end());
        let list = self.runs.list.iter();
        list.filter(move |run| run.first_version <= newest && run.last_version >= oldest)
            .map(|run| run.id)
    }

    /// Returns the ids of the runs that may have entries in `span`, oldest first.
    fn runs_holding(&self, span: &EntryRange<'_>) -> impl DoubleEndedIterator<Item = u64> {
        let key = self.kind.bloom_key_bytes().and_then(|bytes| {
            let key = span.low.get(..bytes)?;
            span.high.starts_with(key).then_some(key)
        });
        let runs = self.runs_of(&span.versions);
        runs.filter(move |run| key.is_none_or(|key| self.filters.may_contain(*run, key)))
    }

    /// Calls `visit` with the entries of `span`, newest runs first and each run in descending
    /// order.
    ///
    /// Returns the value that `visit` breaks with, or `None` if it never does.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn newest_first<B>(
        &self,
        span: &EntryRange<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for tier in self.tiers_of(&span.versions).iter().rev() {
            for entry in tier.between(span.low, span.high).rev() {
                if let ControlFlow::Break(end) = visit(entry) {
                    return Ok(Some(end));
                }
            }
        }
        for id in self.runs_holding(span).rev() {
            let bounds = (span.low, span.high);
            if let ControlFlow::Break(end) =
                run::reader::descend(self.kind, self.table, id, bounds, &mut visit)?
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Calls `visit` with the entries of `span`, oldest runs first and each run in ascending
    /// order.
    ///
    /// Returns the value that `visit` breaks with, or `None` if it never does.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn oldest_first<B>(
        &self,
        span: &EntryRange<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for id in self.runs_holding(span) {
            let bounds = (span.low, span.high);
            if let ControlFlow::Break(end) =
                run::reader::ascend(self.kind, self.table, id, bounds, &mut visit)?
            {
                return Ok(Some(end));
            }
        }
        for tier in self.tiers() {
            for entry in tier.between(span.low, span.high) {
                if let ControlFlow::Break(end) = visit(entry) {
                    return Ok(Some(end));
                }
            }
        }
        Ok(None)
    }

    /// Returns the newest payload of an entry, or `None` if no run holds the entry.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn newest_payload(&self, entry: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let runs = self.runs.list.iter().rev();
        for run in runs.filter(|run| self.filters.may_contain(run.id, entry)) {
            if let Some(payload) = run::reader::payload(self.kind, self.table, run.id, entry)? {
                return Ok(Some(payload));
            }
        }
        Ok(None)
    }
}
