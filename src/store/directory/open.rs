//! From a directory to an open database: whose it is, which format it has, what was in memory.

use crate::directory::{
    error::{BACKEND, damaged, database_error, unusable},
    format::{identity, prepare},
    lock::DirectoryLock,
    names::{FILE_NAME, LOG_NAME, NEW_FILE_NAME, check_names, make_directory, sync_names},
};
use crate::{
    StoreError, StoreOptions,
    io::fault_isolation::{DiskStatus, FaultIsolatingBackend},
};
use redb::{
    Builder, Database, DatabaseError, ReadableDatabase, StorageBackend, backends::FileBackend,
};
use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
    sync::Arc,
};

/// Opens or makes the database file in `directory`, which is ours from then on. One that takes at most
/// `check_bytes_max` on the disk is compared with its checksums before.
pub(crate) fn open_file(
    directory: &Path,
    options: &StoreOptions,
    check_bytes_max: u64,
) -> Result<((Database, DiskStatus), DirectoryLock), StoreError> {
    let failed = |error: io::Error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    };
    make_directory(directory).map_err(failed)?;
    check_names(directory)?;
    let lock = DirectoryLock::take(directory)?;
    let path = directory.join(FILE_NAME);
    if !path.try_exists().map_err(failed)? {
        make_file(directory, &path, options)?;
    } else if FileSize::of(directory).map_err(failed)?.disk_bytes <= check_bytes_max {
        check_file(directory, options)?;
    }
    sync_names(directory).map_err(failed)?;
    let backend = file_backend(directory)?;
    check_format(directory, options)?;
    let database = open_shielded(backend, directory, options)?;
    Ok((database, lock))
}

/// Refuses a file that is not for this program before anything in it is changed, which opening it for writing
/// does. One that was not closed as it should be can be read after its repair only, and is judged then.
fn check_format(directory: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    match builder(options).open_read_only(directory.join(FILE_NAME)) {
        Ok(database) => identity(&database.begin_read()?, directory).map(drop),
        Err(DatabaseError::RepairAborted) => Ok(()),
        Err(error) => Err(database_error(directory, error)),
    }
}

/// The file that is in `directory`.
fn file_backend(directory: &Path) -> Result<FileBackend, StoreError> {
    let failed = |error: io::Error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    };
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(directory.join(FILE_NAME))
        .map_err(failed)?;
    // The database would begin a new ledger in it.
    if file.metadata().map_err(failed)?.len() == 0 {
        return Err(damaged(directory, format!("{FILE_NAME} is empty")));
    }
    FileBackend::new(file).map_err(|error| database_error(directory, error))
}

/// Reads the whole file in `directory` and compares each page with its checksum. Changes nothing.
fn check_file(directory: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let scratch = FaultIsolatingBackend::scratch(file_backend(directory)?).map_err(|error| {
        StoreError::Directory {
            directory: directory.to_owned(),
            source: Arc::new(error),
        }
    })?;
    let opened = builder(options).create_with_backend(scratch);
    let checked = opened.and_then(|mut database| database.check_integrity());
    match checked.map_err(|error| database_error(directory, error))? {
        true => Ok(()),
        false => Err(damaged(
            directory,
            "what it holds does not match its checksums",
        )),
    }
}

/// The database in `backend`, with what tells of the failures of its disk.
fn open_shielded(
    backend: impl StorageBackend,
    directory: &Path,
    options: &StoreOptions,
) -> Result<(Database, DiskStatus), StoreError> {
    let (shield, disk) = FaultIsolatingBackend::new(backend);
    let database = builder(options).create_with_backend(shield);
    // A failed write comes first: what the database then says of its file follows from it.
    disk.check().map_err(|error| unusable(directory, error))?;
    let database = database.map_err(|error| database_error(directory, error))?;
    Ok((database, disk))
}

/// Makes the database under another name first, so that a crash leaves no half of one. The directory is
/// locked: nobody else makes one in it.
fn make_file(directory: &Path, path: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    };
    let new = directory.join(NEW_FILE_NAME);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    if let Err(error) = make_database(directory, &new, options) {
        // It takes room, of which there may be none.
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    fs::rename(&new, path).map_err(failed)
}

/// Makes an empty ledger in the file `new`, and closes it.
fn make_database(directory: &Path, new: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let database = builder(options)
        .create(new)
        .map_err(|error| database_error(directory, error))?;
    let prepared = prepare(&database, directory);
    prepared
        .map(drop)
        .map_err(|error| unusable(directory, error))
}

/// Opens or makes the database in `backend`.
pub(crate) fn open_backend(
    backend: impl StorageBackend,
    options: &StoreOptions,
) -> Result<(Database, DiskStatus), StoreError> {
    open_shielded(backend, Path::new(BACKEND), options)
}

fn builder(options: &StoreOptions) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX));
    builder
}

pub(crate) fn log_file(directory: &Path, is_needed: bool) -> Result<FileBackend, StoreError> {
    let failed = |error: io::Error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    };
    let path = directory.join(LOG_NAME);
    let is_there = path.try_exists().map_err(failed)?;
    if !is_there && is_needed {
        let reason = format!("{LOG_NAME} is missing, which has the newest blocks");
        return Err(damaged(directory, reason));
    }
    let mut options = fs::File::options();
    let file = options
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path);
    let file = file.map_err(failed)?;
    if !is_there {
        sync_names(directory).map_err(failed)?;
    }
    FileBackend::new(file).map_err(|error| database_error(directory, error))
}

/// The size of a ledger's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSize {
    /// How long it is, in bytes; it grows by doubling up to 4 GB, then by that much.
    pub file_bytes: u64,
    /// What it takes on the disk, in bytes: pages that nothing was ever written to take nothing. Where the
    /// system does not tell, as much as it is long.
    pub disk_bytes: u64,
}

impl FileSize {
    /// That of the ledger in `directory`. Costs one look at the file's metadata, however large it is.
    ///
    /// # Errors
    /// When there is no such file, or it may not be looked at.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(directory.join(FILE_NAME))?;
        Ok(Self {
            file_bytes: metadata.len(),
            disk_bytes: disk_bytes(&metadata),
        })
    }
}

#[cfg(unix)]
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    // By its definition in blocks of 512 bytes, whatever the file system's are.
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512)
}

#[cfg(not(unix))]
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
