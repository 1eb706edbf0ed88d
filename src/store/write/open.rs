//! Opening of a writer.

use crate::{
    StoreError, StoreWriter,
    directory::{
        error::{BACKEND, damaged, unusable},
        format::{prepare, upgrade},
        lock::DirectoryLock,
        open::log_file,
    },
    io::fault_isolation::DiskStatus,
    read::{load::load_view, view::LatestView},
    tables::schema::FORMAT,
    wal::Wal,
};
use redb::{Database, ReadableDatabase, StorageBackend};
use std::{path::Path, sync::Arc};

/// Where a store is.
pub(crate) enum StoreLocation<'a> {
    /// In a directory that is ours.
    Directory(&'a Path, DirectoryLock),
    /// Nowhere; this is its log.
    Backend(Arc<dyn StorageBackend>),
}

impl StoreLocation<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::Directory(directory, _) => directory,
            Self::Backend(_) => Path::new(BACKEND),
        }
    }

    /// The file of the block log; made where there is none and none is needed.
    fn log(
        self,
        is_needed: bool,
    ) -> Result<(Arc<dyn StorageBackend>, Option<DirectoryLock>), StoreError> {
        match self {
            Self::Directory(directory, lock) => {
                Ok((Arc::new(log_file(directory, is_needed)?), Some(lock)))
            }
            Self::Backend(log) => Ok((log, None)),
        }
    }
}

/// The writer of a prepared database, in which all is that the log had; its newest moment is published unless
/// the ledger is empty.
pub(crate) fn load(
    (database, disk): (Database, DiskStatus),
    place: StoreLocation<'_>,
) -> Result<StoreWriter, StoreError> {
    let directory = &place.path().to_owned();
    let identity = prepare(&database, directory)?;
    if identity.format < FORMAT {
        upgrade(&database)?;
    }
    disk.check().map_err(|error| unusable(directory, error))?;
    let (digests, state) = (identity.digests, identity.log);
    let (file, lock) = place.log(state.is_open)?;
    let log = Wal::new(file, digests.wal_key(), state.generation, disk.sync_timer());
    let log = log.map_err(|error| unusable(directory, error))?;
    let latest_view = LatestView::default();
    let transaction = database.begin_read()?;
    if let Some(view) = load_view(&transaction, digests).map_err(|error| match error {
        StoreError::Inconsistent(reason) => damaged(directory, reason),
        StoreError::Database(error) => damaged(directory, error.to_string()),
        other => other,
    })? {
        latest_view.set(view);
    }
    drop(transaction);
    let log = (log, state.is_open);
    let mut writer = StoreWriter::new((database, disk), log, lock, digests, latest_view);
    if state.is_open {
        writer
            .recover(directory)
            .map_err(|error| unusable(directory, error))?;
    }
    Ok(writer)
}
