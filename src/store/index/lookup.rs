//! Looking through an index: the entries in memory and all runs, by time.

use super::{
    catalog::Runs,
    entry::Kind,
    filter::Filters,
    recent::{Packed, Recent},
    run,
};
use crate::{StoreError, schema::RunTable};
use std::{
    ops::{ControlFlow, RangeInclusive},
    sync::Arc,
};

/// An index at one moment.
pub(crate) struct Index<'a> {
    pub kind: Kind,
    /// The entries in memory; `Base` has none.
    pub recent: Option<&'a Recent>,
    pub runs: &'a Runs,
    pub filters: &'a Filters,
    pub table: &'a RunTable,
}

/// What is looked for.
pub(crate) struct Span<'a> {
    /// The least entry.
    pub low: &'a [u8],
    /// The greatest entry.
    pub high: &'a [u8],
    /// Runs without a version in this range are passed over; entries outside may still be seen.
    pub versions: RangeInclusive<u64>,
}

impl<'a> Index<'a> {
    fn pieces(&self) -> &'a [Arc<Packed>] {
        self.recent.map(Recent::pieces).unwrap_or_default()
    }

    /// The sorted pieces in memory, oldest first; none where all of them are newer than `versions`.
    pub(crate) fn pieces_of(&self, versions: &RangeInclusive<u64>) -> &'a [Arc<Packed>] {
        if self.runs.recent_from <= *versions.end() {
            self.pieces()
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
    fn runs_holding(&self, span: &Span<'_>) -> impl DoubleEndedIterator<Item = u64> {
        let key = self.kind.filter_key_bytes().and_then(|bytes| {
            let key = span.low.get(..bytes)?;
            span.high.starts_with(key).then_some(key)
        });
        let runs = self.runs_of(&span.versions);
        runs.filter(move |run| key.is_none_or(|key| self.filters.may_hold(*run, key)))
    }

    /// Calls `visit` with the entries of a span, newest runs first, each descending.
    pub(crate) fn newest_first<B>(
        &self,
        span: &Span<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for piece in self.pieces_of(&span.versions).iter().rev() {
            for entry in piece.between(span.low, span.high).rev() {
                if let ControlFlow::Break(end) = visit(entry) {
                    return Ok(Some(end));
                }
            }
        }
        for id in self.runs_holding(span).rev() {
            let bounds = (span.low, span.high);
            if let ControlFlow::Break(end) =
                run::descend(self.kind, self.table, id, bounds, &mut visit)?
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Calls `visit` with the entries of a span, oldest runs first, each ascending.
    pub(crate) fn oldest_first<B>(
        &self,
        span: &Span<'_>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        for id in self.runs_holding(span) {
            let bounds = (span.low, span.high);
            if let ControlFlow::Break(end) =
                run::ascend(self.kind, self.table, id, bounds, &mut visit)?
            {
                return Ok(Some(end));
            }
        }
        for piece in self.pieces() {
            for entry in piece.between(span.low, span.high) {
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
        for run in runs.filter(|run| self.filters.may_hold(run.id, entry)) {
            if let Some(payload) = run::payload(self.kind, self.table, run.id, entry)? {
                return Ok(Some(payload));
            }
        }
        Ok(None)
    }
}
