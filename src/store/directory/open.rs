//! Opening of the files in a data directory, and the verification of checksums.

use super::{
    error::{BACKEND, damaged, database_error, io_error, unusable},
    flight_files::clean_flight_files,
    format::{identity, prepare},
    lock::DirectoryLock,
    names::{FILE_NAME, LOG_NAME, NEW_FILE_NAME, check_names, make_directory, sync_names},
};
use crate::{
    StoreError, StoreOptions,
    io::{
        fault_isolation::{DiskStatus, FaultIsolatingBackend},
        file_identity::OpenFile,
        memory_file::MemoryFile,
    },
    scrub::{check_pages, control::ScrubControl},
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

/// An open database behind fault isolation.
pub(crate) struct OpenDatabase {
    pub(crate) database: Database,
    pub(crate) disk_status: DiskStatus,
    /// The file of the database, or `None` if it is not in a directory.
    pub(crate) file: Option<OpenFile>,
    /// The database file, for reads that bypass the database.
    pub(crate) disk: Arc<dyn StorageBackend>,
}

/// Locks a directory and opens the database file in it. Creates directory and file if absent.
///
/// Verifies the checksums of a file that takes at most `check_bytes_max` bytes on the disk.
///
/// # Errors
///
/// Returns the errors of [`Store::open_checked`](crate::Store::open_checked).
pub(crate) fn open_file(
    directory: &Path,
    options: &StoreOptions,
    check_bytes_max: u64,
) -> Result<(OpenDatabase, DirectoryLock), StoreError> {
    let failed = io_error(directory);
    make_directory(directory).map_err(&failed)?;
    check_names(directory)?;
    let lock = DirectoryLock::take(directory)?;
    clean_flight_files(directory);
    let path = directory.join(FILE_NAME);
    if !path.try_exists().map_err(&failed)? {
        make_file(directory, &path, options)?;
    } else if FileSize::of(directory).map_err(&failed)?.disk_bytes <= check_bytes_max {
        check_file(directory, options)?;
    }
    sync_names(directory).map_err(&failed)?;
    let (backend, file) = file_backend(directory)?;
    check_format(directory, options)?;
    let database = OpenDatabase {
        file: Some(file),
        ..open_isolated(backend, directory, options)?
    };
    Ok((database, lock))
}

/// Locks a directory and opens the database file in it, without changing either: writes stay in
/// memory. Compares all pages with their checksums first.
///
/// The lock is `None` if the directory has no lock file, as a copy of a ledger.
///
/// # Errors
///
/// Returns the errors of [`Store::open_unchanged`](crate::Store::open_unchanged).
pub(crate) fn open_unchanged(
    directory: &Path,
    options: &StoreOptions,
    control: &Arc<dyn ScrubControl>,
) -> Result<(OpenDatabase, Option<DirectoryLock>), StoreError> {
    let lock = DirectoryLock::take_existing(directory)?;
    check_format(directory, options)?;
    let disk: Arc<dyn StorageBackend> = Arc::new(file_backend(directory)?.0);
    check_pages(&disk, control)?;
    let scratch = FaultIsolatingBackend::scratch(file_backend(directory)?.0);
    let scratch = scratch.map_err(io_error(directory))?;
    Ok((open_isolated(scratch, directory, options)?, lock))
}

/// Opens the file of the write-ahead log so that writes stay in memory.
///
/// # Errors
///
/// Returns [`StoreError::Damaged`] if the file is absent and `is_needed`, and
/// [`StoreError::Directory`] if it cannot be opened.
pub(crate) fn open_log_unchanged(
    directory: &Path,
    is_needed: bool,
) -> Result<Arc<dyn StorageBackend>, StoreError> {
    let path = directory.join(LOG_NAME);
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && is_needed => {
            return Err(missing_log(directory));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Arc::new(MemoryFile::default()));
        }
        Err(error) => return Err(io_error(directory)(error)),
    };
    let backend = FileBackend::new(file).map_err(|error| database_error(directory, error))?;
    let scratch = FaultIsolatingBackend::scratch(backend).map_err(io_error(directory))?;
    Ok(Arc::new(scratch))
}

/// Locks a directory, moves pages at the end of its database file to free ones, and cuts the file.
///
/// The file is not isolated from faults, because no reader has to survive one.
///
/// # Errors
///
/// Returns [`StoreError::InUse`] if the directory is open, and [`StoreError::Directory`] or
/// [`StoreError::Database`] if the file cannot be opened, read, or written.
pub(crate) fn compact_file(directory: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let _lock = DirectoryLock::take(directory)?;
    let mut database = builder(options)
        .open(directory.join(FILE_NAME))
        .map_err(|error| database_error(directory, error))?;
    database.compact()?;
    Ok(())
}

/// Opens the database in `backend`, which may be empty.
///
/// # Errors
///
/// Returns [`StoreError::Damaged`] if the content is not a database, and [`StoreError::Directory`]
/// if the backend fails.
pub(crate) fn open_backend(
    backend: impl StorageBackend,
    options: &StoreOptions,
) -> Result<OpenDatabase, StoreError> {
    open_isolated(backend, Path::new(BACKEND), options)
}

pub(super) fn builder(options: &StoreOptions) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX));
    builder
}

/// Checks the format of the file before it is opened for writing, which changes it.
///
/// The format of a file that was not closed can be read only after its repair, so the caller checks
/// it again.
fn check_format(directory: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    match builder(options).open_read_only(directory.join(FILE_NAME)) {
        Ok(database) => identity(&database.begin_read()?, directory).map(drop),
        Err(DatabaseError::RepairAborted) => Ok(()),
        Err(error) => Err(database_error(directory, error)),
    }
}

/// Opens the existing database file of a directory, and returns it with its identity.
fn file_backend(directory: &Path) -> Result<(FileBackend, OpenFile), StoreError> {
    let failed = io_error(directory);
    let path = directory.join(FILE_NAME);
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(&failed)?;
    let identity = OpenFile::new(&path, &file).map_err(&failed)?;
    // redb would create a new database in an empty file.
    if file.metadata().map_err(&failed)?.len() == 0 {
        return Err(damaged(directory, format!("{FILE_NAME} is empty")));
    }
    let backend = FileBackend::new(file).map_err(|error| database_error(directory, error))?;
    Ok((backend, identity))
}

/// Reads the whole database file and compares each page with its checksum, without changing it.
pub(super) fn check_file(directory: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let scratch = FaultIsolatingBackend::scratch(file_backend(directory)?.0);
    let scratch = scratch.map_err(io_error(directory))?;
    let opened = builder(options).create_with_backend(scratch);
    let checked = opened.and_then(|mut database| database.check_integrity());
    match checked.map_err(|error| database_error(directory, error))? {
        true => Ok(()),
        false => Err(damaged(
            directory,
            "its content does not match its checksums",
        )),
    }
}

/// Opens the database in `backend` behind fault isolation.
fn open_isolated(
    backend: impl StorageBackend,
    directory: &Path,
    options: &StoreOptions,
) -> Result<OpenDatabase, StoreError> {
    let (backend, disk_status) = FaultIsolatingBackend::new(backend);
    let disk = backend.disk();
    let database = builder(options).create_with_backend(backend);
    // A failed write takes precedence, because an error of redb would be its consequence.
    disk_status
        .check()
        .map_err(|error| unusable(directory, error))?;
    let database = database.map_err(|error| database_error(directory, error))?;
    Ok(OpenDatabase {
        database,
        disk_status,
        file: None,
        disk,
    })
}

/// Creates the database file under a temporary name, so that a crash leaves no incomplete one.
///
/// The caller holds the lock of the directory, so no other process creates the file.
fn make_file(directory: &Path, path: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let failed = io_error(directory);
    let new = directory.join(NEW_FILE_NAME);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    if let Err(error) = make_database(directory, &new, options) {
        // The disk may be full, so the incomplete file is removed. If that fails too, the next
        // start removes it.
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    fs::rename(&new, path).map_err(failed)
}

/// Creates an empty database in the file `new`, and closes it.
fn make_database(directory: &Path, new: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let database = builder(options)
        .create(new)
        .map_err(|error| database_error(directory, error))?;
    let prepared = prepare(&database, directory);
    prepared
        .map(drop)
        .map_err(|error| unusable(directory, error))
}

/// Opens the file of the write-ahead log, which is created if it is absent, and returns it with its
/// identity.
///
/// # Errors
///
/// Returns [`StoreError::Damaged`] if the file is absent and `is_needed`, and
/// [`StoreError::Directory`] if it cannot be opened or created.
pub(crate) fn open_log(
    directory: &Path,
    is_needed: bool,
) -> Result<(FileBackend, OpenFile), StoreError> {
    let failed = io_error(directory);
    let path = directory.join(LOG_NAME);
    let exists = path.try_exists().map_err(&failed)?;
    if !exists && is_needed {
        return Err(missing_log(directory));
    }
    let file = fs::File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(&failed)?;
    if !exists {
        sync_names(directory).map_err(&failed)?;
    }
    let identity = OpenFile::new(&path, &file).map_err(&failed)?;
    let backend = FileBackend::new(file).map_err(|error| database_error(directory, error))?;
    Ok((backend, identity))
}

/// Returns the error of an absent log that has the newest blocks.
fn missing_log(directory: &Path) -> StoreError {
    let reason = format!("{LOG_NAME} is missing, and it contains the newest blocks");
    damaged(directory, reason)
}

/// Size of a store's database file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSize {
    /// Length of the file, in bytes. redb doubles it up to 4 GB, then adds 4 GB at a time.
    pub file_bytes: u64,
    /// Space that the file takes on the disk, in bytes. Pages that were never written take none.
    /// Equal to the length on systems that do not report it.
    pub disk_bytes: u64,
}

impl FileSize {
    /// Returns the size of the database file in `directory`.
    ///
    /// Reads only the metadata of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist or its metadata cannot be read.
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
    // The unit is 512 bytes by definition, whatever the block size of the file system.
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512)
}

#[cfg(not(unix))]
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
