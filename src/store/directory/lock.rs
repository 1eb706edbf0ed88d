//! The lock of a data directory, which one store holds at a time.
//!
//! redb locks its own file. Before that file exists, two stores that start at the same time could
//! replace the file of each other, so the directory has a lock of its own.

use super::error::io_error;
use crate::StoreError;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::ErrorKind,
    path::Path,
};

/// File of the lock.
///
/// The file is empty and is never removed. If it were, a process could lock a new file of this name
/// while another one holds the lock of the removed file.
pub(crate) const LOCK_NAME: &str = "ledger.lock";

/// A locked directory. The lock is released when this is dropped or when the process ends.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Locks an existing directory.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::InUse`] if this or another process holds the lock, and
    /// [`StoreError::Directory`] if the lock file cannot be created.
    pub(super) fn take(directory: &Path) -> Result<Self, StoreError> {
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        Self::lock(directory, &options)
    }

    /// Locks a directory without creating the lock file. Returns `None` if it does not exist, so
    /// that no store has opened the directory.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::take`].
    pub(super) fn take_existing(directory: &Path) -> Result<Option<Self>, StoreError> {
        match directory.join(LOCK_NAME).try_exists() {
            Ok(false) => Ok(None),
            Ok(true) => Self::lock(directory, File::options().write(true)).map(Some),
            Err(error) => Err(io_error(directory)(error)),
        }
    }

    fn lock(directory: &Path, options: &OpenOptions) -> Result<Self, StoreError> {
        let file = options
            .open(directory.join(LOCK_NAME))
            .map_err(io_error(directory))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
                directory: directory.to_owned(),
            }),
            // redb locks its file in the same way, and works without a lock if the file system has
            // none.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self { _file: file })
            }
            Err(TryLockError::Error(error)) => Err(io_error(directory)(error)),
        }
    }
}
