//! Results of queries on snapshots.

use crate::error::{ApiError, ErrorKind};
use ledger_store::{Snapshot, StoreError};
use ledger_types::{BlockInfo, LedgerInfo};

/// The error of a query on a snapshot.
#[derive(Debug)]
pub(crate) enum QueryError {
    /// The store cannot be read. The response has no ledger headers.
    Store(StoreError),
    /// The snapshot does not have the requested data. The response has the ledger headers of the
    /// snapshot.
    Request(ErrorKind),
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ErrorKind> for QueryError {
    fn from(error: ErrorKind) -> Self {
        Self::Request(error)
    }
}

impl QueryError {
    /// Separates errors of the store, which the node counts, from errors of the request.
    pub(super) fn split<T>(result: Result<T, Self>) -> Result<Result<T, ErrorKind>, StoreError> {
        match result {
            Ok(value) => Ok(Ok(value)),
            Err(Self::Request(error)) => Ok(Err(error)),
            Err(Self::Store(error)) => Err(error),
        }
    }
}

/// Returns the block of a readable version.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the store does not have the block.
pub(crate) fn block_of_version(snapshot: &Snapshot, version: u64) -> Result<BlockInfo, StoreError> {
    let missing = || StoreError::Inconsistent(format!("the block of version {version} is missing"));
    snapshot.block_of_version(version)?.ok_or_else(missing)
}

/// Returns the result of a query with the ledger info of its snapshot.
pub(super) fn at_snapshot<T>(
    (ledger_info, result): (LedgerInfo, Result<T, ErrorKind>),
) -> Result<(LedgerInfo, T), ApiError> {
    match result {
        Ok(value) => Ok((ledger_info, value)),
        Err(error) => Err(error.at(ledger_info)),
    }
}
