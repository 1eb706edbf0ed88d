//! How much of the file is in use.

use crate::{Store, StoreError, directory::FILE_NAME, write::writer::CommitKind};
use std::{fs, io, path::Path};

/// The size of a ledger's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSize {
    /// How long it is, in bytes; it grows by doubling up to 4 GB, then by that much.
    pub file_bytes: u64,
    /// What it takes on the disk, in bytes: pages that nothing was ever written to take nothing. Where the
    /// system does not tell, as much as it is long.
    pub disk_bytes: u64,
}

impl FileSize {
    /// That of the ledger in `directory`. Costs one look at the file's metadata, however large it is.
    ///
    /// # Errors
    /// When there is no such file, or it may not be looked at.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(directory.join(FILE_NAME))?;
        Ok(Self {
            file_bytes: metadata.len(),
            disk_bytes: disk_bytes(&metadata),
        })
    }
}

#[cfg(unix)]
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    // By its definition in blocks of 512 bytes, whatever the file system's are.
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512)
}

#[cfg(not(unix))]
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

/// The pages of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Pages that hold something, or will be free when the next commits have passed.
    pub used_pages: u64,
    /// The size of a page, in bytes.
    pub page_bytes: usize,
    /// Keys and values, in bytes; the rest of the used pages is structure and room left in them.
    pub stored_bytes: u64,
}

impl Store {
    /// Counts what is in use. Reads the whole file, so it is for a store, or a copy of one, that does no
    /// work; a running node tells only how long its file is.
    ///
    /// # Errors
    /// When the database fails.
    pub fn usage(&mut self) -> Result<Usage, StoreError> {
        // Only a write knows the allocated pages; it is taken back when it is dropped.
        let stats = self.writer.begin_write(CommitKind::Checkpoint)?.stats()?;
        Ok(Usage {
            used_pages: stats.allocated_pages(),
            page_bytes: stats.page_size(),
            stored_bytes: stats.stored_bytes(),
        })
    }
}
