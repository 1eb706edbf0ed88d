//! Transactions of consecutive versions. Their rows stand side by side in each table, so that a table is gone
//! through once instead of being searched for every version.

use crate::{
    Snapshot, StoreError, StoredTransaction,
    base::decode_write,
    schema::{Position, TransactionRow, decode},
};
use ledger::WriteSet;
use redb::Range;
use std::{iter::Peekable, ops::RangeInclusive};

/// Rows by version.
type Rows = Range<'static, u64, &'static [u8]>;
/// Rows by version and number.
type Parts = Peekable<Range<'static, Position, &'static [u8]>>;

/// The transactions of consecutive versions, ascending.
struct Consecutive {
    versions: RangeInclusive<u64>,
    transactions: Rows,
    events: Parts,
    writes: Parts,
}

impl Snapshot {
    /// The transactions of `versions`, which are in the window; [`Self::transaction`] gives one.
    ///
    /// # Errors
    /// When the database fails; as items, also where a row is missing or damaged.
    pub fn transactions(
        &self,
        versions: RangeInclusive<u64>,
    ) -> Result<impl Iterator<Item = Result<StoredTransaction, StoreError>> + use<>, StoreError> {
        let tables = &self.view.tables;
        let parts = (*versions.start(), 0)..=(*versions.end(), u32::MAX);
        Ok(Consecutive {
            transactions: tables.transactions.range(versions.clone())?,
            events: tables.events.range(parts.clone())?.peekable(),
            writes: tables.writes.range(parts)?.peekable(),
            versions,
        })
    }
}

impl Consecutive {
    fn read(&mut self, version: u64) -> Result<StoredTransaction, StoreError> {
        let missing = || StoreError::Inconsistent(format!("transaction {version} is missing"));
        let (found, row) = self.transactions.next().ok_or_else(missing)??;
        if found.value() != version {
            return Err(missing());
        }
        let row = TransactionRow::decode(row.value(), version)?;
        let events = parts_of(&mut self.events, version, |row| {
            decode(row, format_args!("an event of version {version}"))
        })?;
        // The rows stand in the order in which the set had them.
        let writes = parts_of(&mut self.writes, version, |row| {
            decode_write(row, format_args!("a write of version {version}"))
        })?;
        Ok(row.with_parts(version, events, WriteSet::from_ascending(writes)))
    }
}

impl Iterator for Consecutive {
    type Item = Result<StoredTransaction, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let version = self.versions.next()?;
        Some(self.read(version))
    }
}

/// What the next rows hold, up to the last one of `version`.
fn parts_of<T>(
    rows: &mut Parts,
    version: u64,
    decode: impl Fn(&[u8]) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut parts = Vec::new();
    // A row that cannot be read is taken too, so that its error is told.
    let is_later = |place: Position| place.0 > version;
    while let Some(row) = rows.next_if(|row| !row.as_ref().is_ok_and(|(place, _)| is_later(place.value()))) {
        parts.push(decode(row?.1.value())?);
    }
    Ok(parts)
}
