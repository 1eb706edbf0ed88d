//! From a directory to an open database: whose it is, which format it has, what was in memory.

use crate::{
    StoreError, StoreOptions, StoreWriter,
    directory::{
        FILE_NAME, LOG_NAME, NEW_FILE_NAME, check_names, foreign, lock::DirectoryLock,
        make_directory, sync_names,
    },
    index::{BloomFilters, Kind, Manifest, bloom::BLOOM_BYTES_MAX, key::IndexBatch},
    io::fault_isolation::{DiskStatus, FaultIsolatingBackend},
    read::view::{LatestView, ReadView, empty_memtables},
    tables::{
        digest::DigestKey,
        schema::{
            BLOCKS, EVENTS, FORMAT, FORMAT_OLDEST, LogState, META, META_DIGEST_KEY, META_FORMAT,
            META_HEAD, META_LOG, META_MANIFEST, PersistedHead, RUNS, TRANSACTIONS, Tables,
            TransactionRow, WRITES, decode,
        },
    },
    usage::FileSize,
    wal::Wal,
    write::pruned_state::decode_write,
};
use ledger_types::ContractEvent;
use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, StorageBackend,
    StorageError, TableError, TableHandle, backends::FileBackend,
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

/// A failure of the disk before the node has started: the directory is the matter.
fn unusable(directory: &Path, error: StoreError) -> StoreError {
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

/// Stands for a directory where there is none.
const BACKEND: &str = "the storage backend";

fn builder(options: &StoreOptions) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX));
    builder
}

pub(crate) fn damaged(directory: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged {
        directory: directory.to_owned(),
        reason: reason.into(),
    }
}

fn database_error(directory: &Path, error: DatabaseError) -> StoreError {
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

/// What a database says of itself.
struct Identity {
    digests: DigestKey,
    format: u64,
    log: LogState,
}

/// Checks the format of an opened database, or makes the tables of an empty one.
fn prepare(database: &Database, directory: &Path) -> Result<Identity, StoreError> {
    match identity(&database.begin_read()?, directory)? {
        Some(identity) => Ok(identity),
        None => Ok(Identity {
            digests: create_tables(database, DigestKey::random()?)?,
            format: FORMAT,
            log: LogState::default(),
        }),
    }
}

/// Checks the format; `None` where there are no tables yet.
fn identity(
    transaction: &ReadTransaction,
    directory: &Path,
) -> Result<Option<Identity>, StoreError> {
    let meta = match transaction.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) => {
            if let Some(table) = transaction.list_tables()?.next() {
                return Err(foreign(
                    directory,
                    &format!("{FILE_NAME} (table {:?})", table.name()),
                ));
            }
            return Ok(None);
        }
        // A table of this name that is of another kind is damage too: no other program names file and table so.
        Err(error) => return Err(damaged(directory, error.to_string())),
    };
    let Some(format) = meta.get(META_FORMAT)? else {
        return Err(damaged(directory, "it names no format"));
    };
    let found = format
        .value()
        .first_chunk()
        .copied()
        .map(u64::from_le_bytes);
    match found {
        Some(found) if found > FORMAT => Err(StoreError::NewerFormat {
            directory: directory.to_owned(),
            found,
            known: FORMAT,
        }),
        Some(found) if (1..FORMAT_OLDEST).contains(&found) => Err(StoreError::OlderFormat {
            directory: directory.to_owned(),
            found,
            oldest: FORMAT_OLDEST,
            known: FORMAT,
        }),
        Some(format @ FORMAT_OLDEST..=FORMAT) => {
            let key = meta.get(META_DIGEST_KEY)?;
            let bytes = key.as_ref().and_then(|key| key.value().try_into().ok());
            let digests = bytes
                .map(DigestKey::from_bytes)
                .ok_or_else(|| damaged(directory, "it has no digest key"))?;
            let log = match meta.get(META_LOG)? {
                Some(log) => decode(log.value(), "the state of the block log")
                    .map_err(|error| damaged(directory, error.to_string()))?,
                None => LogState::default(),
            };
            Ok(Some(Identity {
                digests,
                format,
                log,
            }))
        }
        _ => Err(damaged(directory, "it names an unknown format")),
    }
}

/// Makes the tables of a database that has none, with this secret.
pub(crate) fn create_tables_if_empty(
    database: &Database,
    key: DigestKey,
) -> Result<(), StoreError> {
    if database.begin_read()?.list_tables()?.next().is_none() {
        create_tables(database, key)?;
    }
    Ok(())
}

fn create_tables(database: &Database, key: DigestKey) -> Result<DigestKey, StoreError> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(META_FORMAT, FORMAT.to_le_bytes().as_slice())?;
        meta.insert(META_DIGEST_KEY, key.as_bytes().as_slice())?;
        transaction.open_table(TRANSACTIONS)?;
        transaction.open_table(EVENTS)?;
        transaction.open_table(WRITES)?;
        transaction.open_table(BLOCKS)?;
        transaction.open_table(RUNS)?;
    }
    transaction.commit()?;
    Ok(key)
}

/// Makes a database of an older format one of the newest.
fn upgrade(database: &Database) -> Result<(), StoreError> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    transaction
        .open_table(META)?
        .insert(META_FORMAT, FORMAT.to_le_bytes().as_slice())?;
    Ok(transaction.commit()?)
}

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

fn log_file(directory: &Path, is_needed: bool) -> Result<FileBackend, StoreError> {
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

fn load_view(
    transaction: &ReadTransaction,
    digests: DigestKey,
) -> Result<Option<ReadView>, StoreError> {
    let meta = transaction.open_table(META)?;
    let Some(head) = meta.get(META_HEAD)? else {
        return Ok(None);
    };
    let head: PersistedHead = decode(head.value(), "the head")?;
    let manifest = match meta.get(META_MANIFEST)? {
        Some(manifest) => decode(manifest.value(), "the catalog of runs")?,
        None => Manifest::default(),
    };
    let tables = Tables::open(transaction)?;
    let filters = BloomFilters::default().of(&manifest, &tables.runs, BLOOM_BYTES_MAX)?;
    let mut view = ReadView {
        head,
        tables,
        manifest: Arc::new(manifest),
        filters,
        memtables: empty_memtables(),
        digests,
    };
    let entries = unwritten_entries(&view)?;
    for (memtable, entries) in view.memtables.iter_mut().zip(entries) {
        memtable.push(entries);
    }
    Ok(Some(view))
}

/// The index entries that are in no run yet, made from the rows they name.
fn unwritten_entries(view: &ReadView) -> Result<[Vec<u8>; 4], StoreError> {
    let from = |kind| {
        view.manifest
            .runs(kind)
            .unflushed_from
            .max(view.head.oldest_version)
    };
    let mut batch = IndexBatch::new(view.digests);
    for row in view
        .tables
        .transactions
        .range(from(Kind::Hash).min(from(Kind::Account))..)?
    {
        let (version, row) = row?;
        let version = version.value();
        let row = TransactionRow::decode(row.value(), version)?;
        batch.add_transaction(version, &row.info.v0().transaction_hash, &row.transaction);
    }
    for row in view.tables.events.range((from(Kind::Stream), 0)..)? {
        let (place, row) = row?;
        let event: ContractEvent = decode(row.value(), format_args!("event {:?}", place.value()))?;
        if let Some((key, sequence_number)) = event.stream_position() {
            batch.add_event(&key, sequence_number, place.value());
        }
    }
    for row in view.tables.writes.range((from(Kind::State), 0)..)? {
        let (place, row) = row?;
        let (key, _) = decode_write(row.value(), format_args!("write {:?}", place.value()))?;
        batch.add_write(&key, place.value());
    }
    let mut entries_by_kind = batch.into_sorted();
    for (kind, entries) in Kind::OF_ROWS.into_iter().zip(&mut entries_by_kind) {
        let is_unwritten = |entry: &&[u8]| {
            kind.version(entry)
                .is_some_and(|version| version >= from(kind))
        };
        let kept = entries.chunks_exact(kind.width()).filter(is_unwritten);
        *entries = kept.flatten().copied().collect();
    }
    Ok(entries_by_kind)
}
