//! Opening of a writer: format check, first view, and recovery.

use super::{
    applier::StoreApplier, database::DatabaseWriter, disk_space::LedgerDisk, recovery::LogReplay,
    usage::UsageProbe, writer::StoreWriter,
};
use crate::{
    StoreError,
    directory::{
        error::{BACKEND, damaged, unusable},
        format::prepare,
        lock::DirectoryLock,
        open::{OpenDatabase, open_log, open_log_unchanged},
    },
    index::compaction::CompactionState,
    io::file_identity::{OpenFile, StoreFiles},
    read::{load::load_view, view::LatestView},
    wal::Wal,
};
use redb::{ReadableDatabase, StorageBackend};
use std::{path::Path, sync::Arc};

/// The location of a store.
pub(crate) enum StoreLocation<'a> {
    /// A locked directory.
    Directory(&'a Path, DirectoryLock),
    /// A directory that must not change, whose lock may be absent.
    Unchanged(&'a Path, Option<DirectoryLock>),
    /// A storage backend, with the backend of its write-ahead log.
    Backend(Arc<dyn StorageBackend>),
}

impl StoreLocation<'_> {
    /// Returns the path that errors name.
    fn path(&self) -> &Path {
        match self {
            Self::Directory(directory, _) | Self::Unchanged(directory, _) => directory,
            Self::Backend(_) => Path::new(BACKEND),
        }
    }

    /// Opens the file of the write-ahead log, which is created if it is absent and not needed.
    fn open_log(self, is_needed: bool) -> Result<OpenLog, StoreError> {
        match self {
            Self::Directory(directory, lock) => {
                let (backend, file) = open_log(directory, is_needed)?;
                Ok(OpenLog {
                    backend: Arc::new(backend),
                    file: Some(file),
                    lock: Some(lock),
                })
            }
            Self::Unchanged(directory, lock) => Ok(OpenLog {
                backend: open_log_unchanged(directory, is_needed)?,
                file: None,
                lock,
            }),
            Self::Backend(backend) => Ok(OpenLog {
                backend,
                file: None,
                lock: None,
            }),
        }
    }
}

/// The open write-ahead log of a store.
struct OpenLog {
    backend: Arc<dyn StorageBackend>,
    /// The file of the log, or `None` if the store is not in a directory.
    file: Option<OpenFile>,
    /// The lock of the directory.
    lock: Option<DirectoryLock>,
}

/// Creates the writer of an open database, and recovers the records of the write-ahead log.
///
/// Creates the tables of an empty database. The latest view of the writer is empty if the store has
/// no genesis. The replay is `None` if the log was closed.
///
/// # Errors
///
/// Returns the errors of [`Store::open`](crate::Store::open).
pub(crate) fn open_writer(
    database: OpenDatabase,
    location: StoreLocation<'_>,
) -> Result<(StoreWriter, Option<LogReplay>), StoreError> {
    let OpenDatabase {
        database,
        disk_status,
        file: database_file,
        disk: database_disk,
    } = database;
    let directory = &location.path().to_owned();
    let identity = prepare(&database, directory)?;
    disk_status
        .check()
        .map_err(|error| unusable(directory, error))?;
    let (digest_key, log_state) = (identity.digest_key, identity.log_state);
    let disk = match &location {
        StoreLocation::Directory(directory, _) => Some(LedgerDisk::new(directory)),
        StoreLocation::Unchanged(..) | StoreLocation::Backend(_) => None,
    };
    let OpenLog {
        backend,
        file: log_file,
        lock,
    } = location.open_log(log_state.is_open)?;
    let files = StoreFiles::new(database_file.into_iter().chain(log_file));
    let wal = Wal::new(
        backend,
        digest_key.wal_key(),
        log_state.generation,
        disk_status.sync_timer(),
    )
    .map_err(|error| unusable(directory, error))?;
    let latest_view = LatestView::default();
    let transaction = database.begin_read()?;
    if let Some(view) = load_view(&transaction, digest_key).map_err(|error| match error {
        StoreError::Inconsistent(reason) => damaged(directory, reason),
        StoreError::Database(error) => damaged(directory, error.to_string()),
        other => other,
    })? {
        latest_view.set(view);
    }
    drop(transaction);
    let database = DatabaseWriter {
        database,
        disk_status,
        files: files.clone(),
        latest_view,
        digest_key,
        compaction: CompactionState::default(),
    };
    let applier = StoreApplier::new(database, lock);
    let mut writer = StoreWriter::new(
        applier,
        wal,
        log_state.is_open,
        files,
        UsageProbe::new(database_disk),
    );
    writer.disk = disk;
    let replay = log_state.is_open.then(|| writer.recover(directory));
    let replay = replay
        .transpose()
        .map_err(|error| unusable(directory, error))?;
    Ok((writer, replay))
}
