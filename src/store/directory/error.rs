//! Errors of a data directory.

use crate::StoreError;
use redb::{DatabaseError, StorageError};
use std::{
    io::{self, ErrorKind},
    path::Path,
    sync::Arc,
};

/// A failure of the disk before the node has started: the directory is the matter.
pub(crate) fn unusable(directory: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Database(error) => match &*error {
            redb::Error::Io(source) => StoreError::Directory {
                directory: directory.to_owned(),
                source: Arc::new(io::Error::new(source.kind(), source.to_string())),
            },
            _ => StoreError::Database(error),
        },
        other => other,
    }
}

/// Stands for a directory where there is none.
pub(crate) const BACKEND: &str = "the storage backend";

pub(crate) fn damaged(directory: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged {
        directory: directory.to_owned(),
        reason: reason.into(),
    }
}

pub(crate) fn database_error(directory: &Path, error: DatabaseError) -> StoreError {
    let directory = directory.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse { directory },
        DatabaseError::Storage(StorageError::Io(error))
            if !matches!(
                error.kind(),
                ErrorKind::InvalidData | ErrorKind::UnexpectedEof
            ) =>
        {
            StoreError::Directory {
                directory,
                source: Arc::new(error),
            }
        }
        other => damaged(&directory, other.to_string()),
    }
}

/// The refusal of a directory of something else, to which `file` belongs.
pub(crate) fn foreign(directory: &Path, file: &str) -> StoreError {
    StoreError::Foreign {
        directory: directory.to_owned(),
        file: file.to_owned(),
    }
}
