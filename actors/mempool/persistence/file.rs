//! The file that a graceful stop saves the pool in for the next start.
//!
//! Layout: magic, a SHA3-256 checksum of the rest, then the BCS form of [`SavedPool`]. The file is
//! written under a temporary name and renamed, so after the end of the process it is either
//! complete or absent. After a power failure during the stop it may be incomplete, which its
//! checksum shows. A temporary file that cannot be completed is removed: on a full disk it would
//! occupy space that the ledger needs.

use crate::{
    config::{POOL_BYTES_MAX, POOL_TRANSACTIONS_MAX},
    protocol::mempool::Pending,
};
use ledger_crypto::HashValue;
use ledger_types::{CheckedTransaction, SignedTransaction};
use ledger_vm::Chain;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

/// Name of the file in the data directory.
pub(crate) const FILE_NAME: &str = "mempool.bcs";

/// Name of the temporary file that is renamed when it is complete.
const TEMPORARY_FILE_NAME: &str = "mempool.bcs.tmp";

/// Name of the newest file whose content could not be used. Older ones are overwritten.
const UNUSED_FILE_NAME: &str = "mempool.bcs.unused";

/// Identifier of the format. The last digit is its version.
const MAGIC: &[u8; 8] = b"MEMPOOL1";
/// Size of the header before the content, in bytes: magic and checksum.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + HashValue::LENGTH;
/// Maximum size of a file that is written or read, in bytes.
///
/// It is twice the size of the largest pool that the settings permit, because a stop before the end
/// of a start saves the transactions of the last file and newer ones. It does not depend on the
/// settings of a node, which may change before the next start. The pool decides how many
/// transactions it restores.
const FILE_BYTES_MAX: u64 = 2 * file_bytes_bound(POOL_TRANSACTIONS_MAX, POOL_BYTES_MAX);

/// The content of the file after its checksum.
#[derive(Serialize, Deserialize)]
struct SavedPool {
    chain_id: u8,
    transactions: Vec<SavedTransaction>,
}

/// A pending transaction in the file.
#[derive(Serialize, Deserialize)]
struct SavedTransaction {
    inserted_at_secs: u64,
    transaction: SignedTransaction,
}

/// Reason why a saved pool is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SavedPoolError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it has {0} bytes, and the maximum is {FILE_BYTES_MAX}")]
    TooLarge(u64),
    #[error("it is not a saved mempool, or another version of this program wrote it")]
    UnknownFormat,
    #[error("its checksum does not match its content")]
    Damaged,
    #[error("its content cannot be read: {0}")]
    Content(#[from] bcs::Error),
    #[error("it belongs to chain {0}")]
    OtherChain(u8),
}

/// Returns an upper bound of the size of the file of a pool, in bytes.
///
/// The pool holds `transactions` transactions with a total serialized size of `bytes`. The bound
/// exceeds the actual size by a few bytes at most.
pub(crate) const fn file_bytes_bound(transactions: usize, bytes: usize) -> u64 {
    /// Maximum size of the chain ID and the length of the list.
    const PREFIX_BYTES_MAX: usize = 1 + 10;
    let timestamp_bytes = transactions.saturating_mul(size_of::<u64>());
    let content = bytes.saturating_add(timestamp_bytes);
    content.saturating_add(HEADER_BYTES + PREFIX_BYTES_MAX) as u64
}

/// Saves `pending` in `directory`, or removes an older file if `pending` is empty.
///
/// # Errors
///
/// Returns the error of the file system, [`io::ErrorKind::Other`] if the content cannot be encoded,
/// or [`io::ErrorKind::FileTooLarge`] if it exceeds [`FILE_BYTES_MAX`]. The temporary file is
/// removed. If only a sync failed, the new file exists, but may not survive a power failure.
pub(crate) fn save(directory: &Path, chain: &Chain, pending: &[Pending]) -> io::Result<()> {
    if pending.is_empty() {
        return remove(directory);
    }
    let bytes = encode(chain, pending).map_err(io::Error::other)?;
    // The next start would not read it.
    check_size(bytes.len() as u64)
        .map_err(|error| io::Error::new(io::ErrorKind::FileTooLarge, error))?;
    let saved = write(directory, &bytes);
    if saved.is_err() {
        // The caller needs the first error. The next attempt overwrites an unfinished file, and the
        // next start removes it.
        let _ = remove_unfinished(directory);
    }
    saved
}

fn write(directory: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary_path = directory.join(TEMPORARY_FILE_NAME);
    let mut file = File::create(&temporary_path)?;
    file.write_all(bytes)?;
    let path = directory.join(FILE_NAME);
    if path.try_exists()? {
        // A power failure must leave the old file or the new one.
        file.sync_all()?;
    }
    fs::rename(&temporary_path, path)?;
    sync_concurrently(&file, &File::open(directory)?)
}

/// Syncs a new file and its directory, together in the time of the slower sync.
///
/// # Errors
///
/// Returns the error of the file system. The file may then not survive a power failure, or be
/// incomplete after it, which its checksum shows.
fn sync_concurrently(file: &File, directory: &File) -> io::Result<()> {
    thread::scope(|scope| {
        let syncing = thread::Builder::new().spawn_scoped(scope, || file.sync_all());
        let synced = directory.sync_all();
        match syncing {
            Ok(thread) => thread.join().unwrap_or_else(|_| file.sync_all())?,
            // The system may refuse a thread.
            Err(_) => file.sync_all()?,
        }
        synced
    })
}

/// Removes the temporary file, if it exists: a process that was killed may have left it unfinished.
///
/// # Errors
///
/// Returns the error of the file system if the file exists and cannot be removed.
pub(super) fn remove_unfinished(directory: &Path) -> io::Result<()> {
    match fs::remove_file(directory.join(TEMPORARY_FILE_NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the content of the whole file.
///
/// # Errors
///
/// Returns [`bcs::Error`] if the transactions exceed a limit of the encoding.
pub(crate) fn encode(chain: &Chain, pending: &[Pending]) -> Result<Vec<u8>, bcs::Error> {
    let saved = SavedPool {
        chain_id: chain.id(),
        transactions: pending
            .iter()
            .map(|pending| SavedTransaction {
                inserted_at_secs: pending.inserted_at_secs,
                transaction: pending.transaction.transaction().clone(),
            })
            .collect(),
    };
    let mut bytes = vec![0; HEADER_BYTES];
    bcs::serialize_into(&mut bytes, &saved)?;
    let checksum = HashValue::sha3_of(&[&bytes[HEADER_BYTES..]]);
    bytes[..MAGIC.len()].copy_from_slice(MAGIC);
    bytes[MAGIC.len()..HEADER_BYTES].copy_from_slice(checksum.as_bytes());
    Ok(bytes)
}

/// Returns the pool that is saved in `directory`, oldest transaction first, or `None` if there is
/// no file.
///
/// Signatures are not verified again, because the node itself wrote the file.
///
/// # Errors
///
/// Returns [`SavedPoolError::Io`] if the file cannot be read, [`SavedPoolError::TooLarge`] if it
/// exceeds [`FILE_BYTES_MAX`], or the error of [`decode`].
pub(super) fn load(
    directory: &Path,
    chain: &Chain,
) -> Result<Option<Vec<Pending>>, SavedPoolError> {
    let file = match File::open(directory.join(FILE_NAME)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    check_size(file.metadata()?.len())?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    decode(&bytes, chain).map(Some)
}

/// Checks the size of a file.
///
/// # Errors
///
/// Returns [`SavedPoolError::TooLarge`] if it exceeds [`FILE_BYTES_MAX`].
fn check_size(bytes: u64) -> Result<(), SavedPoolError> {
    if bytes > FILE_BYTES_MAX {
        return Err(SavedPoolError::TooLarge(bytes));
    }
    Ok(())
}

/// Decodes the content of a whole file.
///
/// # Errors
///
/// * [`SavedPoolError::UnknownFormat`] if the file has no complete header or another magic,
/// * [`SavedPoolError::Damaged`] if the checksum does not match,
/// * [`SavedPoolError::Content`] or [`SavedPoolError::OtherChain`] as [`decode_content`] does.
pub(crate) fn decode(bytes: &[u8], chain: &Chain) -> Result<Vec<Pending>, SavedPoolError> {
    let content = bytes
        .get(HEADER_BYTES..)
        .ok_or(SavedPoolError::UnknownFormat)?;
    let (magic, checksum) = bytes[..HEADER_BYTES].split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SavedPoolError::UnknownFormat);
    }
    if checksum != HashValue::sha3_of(&[content]).as_bytes() {
        return Err(SavedPoolError::Damaged);
    }
    decode_content(content, chain)
}

/// Decodes the content that follows the checksum.
///
/// # Errors
///
/// Returns [`SavedPoolError::Content`] if it is no [`SavedPool`], or [`SavedPoolError::OtherChain`]
/// if the chain ID differs.
pub(crate) fn decode_content(
    content: &[u8],
    chain: &Chain,
) -> Result<Vec<Pending>, SavedPoolError> {
    let saved: SavedPool = bcs::from_bytes(content)?;
    if saved.chain_id != chain.id() {
        return Err(SavedPoolError::OtherChain(saved.chain_id));
    }
    let pending = saved.transactions.into_iter().map(|saved| Pending {
        transaction: Arc::new(CheckedTransaction::new_unchecked(
            saved.transaction,
            chain.vendor(),
        )),
        inserted_at_secs: saved.inserted_at_secs,
    });
    Ok(pending.collect())
}

/// Removes the file, if it exists, and syncs the directory.
///
/// A running node removes the file after it has restored the content. Because of the sync, the next
/// start does not restore the content again, even after a power failure.
///
/// # Errors
///
/// Returns the error of the file system if the file cannot be removed or the directory cannot be
/// synced. In the second case, the file may be present again after a power failure.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_file(directory.join(FILE_NAME)) {
        Ok(()) => File::open(directory)?.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Renames a file that cannot be used, so that the next stop does not overwrite it and operators
/// can inspect it. Returns the new path.
///
/// # Errors
///
/// Returns the error of the file system if the file cannot be renamed. It then keeps its name.
pub(super) fn set_aside(directory: &Path) -> io::Result<PathBuf> {
    let unused_path = directory.join(UNUSED_FILE_NAME);
    fs::rename(directory.join(FILE_NAME), &unused_path)?;
    Ok(unused_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::{development_chain, draft::draft};

    fn pending() -> Vec<Pending> {
        let pending = (0..3u64).map(|number| Pending {
            transaction: draft(1, number).checked(),
            inserted_at_secs: 100 + number,
        });
        pending.collect()
    }

    fn load_all(directory: &Path) -> Result<Option<Vec<Pending>>, SavedPoolError> {
        load(directory, &development_chain())
    }

    #[test]
    fn loads_the_saved_pool_until_it_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        assert!(load_all(directory.path()).unwrap().is_none());
        save(directory.path(), &development_chain(), &pending()).unwrap();
        let loaded = load_all(directory.path()).unwrap().unwrap();
        let hashes_and_times = |all: &[Pending]| -> Vec<_> {
            all.iter()
                .map(|p| (p.transaction.hash(), p.inserted_at_secs))
                .collect()
        };
        assert_eq!(hashes_and_times(&loaded), hashes_and_times(&pending()));
        remove(directory.path()).unwrap();
        assert!(load_all(directory.path()).unwrap().is_none());
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            0,
            "the directory is empty"
        );
    }

    #[test]
    fn removes_the_file_when_an_empty_pool_is_saved() {
        let directory = tempfile::tempdir().unwrap();
        save(directory.path(), &development_chain(), &pending()).unwrap();
        save(directory.path(), &development_chain(), &[]).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn removes_the_temporary_file_when_a_save_fails() {
        let directory = tempfile::tempdir().unwrap();
        // No rename replaces a directory.
        fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
        save(directory.path(), &development_chain(), &pending()).unwrap_err();
        assert!(!directory.path().join(TEMPORARY_FILE_NAME).exists());
    }

    #[test]
    fn bounds_the_file_size_within_16_bytes() {
        for count in [0, 1, 3] {
            let pending = &pending()[..count];
            let bytes = pending
                .iter()
                .map(|pending| pending.transaction.size_bytes());
            let bound = file_bytes_bound(count, bytes.sum());
            let actual = encode(&development_chain(), pending).unwrap().len() as u64;
            assert!(
                (actual..actual + 16).contains(&bound),
                "{bound} for {actual}"
            );
        }
    }

    #[test]
    fn rejects_a_file_with_any_damaged_or_missing_byte() {
        let directory = tempfile::tempdir().unwrap();
        save(directory.path(), &development_chain(), &pending()).unwrap();
        let path = directory.path().join(FILE_NAME);
        let intact = fs::read(&path).unwrap();
        for offset in 0..intact.len() {
            let mut damaged = intact.clone();
            damaged[offset] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert!(load_all(directory.path()).is_err(), "byte {offset}");
        }
        for length in 0..intact.len() {
            fs::write(&path, &intact[..length]).unwrap();
            assert!(load_all(directory.path()).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn reads_the_file_of_any_pool_that_the_settings_permit() {
        let largest = file_bytes_bound(POOL_TRANSACTIONS_MAX, POOL_BYTES_MAX);
        check_size(largest).unwrap();
        check_size(2 * largest).unwrap();
    }

    #[test]
    fn rejects_a_file_above_the_maximum_size() {
        let directory = tempfile::tempdir().unwrap();
        let file = File::create(directory.path().join(FILE_NAME)).unwrap();
        // A sparse file, which occupies no disk space.
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        let error = load_all(directory.path()).unwrap_err();
        assert!(matches!(error, SavedPoolError::TooLarge(_)), "{error}");
    }
}
