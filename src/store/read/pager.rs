//! Pages of what is numbered: the events of a stream, the transactions of an account.
//!
//! Numbers rise with versions, so a place given by version is found among the numbers by halving
//! them. Only the run that holds the version is looked at, and the entries in memory: a probe is one
//! seek in each, there are at most as many probes as the number of the account's or stream's entries
//! there has bits, and no row is decoded.

use crate::{
    Snapshot, StoreError,
    index::{Kind, key::sequence_number, reader::EntryRange},
};
use std::ops::{ControlFlow, RangeInclusive};

/// Which ones a page has where not all fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageEnd {
    /// The first ones.
    Oldest,
    /// The last ones.
    Newest,
}

/// The entries of one stream or account in their index.
pub(crate) struct SequencePager<'a> {
    pub kind: Kind,
    /// The entry of a number with the least place, or with the greatest.
    pub bound: &'a dyn Fn(u64, bool) -> Vec<u8>,
    /// Whether the number of an entry is its version.
    pub is_by_version: bool,
}

/// A part of what is numbered.
pub(crate) struct Page {
    /// No number below this one.
    pub first_number: u64,
    /// No other versions; where they reach beyond the window, that part of them is empty.
    pub versions: RangeInclusive<u64>,
    pub take: PageEnd,
    pub limit: usize,
}

/// Where a version lies among the numbers, as far as the runs around it tell.
struct Split {
    /// The last number of an earlier version.
    before: Option<u64>,
    /// The number from which on all are of this version or later ones.
    from: Option<u64>,
}

impl Snapshot {
    /// The rows of a page, ascending; `read` gives the row of an entry, or `None` for an entry of
    /// another name with the same digest.
    pub(crate) fn page<T>(
        &self,
        of: &SequencePager<'_>,
        page: &Page,
        mut read: impl FnMut(&[u8]) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        let oldest = self.info.oldest_version.max(*page.versions.start());
        let newest = self.info.version.min(*page.versions.end());
        if page.limit == 0 || oldest > newest {
            return Ok(rows);
        }
        let is_ascending = page.take == PageEnd::Oldest;
        let (low, high) = if is_ascending {
            let before = self.split(of, oldest)?.before;
            let first = before.map_or(0, |number| number.saturating_add(1));
            (first.max(page.first_number), u64::MAX)
        } else {
            (page.first_number, self.last_number(of, newest)?)
        };
        let span = EntryRange {
            low: &(of.bound)(low, false),
            high: &(of.bound)(high, true),
            versions: oldest..=newest,
        };
        let visit = |entry: &[u8]| {
            let version = of.kind.version(entry).unwrap_or_default();
            // The first entry beyond the wanted end ends the page.
            if version > newest || version < oldest {
                let is_past = (version > newest) == is_ascending;
                return if is_past {
                    ControlFlow::Break(Ok(()))
                } else {
                    ControlFlow::Continue(())
                };
            }
            match read(entry) {
                Ok(row) => rows.extend(row),
                Err(error) => return ControlFlow::Break(Err(error)),
            }
            if rows.len() < page.limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(Ok(()))
            }
        };
        let index = self.view.index(of.kind);
        let ended = if is_ascending {
            index.oldest_first(&span, visit)
        } else {
            index.newest_first(&span, visit)
        };
        ended?.transpose()?;
        if !is_ascending {
            rows.reverse();
        }
        Ok(rows)
    }

    /// The first number whose row is in the window; entries of pruned rows may still stand in a run.
    pub(crate) fn first_retained(&self, of: &SequencePager<'_>) -> Result<Option<u64>, StoreError> {
        let before = self.split(of, self.info.oldest_version)?.before;
        let first = before.map_or(0, |number| number.saturating_add(1));
        let span = EntryRange {
            low: &(of.bound)(first, false),
            high: &(of.bound)(u64::MAX, true),
            versions: self.info.oldest_version..=self.info.version,
        };
        let found = self.view.index(of.kind).oldest_first(&span, |entry| {
            let version = of.kind.version(entry).unwrap_or_default();
            ControlFlow::Break((version <= self.info.version).then(|| sequence_number(entry)))
        })?;
        Ok(found.flatten())
    }

    /// The last number whose row is below the window and still there: where the window's lower end is
    /// ahead of the database, which is between a durable step of pruning and the snapshots that show it.
    pub(crate) fn last_going(&self, of: &SequencePager<'_>) -> Result<Option<u64>, StoreError> {
        let (from, oldest) = (self.view.head.oldest_version, self.info.oldest_version);
        if from >= oldest {
            return Ok(None);
        }
        let span = EntryRange {
            low: &(of.bound)(0, false),
            high: &(of.bound)(u64::MAX, true),
            versions: from..=oldest - 1,
        };
        self.view.index(of.kind).newest_first(&span, |entry| {
            let version = of.kind.version(entry).unwrap_or_default();
            if (from..oldest).contains(&version) {
                ControlFlow::Break(sequence_number(entry))
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// A number with none above it that is of `version` or an earlier one.
    fn last_number(&self, of: &SequencePager<'_>, version: u64) -> Result<u64, StoreError> {
        if version >= self.view.head.tip.version {
            return Ok(u64::MAX);
        }
        let from = self.split(of, version + 1)?.from;
        Ok(from.map_or(u64::MAX, |number| number.saturating_sub(1)))
    }

    /// Finds a version among the numbers; the head of this file says what that costs.
    fn split(&self, of: &SequencePager<'_>, version: u64) -> Result<Split, StoreError> {
        if version == 0 || of.is_by_version {
            return Ok(Split {
                before: version.checked_sub(1),
                from: Some(version),
            });
        }
        let (before, from) = match self.probe(of, 0, version)? {
            None => (None, None),
            Some((first, true)) => (None, Some(first)),
            Some((first, false)) => match self.last_around(of, version)? {
                Some((last, true)) => (Some(first), Some(last)),
                last => (Some(last.map_or(first, |(last, _)| last)), None),
            },
        };
        let (Some(mut before), Some(mut from)) = (before, from) else {
            return Ok(Split { before, from });
        };
        while from - before > 1 {
            let middle = before + (from - before) / 2;
            match self.probe(of, middle, version)? {
                Some((number, false)) => before = number,
                _ => from = middle,
            }
        }
        Ok(Split {
            before: Some(before),
            from: Some(from),
        })
    }

    /// The first number not below `number` in the runs around `version`, and whether it is of that
    /// version or a later one.
    fn probe(
        &self,
        of: &SequencePager<'_>,
        number: u64,
        version: u64,
    ) -> Result<Option<(u64, bool)>, StoreError> {
        let span = EntryRange {
            low: &(of.bound)(number, false),
            high: &(of.bound)(u64::MAX, true),
            versions: version..=version,
        };
        let index = self.view.index(of.kind);
        index.oldest_first(&span, |entry| {
            ControlFlow::Break(of.relative(entry, version))
        })
    }

    /// As [`Self::probe`], of the last number.
    fn last_around(
        &self,
        of: &SequencePager<'_>,
        version: u64,
    ) -> Result<Option<(u64, bool)>, StoreError> {
        let span = EntryRange {
            low: &(of.bound)(0, false),
            high: &(of.bound)(u64::MAX, true),
            versions: version..=version,
        };
        let index = self.view.index(of.kind);
        index.newest_first(&span, |entry| {
            ControlFlow::Break(of.relative(entry, version))
        })
    }
}

impl SequencePager<'_> {
    /// The number of an entry, and whether it is of `version` or a later one.
    fn relative(&self, entry: &[u8], version: u64) -> (u64, bool) {
        let is_after = self
            .kind
            .version(entry)
            .is_some_and(|found| found >= version);
        (sequence_number(entry), is_after)
    }
}
