//! Measurement of the disks that hold a data directory.

use ledger_store::FileSize;
use std::{fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

/// Name of the ledger file, which may be a link to another disk.
const LEDGER: &str = "ledger.redb";

/// Name of the write-ahead log.
const LOG: &str = "ledger.log";

/// Unit of the number of blocks that a file takes, in bytes, whatever the file system is.
const BLOCK_BYTES: u64 = 512;

/// The space of a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskSpace {
    /// Free space for users without privileges.
    pub(super) free: u64,
    /// Size of the disk, or 0 if the system does not report it.
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

/// The space of the disks that hold a data directory.
#[derive(Clone, Debug)]
pub(super) struct DirectorySpace {
    /// The data directory.
    pub(super) directory: Arc<Path>,
    /// Disk of the ledger file.
    pub(super) ledger: DiskSpace,
    /// Disk of the saved mempool, if it is another one.
    pub(super) pool: Option<DiskSpace>,
    /// Size of the ledger file.
    pub(super) database: FileSize,
    /// Space that the write-ahead log takes, in bytes.
    pub(super) log_bytes: u64,
}

impl DirectorySpace {
    /// Measures the disks of a data directory. Blocks until the file system responds.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the directory or its ledger file does not exist
    /// or cannot be accessed.
    pub(super) fn of(directory: &Arc<Path>) -> io::Result<Self> {
        let ledger = directory.join(LEDGER);
        // The log is missing before the first start is complete.
        let log_bytes =
            fs::metadata(directory.join(LOG)).map_or(0, |log| log.blocks() * BLOCK_BYTES);
        let is_one = fs::metadata(&ledger)?.dev() == fs::metadata(directory)?.dev();
        Ok(Self {
            directory: Arc::clone(directory),
            ledger: DiskSpace::of(&ledger)?,
            pool: if is_one {
                None
            } else {
                Some(DiskSpace::of(directory)?)
            },
            database: FileSize::of(directory)?,
            log_bytes,
        })
    }

    /// Returns the space that the files of the node take on the disk of the ledger, in bytes.
    pub(super) fn node_bytes(&self) -> u64 {
        self.database.disk_bytes.saturating_add(self.log_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_only_directories_with_a_ledger() {
        let directory = tempfile::tempdir().unwrap();
        let path: Arc<Path> = directory.path().into();
        assert!(DirectorySpace::of(&path).is_err());
        fs::write(path.join(LEDGER), "").unwrap();
        let space = DirectorySpace::of(&path).unwrap();
        assert!(space.ledger.free <= space.ledger.total);
        assert_eq!(space.pool, None);
    }

    #[test]
    fn measures_the_disk_of_a_linked_ledger() {
        let directory = tempfile::tempdir().unwrap();
        let path: Arc<Path> = directory.path().into();
        // A file of procfs, a file system without size.
        std::os::unix::fs::symlink("/proc/version", path.join(LEDGER)).unwrap();
        let space = DirectorySpace::of(&path).unwrap();
        assert_eq!(space.ledger.total, 0);
        assert!(space.pool.unwrap().total > 0);
    }
}
