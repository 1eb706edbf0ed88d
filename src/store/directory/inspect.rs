//! The check of a data directory that changes nothing in it.

use super::{
    error::{database_error, io_error},
    format::identity,
    lock::DirectoryLock,
    names::{FILE_NAME, check_names},
    open::{FileSize, builder, check_file},
};
use crate::{
    StoreError, StoreOptions,
    tables::{
        codec::decode,
        schema::{META, META_GENESIS, META_HEAD, PersistedHead},
    },
};
use ledger_types::Genesis;
use redb::{DatabaseError, ReadableDatabase as _};
use rustix::fs::{Access, access};
use std::path::Path;

/// The content of a data directory, as an opening would find it.
#[derive(Debug, PartialEq, Eq)]
pub enum Inspection {
    /// There is no ledger, and an opening creates one.
    Empty,
    /// The ledger was not closed, so that an opening first reads all of it.
    Unclosed,
    /// A ledger that was closed.
    Ledger {
        /// The genesis of the ledger.
        genesis: Box<Genesis>,
        /// The height of the newest block.
        height: u64,
    },
}

/// Checks that a store can be opened in `directory`, without writing anything.
///
/// Verifies the checksums of a file that takes at most `check_bytes_max` bytes on the disk.
///
/// # Errors
///
/// Returns the errors of [`Store::open_checked`](crate::Store::open_checked) that can be found
/// without an opening: [`StoreError::Directory`] also if this process may not write the directory,
/// or the one in which it would be created.
pub fn inspect_directory(
    directory: &Path,
    options: &StoreOptions,
    check_bytes_max: u64,
) -> Result<Inspection, StoreError> {
    let failed = io_error(directory);
    if !directory.try_exists().map_err(&failed)? {
        let parent = directory.ancestors().skip(1).find(|parent| parent.exists());
        // A relative path ends with an empty one, which stands for the current directory.
        let parent = parent.unwrap_or(Path::new("."));
        check_access(parent).map_err(failed)?;
        return Ok(Inspection::Empty);
    }
    check_access(directory).map_err(&failed)?;
    check_names(directory)?;
    let _lock = DirectoryLock::take_existing(directory)?;
    if !directory.join(FILE_NAME).try_exists().map_err(&failed)? {
        return Ok(Inspection::Empty);
    }
    if FileSize::of(directory).map_err(failed)?.disk_bytes <= check_bytes_max {
        check_file(directory, options)?;
    }
    match builder(options).open_read_only(directory.join(FILE_NAME)) {
        Ok(database) => read(&database.begin_read()?, directory),
        Err(DatabaseError::RepairAborted) => Ok(Inspection::Unclosed),
        Err(error) => Err(database_error(directory, error)),
    }
}

/// Checks that this process may create files in a directory.
fn check_access(directory: &Path) -> std::io::Result<()> {
    Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Returns the ledger of a database.
fn read(transaction: &redb::ReadTransaction, directory: &Path) -> Result<Inspection, StoreError> {
    if identity(transaction, directory)?.is_none() {
        return Ok(Inspection::Empty);
    }
    let meta = transaction.open_table(META)?;
    let (Some(genesis), Some(head)) = (meta.get(META_GENESIS)?, meta.get(META_HEAD)?) else {
        return Ok(Inspection::Empty);
    };
    let head: PersistedHead = decode(head.value(), "the head")?;
    Ok(Inspection::Ledger {
        genesis: Box::new(decode_genesis(genesis.value())?),
        height: head.tip.height,
    })
}

/// Decodes the stored genesis.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if it is not one.
pub(crate) fn decode_genesis(bytes: &[u8]) -> Result<Genesis, StoreError> {
    serde_json::from_slice(bytes)
        .map_err(|error| StoreError::Inconsistent(format!("the genesis is unreadable: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use ledger_test_support::{MemoryChain, test_genesis};
    use ledger_types::Parameters;
    use std::{collections::BTreeMap, fs, path::PathBuf, time::SystemTime};

    /// Returns length and time of the last change of each file of a directory.
    fn files(directory: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let state = |path: &Path| {
            let metadata = fs::metadata(path).unwrap();
            (metadata.len(), metadata.modified().unwrap())
        };
        entries
            .map(|entry| (entry.path(), state(&entry.path())))
            .collect()
    }

    #[test]
    fn finds_what_an_opening_would_find_and_changes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        let options = StoreOptions::default();
        let inspect = || inspect_directory(&directory, &options, u64::MAX);
        assert_eq!(inspect().unwrap(), Inspection::Empty);
        assert!(!directory.exists());

        let genesis = test_genesis(Parameters::default());
        let mut store = Store::open(&directory, &options).unwrap();
        let block = &MemoryChain::new(&genesis).blocks[0];
        store.initialize(&genesis, block).unwrap();
        assert!(matches!(inspect(), Err(StoreError::InUse { .. })));
        drop(store);

        let before = files(&directory);
        let found = Inspection::Ledger {
            genesis: Box::new(genesis),
            height: 0,
        };
        assert_eq!(inspect().unwrap(), found);
        assert_eq!(files(&directory), before);

        fs::write(directory.join("ledger.redb"), [7; 4096]).unwrap();
        assert!(matches!(inspect(), Err(StoreError::Damaged { .. })));
        fs::remove_dir_all(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("other"), "").unwrap();
        assert!(matches!(inspect(), Err(StoreError::Foreign { .. })));
    }
}
