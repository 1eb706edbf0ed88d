//! Format of the database, and creation of its tables.

use crate::directory::{
    error::{damaged, foreign},
    names::FILE_NAME,
};
use crate::{
    StoreError,
    tables::{
        codec::decode,
        digest::DigestKey,
        schema::{
            BLOCKS, EVENTS, FORMAT, FORMAT_OLDEST, LogState, META, META_DIGEST_KEY, META_FORMAT,
            META_LOG, RUNS, TRANSACTIONS, WRITES,
        },
    },
};
use redb::{Database, ReadTransaction, ReadableDatabase, TableError, TableHandle};
use std::path::Path;

/// What a database says of itself.
pub(crate) struct Identity {
    pub(crate) digests: DigestKey,
    pub(crate) format: u64,
    pub(crate) log: LogState,
}

/// Checks the format of an opened database, or makes the tables of an empty one.
pub(crate) fn prepare(database: &Database, directory: &Path) -> Result<Identity, StoreError> {
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
pub(crate) fn identity(
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

pub(crate) fn create_tables(database: &Database, key: DigestKey) -> Result<DigestKey, StoreError> {
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
pub(crate) fn upgrade(database: &Database) -> Result<(), StoreError> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    transaction
        .open_table(META)?
        .insert(META_FORMAT, FORMAT.to_le_bytes().as_slice())?;
    Ok(transaction.commit()?)
}
