//! A scan of the distinct digests in the state index and in the pruned state, in order.
//!
//! A key that is written all the time has millions of entries, so the scan seeks from one digest to
//! the next unless the distance is short.

use super::{IndexReader, Kind, memtable::SortedEntries, run::cursor::RunCursor};
use crate::{
    StoreError,
    tables::{
        digest::{STATE_DIGEST_BYTES, StateDigest},
        schema::RunTable,
    },
};
use std::ops::RangeInclusive;

/// Maximum number of entries that the scan steps over before it seeks: about the cost of a seek.
const STEPS_BEFORE_SEEK_MAX: usize = 16;

/// A scan of digests.
pub(crate) struct DigestScan<'a> {
    sources: Vec<DigestSource<'a>>,
}

impl<'a> DigestScan<'a> {
    /// Starts a scan above `after`, or at the first digest.
    ///
    /// Skips runs without a version in `versions`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    ///
    /// # Panics
    ///
    /// Panics if an index is neither of kind [`Kind::State`] nor of kind [`Kind::PrunedState`].
    pub(crate) fn new(
        indices: &[IndexReader<'a>],
        versions: &RangeInclusive<u64>,
        after: Option<&StateDigest>,
    ) -> Result<Self, StoreError> {
        let mut sources = Vec::new();
        for index in indices {
            assert!(
                matches!(index.kind, Kind::State | Kind::PrunedState),
                "no digests"
            );
            let after = bound(index.kind, after);
            for run in index.runs(versions) {
                sources.push(DigestSource::run(index.kind, index.table, run, &after)?);
            }
            let tiers = index.tiers(versions);
            sources.extend(
                tiers
                    .iter()
                    .map(|entries| DigestSource::tier(entries, &after)),
            );
        }
        Ok(Self { sources })
    }

    /// Returns the next digest.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub(crate) fn next(&mut self) -> Result<Option<StateDigest>, StoreError> {
        let Some(least) = self.sources.iter().filter_map(DigestSource::digest).min() else {
            return Ok(None);
        };
        for source in &mut self.sources {
            source.advance_past(&least)?;
        }
        Ok(Some(least))
    }
}

/// Returns a bound above all entries of a digest and below those of the next, or a bound below all
/// entries if there is no digest.
fn bound(kind: Kind, digest: Option<&StateDigest>) -> Vec<u8> {
    let mut bound = digest.map(|digest| digest.to_vec()).unwrap_or_default();
    if digest.is_some() {
        // No entry has the greatest version.
        bound.resize(kind.width(), u8::MAX);
    }
    bound
}

/// Sorted entries, with the position of the scan among them.
enum DigestSource<'a> {
    Tier {
        entries: &'a SortedEntries,
        next: Option<StateDigest>,
    },
    Run {
        kind: Kind,
        table: &'a RunTable,
        run: u64,
        cursor: Box<RunCursor>,
    },
}

impl<'a> DigestSource<'a> {
    fn tier(entries: &'a SortedEntries, after: &[u8]) -> Self {
        Self::Tier {
            entries,
            next: first_above(entries, after),
        }
    }

    fn run(kind: Kind, table: &'a RunTable, run: u64, after: &[u8]) -> Result<Self, StoreError> {
        Ok(Self::Run {
            kind,
            table,
            run,
            cursor: Box::new(RunCursor::new(kind, table, run, after)?),
        })
    }

    /// Returns the digest of the current entry.
    fn digest(&self) -> Option<StateDigest> {
        match self {
            Self::Tier { next, .. } => *next,
            Self::Run { cursor, .. } => cursor.peek().and_then(|(entry, _)| digest_of(entry)),
        }
    }

    /// Moves to the first entry above a digest if the current entry has that digest.
    fn advance_past(&mut self, digest: &StateDigest) -> Result<(), StoreError> {
        if self.digest() != Some(*digest) {
            return Ok(());
        }
        match self {
            Self::Tier { entries, next } => {
                *next = first_above(entries, &bound(Kind::State, Some(digest)));
            }
            Self::Run {
                kind,
                table,
                run,
                cursor,
            } => {
                for _ in 0..STEPS_BEFORE_SEEK_MAX {
                    cursor.advance()?;
                    if cursor
                        .peek()
                        .is_none_or(|(entry, _)| !entry.starts_with(digest))
                    {
                        return Ok(());
                    }
                }
                **cursor = RunCursor::new(*kind, table, *run, &bound(*kind, Some(digest)))?;
            }
        }
        Ok(())
    }
}

fn first_above(entries: &SortedEntries, bound: &[u8]) -> Option<StateDigest> {
    const LAST: [u8; Kind::State.width()] = [u8::MAX; Kind::State.width()];
    entries.between(bound, &LAST).next().and_then(digest_of)
}

fn digest_of(entry: &[u8]) -> Option<StateDigest> {
    entry.first_chunk::<STATE_DIGEST_BYTES>().copied()
}
