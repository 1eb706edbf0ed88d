//! The disks of a data directory, and the room on them.

use std::{fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

/// The ledger's file in the data directory, which may be a link to another disk.
const LEDGER: &str = "ledger.redb";

/// The room on a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskSpace {
    /// For users without privileges.
    pub(super) free: u64,
    /// In all; 0 where the system does not tell.
    pub(super) total: u64,
}

impl DiskSpace {
    fn of(path: &Path) -> io::Result<Self> {
        let disk = rustix::fs::statvfs(path)?;
        Ok(Self {
            free: disk.f_bavail.saturating_mul(disk.f_frsize),
            total: disk.f_blocks.saturating_mul(disk.f_frsize),
        })
    }
}

/// The room for what a data directory holds.
#[derive(Clone, Debug)]
pub(super) struct DirectorySpace {
    /// The data directory.
    pub(super) directory: Arc<Path>,
    /// Where the ledger grows.
    pub(super) ledger: DiskSpace,
    /// Where the pool is saved, if that is another disk.
    pub(super) pool: Option<DiskSpace>,
}

impl DirectorySpace {
    /// Blocks for as long as the file system takes to answer.
    ///
    /// # Errors
    /// When the directory or its ledger is not there, or may not be looked at.
    pub(super) fn of(directory: &Arc<Path>) -> io::Result<Self> {
        let ledger = directory.join(LEDGER);
        let is_one = fs::metadata(&ledger)?.dev() == fs::metadata(directory)?.dev();
        Ok(Self {
            directory: Arc::clone(directory),
            ledger: DiskSpace::of(&ledger)?,
            pool: if is_one {
                None
            } else {
                Some(DiskSpace::of(directory)?)
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_a_ledger_has_room_and_one_without_has_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path: Arc<Path> = directory.path().into();
        assert!(DirectorySpace::of(&path).is_err());
        fs::write(path.join(LEDGER), "").unwrap();
        let space = DirectorySpace::of(&path).unwrap();
        assert!(space.ledger.free <= space.ledger.total);
        assert_eq!(space.pool, None);
    }

    #[test]
    fn a_ledger_that_is_a_link_counts_where_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path: Arc<Path> = directory.path().into();
        // A file of a file system that every Linux has, and on which nothing is stored.
        std::os::unix::fs::symlink("/proc/version", path.join(LEDGER)).unwrap();
        let space = DirectorySpace::of(&path).unwrap();
        assert_eq!(space.ledger.total, 0);
        assert!(space.pool.unwrap().total > 0);
    }
}
