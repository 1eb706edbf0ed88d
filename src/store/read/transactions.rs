//! Transactions of consecutive versions. Their rows stand side by side in each table, so that a table is gone
//! through once instead of being searched for every version.

use crate::{Snapshot, StoreError, StoredTransaction, tables::schema::Position};
use redb::Range;
use std::{iter::Peekable, ops::RangeInclusive};

/// Rows by version.
type Rows = Range<'static, u64, &'static [u8]>;
/// Rows by version and number.
type Parts = Peekable<Range<'static, Position, &'static [u8]>>;

/// The transactions of consecutive versions, ascending.
struct TransactionScan {
    versions: RangeInclusive<u64>,
    transactions: Rows,
    events: Parts,
    writes: Parts,
}

impl Snapshot {
    /// The rows of the transactions of `versions`, which are in the window; [`Self::transaction_in_block`] gives those of one.
    ///
    /// # Errors
    /// When the database fails; as items, also where a row is missing or damaged.
    pub fn transactions(
        &self,
        versions: RangeInclusive<u64>,
    ) -> Result<impl Iterator<Item = Result<StoredTransaction, StoreError>> + use<>, StoreError>
    {
        let tables = &self.view.tables;
        let parts = (*versions.start(), 0)..=(*versions.end(), u32::MAX);
        Ok(TransactionScan {
            transactions: tables.transactions.range(versions.clone())?,
            events: tables.events.range(parts.clone())?.peekable(),
            writes: tables.writes.range(parts)?.peekable(),
            versions,
        })
    }
}

impl TransactionScan {
    fn read(&mut self, version: u64) -> Result<StoredTransaction, StoreError> {
        let missing = || StoreError::Inconsistent(format!("transaction {version} is missing"));
        let (found, row) = self.transactions.next().ok_or_else(missing)??;
        if found.value() != version {
            return Err(missing());
        }
        let mut rows = StoredTransaction::new(version, row.value())?;
        each_part(&mut self.events, version, |row| rows.push_event(row))?;
        each_part(&mut self.writes, version, |row| rows.push_write(row))?;
        Ok(rows)
    }
}

impl Iterator for TransactionScan {
    type Item = Result<StoredTransaction, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let version = self.versions.next()?;
        Some(self.read(version))
    }
}

/// Gives `add` the next rows, up to the last one of `version`.
fn each_part(rows: &mut Parts, version: u64, mut add: impl FnMut(&[u8])) -> Result<(), StoreError> {
    // A row that cannot be read is taken too, so that its error is told.
    let is_later = |place: Position| place.0 > version;
    while let Some(row) =
        rows.next_if(|row| !row.as_ref().is_ok_and(|(place, _)| is_later(place.value())))
    {
        add(row?.1.value());
    }
    Ok(())
}
