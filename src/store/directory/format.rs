//! Format of a database: its check, and the creation of tables.

use super::{
    error::{damaged, foreign},
    names::FILE_NAME,
};
use crate::{
    StoreError,
    tables::{
        codec::decode,
        digest::DigestKey,
        schema::{
            BLOCKS, EVENTS, FORMAT, LogState, META, META_DIGEST_KEY, META_FORMAT, META_LOG, RUNS,
            TRANSACTIONS, WRITES,
        },
    },
};
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableError, TableHandle};
use std::path::Path;

/// Digest key and log state of a database of the format that this program reads.
pub(crate) struct DatabaseIdentity {
    pub(crate) digest_key: DigestKey,
    pub(crate) log_state: LogState,
}

/// Checks the format of an open database, and creates the tables of an empty one.
///
/// # Errors
///
/// Returns the errors of [`identity`], and [`StoreError::NoRandomness`] if the system provides no
/// random bytes for a new digest key.
pub(crate) fn prepare(
    database: &Database,
    directory: &Path,
) -> Result<DatabaseIdentity, StoreError> {
    match identity(&database.begin_read()?, directory)? {
        Some(identity) => Ok(identity),
        None => Ok(DatabaseIdentity {
            digest_key: create_tables(database, DigestKey::random()?)?,
            log_state: LogState::default(),
        }),
    }
}

/// Returns the identity of a database, or `None` if it has no tables.
///
/// # Errors
///
/// * [`StoreError::Foreign`] if the database has tables of another program.
/// * [`StoreError::NewerFormat`] and [`StoreError::OlderFormat`] for a format that this program
///   does not read.
/// * [`StoreError::Damaged`] if the format, the digest key, or the log state cannot be decoded.
/// * [`StoreError::Database`] if the database fails.
pub(super) fn identity(
    transaction: &ReadTransaction,
    directory: &Path,
) -> Result<Option<DatabaseIdentity>, StoreError> {
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
        // A table of this name with other types is damage as well: no other program uses the same
        // names for file and table.
        Err(error) => return Err(damaged(directory, error.to_string())),
    };
    let Some(format) = meta.get(META_FORMAT)? else {
        return Err(damaged(directory, "it has no format number"));
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
        Some(found) if (1..FORMAT).contains(&found) => Err(StoreError::OlderFormat {
            directory: directory.to_owned(),
            found,
            known: FORMAT,
        }),
        Some(FORMAT) => Ok(Some(DatabaseIdentity {
            digest_key: digest_key(&meta, directory)?,
            log_state: log_state(&meta, directory)?,
        })),
        _ => Err(damaged(directory, "its format number is unknown")),
    }
}

fn digest_key(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    directory: &Path,
) -> Result<DigestKey, StoreError> {
    let key = meta.get(META_DIGEST_KEY)?;
    let bytes = key.as_ref().and_then(|key| key.value().try_into().ok());
    bytes
        .map(DigestKey::from_bytes)
        .ok_or_else(|| damaged(directory, "it has no digest key"))
}

fn log_state(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    directory: &Path,
) -> Result<LogState, StoreError> {
    match meta.get(META_LOG)? {
        Some(log) => decode(log.value(), "the state of the write-ahead log")
            .map_err(|error| damaged(directory, error.to_string())),
        None => Ok(LogState::default()),
    }
}

/// Creates the tables of a database without tables, with this digest key.
///
/// # Errors
///
/// Returns [`StoreError::Database`] if the database fails.
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
