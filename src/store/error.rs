//! Errors of a store. An error of a data directory states what the operator can do.

use std::{path::PathBuf, sync::Arc};

/// A store that cannot be opened, read, or written.
///
/// Cheap to clone, because one failure may be the answer to many requests.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The directory holds files of another program.
    #[error(
        "{directory} contains {file:?}, which is not a file of a ledger; name an empty directory, \
         or the data directory of a node"
    )]
    Foreign {
        /// Path of the directory.
        directory: PathBuf,
        /// One of these files.
        file: String,
    },
    /// A newer program wrote the directory.
    #[error(
        "{directory} has format {found}, and this program reads {known}; use the program \
         that wrote it, or a newer one"
    )]
    NewerFormat {
        /// Path of the directory.
        directory: PathBuf,
        /// The format of the directory.
        found: u64,
        /// The format that this program reads.
        known: u64,
    },
    /// The directory has a format that is too old for this program.
    #[error(
        "{directory} has format {found}, and this program reads {known}; use the program that \
         wrote it, or start with an empty directory"
    )]
    OlderFormat {
        /// Path of the directory.
        directory: PathBuf,
        /// The format of the directory.
        found: u64,
        /// The format that this program reads.
        known: u64,
    },
    /// The directory is already open, in this or another process.
    #[error("{directory} is in use by another node or store; stop it, or name another directory")]
    InUse {
        /// Path of the directory.
        directory: PathBuf,
    },
    /// The files in the directory are not a complete ledger.
    #[error(
        "{directory} is damaged: {reason}; restore the directory from a copy, or start with an \
         empty directory"
    )]
    Damaged {
        /// Path of the directory.
        directory: PathBuf,
        /// The damage.
        reason: String,
    },
    /// The directory or a file in it could not be created, listed, read, or written.
    #[error("{directory} cannot be used: {source}; {}", advice(.source))]
    Directory {
        /// Path of the directory.
        directory: PathBuf,
        /// The error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// A row is missing, or its bytes encode no value of its type.
    #[error("the ledger is inconsistent: {0}; restore the data directory from a copy")]
    Inconsistent(String),
    /// Blocks do not follow the newest block. Nothing was written.
    #[error("the block does not extend the ledger: {0}")]
    Gap(String),
    /// The database failed, usually because the disk is full or failing.
    #[error("the database failed: {0}; check the disk, then restart")]
    Database(Arc<redb::Error>),
    /// The disk or a quota has no space for a record of the write-ahead log. Nothing was written,
    /// and the caller can repeat the write once space is free.
    #[error("no disk space for the next blocks: {0}")]
    DiskFull(String),
    /// The path of an open file of the store was removed or changed while it was written. The
    /// write is in the open file, which the next start does not find.
    #[error(
        "{path} {change} while the node writes it; the ledger is in the file that was there: put \
         it back, or copy it before the node stops, then restart"
    )]
    FileMoved {
        /// Path of the file.
        path: PathBuf,
        /// The change of the path.
        change: PathChange,
    },
    /// An earlier write failed, so the writer accepts no more.
    #[error("an earlier write failed, and writes are disabled until a restart: {0}")]
    Poisoned(String),
    /// The store was closed before it applied the block that a reader waits for. The block is not
    /// lost: the next start applies it.
    #[error("the store is closed")]
    Closed,
    /// A durable block was not applied to the database in time. The block is not lost, and a later
    /// read may succeed.
    #[error("block {height} is durable but not applied yet, because the disk is slow; retry later")]
    NotApplied {
        /// Height of the block.
        height: u64,
    },
    /// The system provided no random bytes for the digest key of a new directory.
    #[error("the operating system returned no random bytes: {0}")]
    NoRandomness(String),
    /// The store has no genesis.
    #[error("the ledger is empty: genesis was not committed")]
    Empty,
    /// The store already has a genesis.
    #[error("the ledger already has a genesis")]
    NotEmpty,
    /// A genesis cannot replace the stored one, because it differs in more than framework upgrades
    /// above the newest block.
    #[error("the ledger has another genesis: {0}")]
    OtherGenesis(String),
    /// A requested version is not applied yet, or is pruned.
    #[error(
        "no snapshot at version {requested}: the durable ledger has versions {oldest} to {newest}"
    )]
    VersionOutOfRange {
        /// The requested version.
        requested: u64,
        /// The oldest readable version.
        oldest: u64,
        /// The newest applied version.
        newest: u64,
    },
}

/// Returns the advice for a directory that cannot be used.
fn advice(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{
        AlreadyExists, FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match source.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "free disk space, then restart",
        PermissionDenied | ReadOnlyFilesystem | NotADirectory | IsADirectory | AlreadyExists
        | NotFound => "check that it is a directory and that this user may write to it",
        _ => "check the disk, then restart",
    }
}

/// The change of a path whose file is open.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PathChange {
    /// The path does not exist: the file or its directory was removed or renamed.
    #[error("was removed or renamed")]
    Removed,
    /// The path leads to another file.
    #[error("was replaced by another file")]
    Replaced,
    /// The path cannot be followed.
    #[error("cannot be accessed any more ({0})")]
    Inaccessible(Arc<std::io::Error>),
}

impl StoreError {
    /// Returns whether the disk failed, or a removed file or an earlier failure prevents access to
    /// it.
    ///
    /// Content that was durable before is unchanged.
    pub fn is_failed_io(&self) -> bool {
        match self {
            Self::Database(error) => {
                matches!(**error, redb::Error::Io(_) | redb::Error::PreviousIo)
            }
            Self::Poisoned(_) | Self::FileMoved { .. } => true,
            _ => false,
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                Self::Database(Arc::new(error.into()))
            }
        }
    )*};
}

from_redb!(
    DatabaseError,
    StorageError,
    TableError,
    TransactionError,
    CommitError,
    CursorError,
    CompactionError,
    SetDurabilityError
);

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn advises_by_the_cause_of_an_unusable_directory() {
        const EIO: i32 = 5;
        let message = |source: io::Error| {
            let source = Arc::new(source);
            let directory = PathBuf::from("some/data");
            StoreError::Directory { directory, source }.to_string()
        };
        let failing = message(io::Error::from_raw_os_error(EIO));
        assert!(failing.contains("check the disk"), "{failing}");
        assert!(!failing.contains("may write to"), "{failing}");
        for kind in [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
        ] {
            let refused = message(kind.into());
            assert!(refused.contains("may write to"), "{refused}");
        }
        let full = message(io::ErrorKind::StorageFull.into());
        assert!(full.contains("free disk space, then restart"), "{full}");
    }
}
