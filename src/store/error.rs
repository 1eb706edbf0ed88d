//! Errors of the store. Messages of errors that an operator can repair include the remedy.

use std::{path::PathBuf, sync::Arc};

/// An error of opening, reading or writing a store.
///
/// Clones are cheap, so one failure can be returned to many callers.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The directory contains a file that is not part of a ledger.
    #[error(
        "{directory} holds {file:?}, which is no part of a ledger; name an empty directory, or one that a node made"
    )]
    Foreign {
        /// Path of the directory.
        directory: PathBuf,
        /// Name of the foreign file.
        file: String,
    },
    /// A newer program wrote the directory.
    #[error(
        "{directory} has format {found}, this program knows up to {known}; use the program that wrote it, or a newer one"
    )]
    NewerFormat {
        /// Path of the directory.
        directory: PathBuf,
        /// Format of the directory.
        found: u64,
        /// Newest format that this program reads.
        known: u64,
    },
    /// The directory has a format that is too old for this program.
    #[error(
        "{directory} has format {found}, this program reads {oldest} to {known}; go on with the program that wrote it, or name an empty directory to start anew"
    )]
    OlderFormat {
        /// Path of the directory.
        directory: PathBuf,
        /// Format of the directory.
        found: u64,
        /// Oldest format that this program reads.
        oldest: u64,
        /// Newest format that this program reads.
        known: u64,
    },
    /// The directory is already open, in this process or in another one.
    #[error(
        "{directory} is in use by another node or store; stop that one, or name another directory"
    )]
    InUse {
        /// Path of the directory.
        directory: PathBuf,
    },
    /// The files in the directory are damaged or incomplete.
    #[error(
        "{directory} is damaged: {reason}; restore the directory from a copy, or name an empty one to start anew"
    )]
    Damaged {
        /// Path of the directory.
        directory: PathBuf,
        /// Description of the damage.
        reason: String,
    },
    /// The directory or a file in it cannot be created, listed, read or written.
    #[error("{directory} cannot be used: {source}; {}", way_out(.source))]
    Directory {
        /// Path of the directory.
        directory: PathBuf,
        /// Error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// A stored row is missing or malformed, or a block to be written contradicts itself.
    #[error("the ledger contradicts itself: {0}; restore the data directory from a copy")]
    Inconsistent(String),
    /// The blocks to be committed do not follow the newest block. Nothing was written.
    #[error("the block does not follow the ledger: {0}")]
    Gap(String),
    /// The database failed, usually because the disk is full or faulty.
    #[error("the database failed: {0}; check the disk, then restart")]
    Database(Arc<redb::Error>),
    /// The writer accepts no more writes: an earlier one failed, or the store is closed.
    #[error("an earlier write failed, nothing more is written until a restart: {0}")]
    Poisoned(String),
    /// The operating system provided no random bytes for the secret of a new directory.
    #[error("the system gave no random bytes: {0}")]
    NoRandomness(String),
    /// The ledger is empty: not even genesis was committed.
    #[error("the ledger is empty: genesis was not committed")]
    Empty,
    /// Genesis cannot be committed, because the ledger already has one.
    #[error("the ledger has a genesis already")]
    NotEmpty,
    /// The new genesis differs from the stored one in more than the permitted changes.
    #[error("the ledger has another genesis: {0}")]
    OtherGenesis(String),
    /// A requested version is pruned, or newer than the newest visible version.
    #[error(
        "no snapshot at version {requested}: the durable ledger has versions {oldest} to {newest}"
    )]
    VersionOutOfRange {
        /// Requested version.
        requested: u64,
        /// Oldest readable version.
        oldest: u64,
        /// Newest visible version.
        newest: u64,
    },
}

/// Returns advice for an operator about a directory that cannot be used.
fn way_out(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{
        AlreadyExists, FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match source.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "make room for it, then start again",
        PermissionDenied | ReadOnlyFilesystem | NotADirectory | IsADirectory | AlreadyExists
        | NotFound => "check that it is a directory this user may write to",
        _ => "check the disk that it is on, then start again",
    }
}

impl StoreError {
    /// Returns whether a disk operation failed, or was not attempted because of an earlier
    /// failure.
    ///
    /// Data that was durable before the failure is unaffected.
    pub fn is_failed_io(&self) -> bool {
        match self {
            Self::Database(error) => {
                matches!(**error, redb::Error::Io(_) | redb::Error::PreviousIo)
            }
            Self::Poisoned(_) => true,
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
    StorageError,
    TableError,
    TransactionError,
    CommitError,
    CursorError,
    SetDurabilityError
);

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn the_way_out_of_a_directory_that_cannot_be_used_is_that_of_its_cause() {
        const EIO: i32 = 5;
        let words = |source: io::Error| {
            let source = Arc::new(source);
            let directory = PathBuf::from("some/data");
            StoreError::Directory { directory, source }.to_string()
        };
        let failing = words(io::Error::from_raw_os_error(EIO));
        assert!(failing.contains("check the disk"), "{failing}");
        assert!(!failing.contains("may write to"), "{failing}");
        for kind in [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
        ] {
            let refused = words(kind.into());
            assert!(refused.contains("may write to"), "{refused}");
        }
        let full = words(io::ErrorKind::StorageFull.into());
        assert!(full.contains("make room"), "{full}");
    }
}
