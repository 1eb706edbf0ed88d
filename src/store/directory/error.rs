//! Errors that name the data directory.

use crate::StoreError;
use redb::{DatabaseError, StorageError};
use std::{
    io::{self, ErrorKind},
    path::Path,
    sync::Arc,
};

/// Name that errors give to a store that is not in a directory.
pub(crate) const BACKEND: &str = "the storage backend";

/// Returns a conversion of I/O errors to [`StoreError::Directory`].
pub(crate) fn io_error(directory: &Path) -> impl Fn(io::Error) -> StoreError {
    |error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    }
}

/// Converts a disk failure at the start to [`StoreError::Directory`], because the operator has to
/// look at the directory. Returns any other error unchanged.
pub(crate) fn unusable(directory: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Database(error) => match &*error {
            redb::Error::Io(source) => {
                io_error(directory)(io::Error::new(source.kind(), source.to_string()))
            }
            _ => StoreError::Database(error),
        },
        other => other,
    }
}

/// Returns [`StoreError::Damaged`].
pub(crate) fn damaged(directory: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged {
        directory: directory.to_owned(),
        reason: reason.into(),
    }
}

/// Converts an error of redb when it opens the file of the database.
///
/// Invalid data and an unexpected end of the file are damage; any other I/O error concerns the
/// directory.
pub(super) fn database_error(directory: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse {
            directory: directory.to_owned(),
        },
        DatabaseError::Storage(StorageError::Io(error))
            if !matches!(
                error.kind(),
                ErrorKind::InvalidData | ErrorKind::UnexpectedEof
            ) =>
        {
            io_error(directory)(error)
        }
        other => damaged(directory, other.to_string()),
    }
}

/// Returns [`StoreError::Foreign`] for a directory that holds `file`, a file of another program.
pub(super) fn foreign(directory: &Path, file: &str) -> StoreError {
    StoreError::Foreign {
        directory: directory.to_owned(),
        file: file.to_owned(),
    }
}
