//! Pages of numbered entries: the events of a stream, the transactions of an account.
//!
//! Numbers rise with versions, so a binary search among the numbers finds a version. It reads only
//! the memtable and the runs that contain the version, and decodes no row. A probe is one seek in
//! each of them. For `n` entries of the stream or account there are at most `log2(n) + 1` probes.

use super::snapshot::Snapshot;
use crate::{
    StoreError,
    index::{
        IndexReader, Kind,
        key::{account_entry, sequence_number, stream_entry},
        reader::EntryRange,
    },
    tables::digest::PREFIX_BYTES,
};
use std::ops::{ControlFlow, RangeInclusive};

/// The end of the sequence from which a page takes its entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageEnd {
    /// The page contains the first entries.
    Oldest,
    /// The page contains the last entries.
    Newest,
}

/// A request for a page of numbered entries.
pub(super) struct Page {
    /// Lowest number.
    pub(super) first_number: u64,
    /// Highest number.
    pub(super) last_number: u64,
    /// Versions of the entries. No entry has a version outside the window.
    pub(super) versions: RangeInclusive<u64>,
    /// End from which entries are taken if there are more than `limit`.
    pub(super) end: PageEnd,
    /// Maximum number of entries.
    pub(super) limit: usize,
}

impl Page {
    /// Creates a request for the page that starts at number `start`, or for the newest page if
    /// `start` is `None`.
    pub(super) fn from_number(start: Option<u64>, limit: usize) -> Self {
        Self {
            first_number: start.unwrap_or_default(),
            last_number: u64::MAX,
            versions: 0..=u64::MAX,
            end: if start.is_some() {
                PageEnd::Oldest
            } else {
                PageEnd::Newest
            },
            limit,
        }
    }
}

/// A pager over the entries of one stream or account in a snapshot.
pub(super) struct SequencePager<'a> {
    snapshot: &'a Snapshot,
    kind: Kind,
    prefix: [u8; PREFIX_BYTES],
    /// Whether the number of an entry is its version.
    is_by_version: bool,
}

/// The two adjacent numbers between which a version splits a sequence.
///
/// Only entries in the memtable and in runs that contain the version count. A number is `None` if
/// there is no such entry.
struct VersionSplit {
    /// Last number of an earlier version.
    before: Option<u64>,
    /// First number of this or a later version.
    from: Option<u64>,
}

/// The number of an entry, and whether the entry is before a version.
#[derive(Clone, Copy)]
struct Probe {
    number: u64,
    /// Whether the entry has this or a later version.
    is_from: bool,
}

impl<'a> SequencePager<'a> {
    /// Creates a pager over the events of a stream.
    pub(super) fn of_stream(snapshot: &'a Snapshot, prefix: [u8; PREFIX_BYTES]) -> Self {
        Self {
            snapshot,
            kind: Kind::Stream,
            prefix,
            is_by_version: false,
        }
    }

    /// Creates a pager over the transactions of an account with sequence numbers.
    pub(super) fn of_account(snapshot: &'a Snapshot, prefix: [u8; PREFIX_BYTES]) -> Self {
        Self {
            snapshot,
            kind: Kind::Account,
            prefix,
            is_by_version: false,
        }
    }

    /// Creates a pager over the orderless transactions of an account.
    pub(super) fn of_orderless(snapshot: &'a Snapshot, prefix: [u8; PREFIX_BYTES]) -> Self {
        Self {
            is_by_version: true,
            ..Self::of_account(snapshot, prefix)
        }
    }

    fn index(&self) -> IndexReader<'a> {
        self.snapshot.view.index(self.kind)
    }

    /// Returns the least possible entry with this number.
    fn low(&self, number: u64) -> Vec<u8> {
        match self.kind {
            Kind::Stream => stream_entry(&self.prefix, number, (0, 0)).to_vec(),
            _ => account_entry(&self.prefix, number, 0).to_vec(),
        }
    }

    /// Returns the greatest possible entry with this number.
    fn high(&self, number: u64) -> Vec<u8> {
        match self.kind {
            Kind::Stream => stream_entry(&self.prefix, number, (u64::MAX, u32::MAX)).to_vec(),
            _ => account_entry(&self.prefix, number, u64::MAX).to_vec(),
        }
    }

    /// Returns the version of an entry. The entries of both kinds have one.
    fn version(&self, entry: &[u8]) -> u64 {
        self.kind.version(entry).unwrap_or_default()
    }

    /// Returns the rows of a page in ascending order of their numbers.
    ///
    /// `read` returns the row of an entry, or `None` for an entry of another account or stream with
    /// the same digest.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, or the error of `read`.
    pub(super) fn page<T>(
        &self,
        page: &Page,
        read: impl FnMut(&[u8]) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.page_until(page, read, |_| false)
    }

    /// Returns the rows as [`Self::page`] does, up to the first row for which `is_last` holds.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::page`].
    pub(super) fn page_until<T>(
        &self,
        page: &Page,
        mut read: impl FnMut(&[u8]) -> Result<Option<T>, StoreError>,
        mut is_last: impl FnMut(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        let info = &self.snapshot.info;
        let oldest = info.oldest_version.max(*page.versions.start());
        let newest = info.version.min(*page.versions.end());
        if page.limit == 0 || oldest > newest {
            return Ok(rows);
        }
        let is_ascending = page.end == PageEnd::Oldest;
        let (low, high) = if is_ascending {
            let before = self.split(oldest)?.before;
            let first = before.map_or(0, |number| number.saturating_add(1));
            (first.max(page.first_number), page.last_number)
        } else {
            let last = self.last_number(newest)?;
            (page.first_number, last.min(page.last_number))
        };
        let range = EntryRange {
            low: &self.low(low),
            high: &self.high(high),
            versions: oldest..=newest,
        };
        let visit = |entry: &[u8]| {
            let version = self.version(entry);
            // An entry before the first version is skipped. The first entry beyond the last version
            // ends the page.
            if version > newest || version < oldest {
                let is_past = (version > newest) == is_ascending;
                return if is_past {
                    ControlFlow::Break(Ok(()))
                } else {
                    ControlFlow::Continue(())
                };
            }
            let mut is_complete = false;
            match read(entry) {
                Ok(Some(row)) => {
                    is_complete = is_last(&row);
                    rows.push(row);
                }
                Ok(None) => {}
                Err(error) => return ControlFlow::Break(Err(error)),
            }
            if rows.len() < page.limit && !is_complete {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(Ok(()))
            }
        };
        let ended = if is_ascending {
            self.index().oldest_first(&range, visit)
        } else {
            self.index().newest_first(&range, visit)
        };
        ended?.transpose()?;
        if !is_ascending {
            rows.reverse();
        }
        Ok(rows)
    }

    /// Returns the first number in the window, or `None` if there is none. Entries of pruned rows,
    /// which runs may still contain, do not count.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(super) fn first_retained(&self) -> Result<Option<u64>, StoreError> {
        let info = &self.snapshot.info;
        let before = self.split(info.oldest_version)?.before;
        let first = before.map_or(0, |number| number.saturating_add(1));
        let range = EntryRange {
            low: &self.low(first),
            high: &self.high(u64::MAX),
            versions: info.oldest_version..=info.version,
        };
        let found = self.index().oldest_first(&range, |entry| {
            let version = self.version(entry);
            ControlFlow::Break((version <= info.version).then(|| sequence_number(entry)))
        })?;
        Ok(found.flatten())
    }

    /// Returns the last number below the window with a row that is not deleted yet.
    ///
    /// Such rows exist while the lower end of the window is ahead of the database, between a
    /// durable step of pruning and the view that it publishes.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(super) fn last_below_window(&self) -> Result<Option<u64>, StoreError> {
        let from = self.snapshot.view.head.oldest_version;
        let oldest = self.snapshot.info.oldest_version;
        if from >= oldest {
            return Ok(None);
        }
        let range = EntryRange {
            low: &self.low(0),
            high: &self.high(u64::MAX),
            versions: from..=oldest - 1,
        };
        self.index().newest_first(&range, |entry| {
            if (from..oldest).contains(&self.version(entry)) {
                ControlFlow::Break(sequence_number(entry))
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Returns an upper bound of the numbers of `version` and earlier versions.
    fn last_number(&self, version: u64) -> Result<u64, StoreError> {
        if version >= self.snapshot.view.head.tip.version {
            return Ok(u64::MAX);
        }
        let from = self.split(version + 1)?.from;
        Ok(from.map_or(u64::MAX, |number| number.saturating_sub(1)))
    }

    /// Returns the numbers around a version, by a binary search. The module documentation states
    /// the cost.
    fn split(&self, version: u64) -> Result<VersionSplit, StoreError> {
        if version == 0 || self.is_by_version {
            return Ok(VersionSplit {
                before: version.checked_sub(1),
                from: Some(version),
            });
        }
        let (before, from) = match self.first_from(0, version)? {
            None => (None, None),
            Some(first) if first.is_from => (None, Some(first.number)),
            Some(first) => match self.last(version)? {
                Some(last) if last.is_from => (Some(first.number), Some(last.number)),
                last => (Some(last.map_or(first.number, |last| last.number)), None),
            },
        };
        let (Some(mut before), Some(mut from)) = (before, from) else {
            return Ok(VersionSplit { before, from });
        };
        while from - before > 1 {
            let middle = before + (from - before) / 2;
            match self.first_from(middle, version)? {
                Some(found) if !found.is_from => before = found.number,
                _ => from = middle,
            }
        }
        Ok(VersionSplit {
            before: Some(before),
            from: Some(from),
        })
    }

    /// Returns the first entry from `number` in the memtable and the runs that contain `version`.
    fn first_from(&self, number: u64, version: u64) -> Result<Option<Probe>, StoreError> {
        let range = EntryRange {
            low: &self.low(number),
            high: &self.high(u64::MAX),
            versions: version..=version,
        };
        self.index().oldest_first(&range, |entry| {
            ControlFlow::Break(self.probe(entry, version))
        })
    }

    /// Returns the last entry in the memtable and the runs that contain `version`.
    fn last(&self, version: u64) -> Result<Option<Probe>, StoreError> {
        let range = EntryRange {
            low: &self.low(0),
            high: &self.high(u64::MAX),
            versions: version..=version,
        };
        self.index().newest_first(&range, |entry| {
            ControlFlow::Break(self.probe(entry, version))
        })
    }

    fn probe(&self, entry: &[u8], version: u64) -> Probe {
        let entry_version = self.kind.version(entry);
        Probe {
            number: sequence_number(entry),
            is_from: entry_version.is_some_and(|entry_version| entry_version >= version),
        }
    }
}
