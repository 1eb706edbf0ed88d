//! Looking through an index: the entries in memory and all runs, by time.

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

/// An index at one moment.
pub(crate) struct IndexReader<'a> {
    pub kind: Kind,
    /// The entries in memory; `PrunedState` has none.
    pub memtable: Option<&'a Memtable>,
    pub runs: &'a Runs,
    pub filters: &'a BloomFilters,
    pub table: &'a RunTable,
}

/// What is looked for.
pub(crate) struct EntryRange<'a> {
    /// The least entry.
    pub low: &'a [u8],
    /// The greatest entry.
    pub high: &'a [u8],
    /// Runs without a version in this range are passed over; entries outside may still be seen.
    pub versions: RangeInclusive<u64>,
}

impl<'a> IndexReader<'a> {
    fn tiers(&self) -> &'a [Arc<SortedEntries>] {
        self.memtable.map(Memtable::tiers).unwrap_or_default()
    }

    /// The sorted pieces in memory, oldest first; none where all of them are newer than `versions`.
    pub(crate) fn tiers_of(&self, versions: &RangeInclusive<u64>) -> &'a [Arc<SortedEntries>] {
        if self.runs.unflushed_from <= *versions.end() {
            self.tiers()
        } else {
            &[]
        }
    }

    /// The runs with a version in `versions`, oldest first.
    pub(crate) fn runs_of(
        &self,
        versions: &RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = u64> {
        let (oldest, newest) = (*versions.start(), *versions.end());
        let list = self.runs.list.iter();
        list.filter(move |run| run.first_version <= newest && run.last_version >= oldest)
            .map(|run| run.id)
    }

    /// The runs with a version in the range of a span that may have entries in it, oldest first.
    fn runs_holding(&self, span: &EntryRange<'_>) -> impl DoubleEndedIterator<Item = u64> {
        let key = self.kind.bloom_key_bytes().and_then(|bytes| {
            let key = span.low.get(..bytes)?;
            span.high.starts_with(key).then_some(key)
        });
        let runs = self.runs_of(&span.versions);
        runs.filter(move |run| key.is_none_or(|key| self.filters.may_contain(*run, key)))
    }

    /// Calls `visit` with the entries of a span, newest runs first, each descending.
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

    /// Calls `visit` with the entries of a span, oldest runs first, each ascending.
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

    /// The newest payload of an entry.
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
