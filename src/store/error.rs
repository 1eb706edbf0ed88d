//! What can go wrong with a data directory, each with the way out.

use std::{path::PathBuf, sync::Arc};

/// A store that cannot be opened, read or written. Cheap to clone: one failure may answer many.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The directory holds files of something else.
    #[error(
        "{directory} holds {file:?}, which is no part of a ledger; name an empty directory, or one that a node made"
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// A file that is not ours.
        file: String,
    },
    /// The directory was written by a newer program.
    #[error(
        "{directory} has format {found}, this program knows up to {known}; use the program that wrote it, or a newer one"
    )]
    NewerFormat {
        /// The directory.
        directory: PathBuf,
        /// The format it has.
        found: u64,
        /// The newest format that this program knows.
        known: u64,
    },
    /// The directory was written by an older program.
    #[error(
        "{directory} has format {found}, this program reads {oldest} to {known}; go on with the program that wrote it, or name an empty directory to start anew"
    )]
    OlderFormat {
        /// The directory.
        directory: PathBuf,
        /// The format it has.
        found: u64,
        /// The oldest format that this program reads.
        oldest: u64,
        /// The newest format that this program knows.
        known: u64,
    },
    /// The directory is open already, in this process or another.
    #[error(
        "{directory} is in use by another node or store; stop that one, or name another directory"
    )]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The files in the directory are no whole ledger.
    #[error(
        "{directory} is damaged: {reason}; restore the directory from a copy, or name an empty one to start anew"
    )]
    Damaged {
        /// The directory.
        directory: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The directory could not be made, listed or read.
    #[error("{directory} cannot be used: {source}; {}", way_out(.source))]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// A row is missing or has bytes that its type does not.
    #[error("the ledger contradicts itself: {0}; restore the data directory from a copy")]
    Inconsistent(String),
    /// Blocks were given that do not follow the newest one. Nothing was written.
    #[error("the block does not follow the ledger: {0}")]
    Gap(String),
    /// The database failed: a full or failing disk, as a rule.
    #[error("the database failed: {0}; check the disk, then restart")]
    Database(Arc<redb::Error>),
    /// An earlier write failed, so this writer takes no more.
    #[error("an earlier write failed, nothing more is written until a restart: {0}")]
    Poisoned(String),
    /// The system gave no random bytes for a new directory's secret.
    #[error("the system gave no random bytes: {0}")]
    NoRandomness(String),
    /// Nothing has been committed yet, not even genesis.
    #[error("the ledger is empty: genesis was not committed")]
    Empty,
    /// A ledger was there already when genesis was to be written.
    #[error("the ledger has a genesis already")]
    NotEmpty,
    /// A genesis is to take the place of another from which it differs in more than what may change.
    #[error("the ledger has another genesis: {0}")]
    OtherGenesis(String),
    /// A snapshot was asked for at a version that is not durable yet or is pruned.
    #[error(
        "no snapshot at version {requested}: the durable ledger has versions {oldest} to {newest}"
    )]
    VersionOutOfRange {
        /// The version that was asked for.
        requested: u64,
        /// The oldest version.
        oldest: u64,
        /// The newest durable version.
        newest: u64,
    },
}

/// What an operator can do about a directory that cannot be used.
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
    /// Whether the disk did not do what was asked of it, or an earlier error kept the database from asking.
    /// All that was durable before is as it was.
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
