//! The error of a failed operation on the log.

use crate::StoreError;
use redb::StorageError;
use std::io;

/// Returns the error of a failed operation on the log, in the form of a database error.
pub(crate) fn failed(operation: &str, error: &io::Error) -> StoreError {
    let cause = io::Error::new(
        error.kind(),
        format!("{operation} the write-ahead log: {error}"),
    );
    StorageError::from(cause).into()
}
