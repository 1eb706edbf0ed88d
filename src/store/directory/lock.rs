//! Whose a directory is: one store at a time. The database locks its own file, but there is a time before that
//! file, in which two that start would take each other's place.

use crate::StoreError;
use std::{
    fs::{File, TryLockError},
    io::{self, ErrorKind},
    path::Path,
    sync::Arc,
};

/// The file that is locked. It is empty and stays: were it removed, another could lock its name anew while a
/// third still has the one that was there.
pub(crate) const LOCK_NAME: &str = "ledger.lock";

/// A directory that is ours until this is dropped, or the process ends in whatever way.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Takes a directory that is there.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another has it, in this process or another; [`StoreError::Directory`] when
    /// nothing may be made in it.
    pub(crate) fn take(directory: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::Directory {
            directory: directory.to_owned(),
            source: Arc::new(error),
        };
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(directory.join(LOCK_NAME))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
                directory: directory.to_owned(),
            }),
            // The database asks for the same of its file, and does without where there are no locks.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self { _file: file })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}
