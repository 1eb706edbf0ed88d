//! Opening a data directory.

use crate::{StoreError, StoreReader, StoreWriter};
use ledger::{ExecutedBlock, Genesis};
use std::path::Path;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Memory for database pages, in bytes.
    pub cache_bytes: u64,
}

/// An opened data directory, exclusively ours.
#[derive(Debug)]
pub struct Store(());

impl Store {
    /// Opens the ledger in `directory`, which is created if absent.
    ///
    /// # Errors
    /// When the directory holds something else, a newer format, damage, or is open already.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        let _ = (directory, options);
        todo!()
    }

    /// Opens the ledger that `backend` holds.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_backend(
        backend: impl redb::StorageBackend,
        options: &StoreOptions,
    ) -> Result<Self, StoreError> {
        let _ = (backend, options);
        todo!()
    }

    /// The genesis the ledger started with, or `None` when nothing is committed yet.
    ///
    /// # Errors
    /// When the database fails.
    pub fn genesis(&self) -> Result<Option<Genesis>, StoreError> {
        todo!()
    }

    /// Commits block 0; durable when it returns.
    ///
    /// # Errors
    /// When there is a ledger already, `block` is no block 0, or the database fails.
    pub fn initialize(&mut self, genesis: &Genesis, block: &ExecutedBlock) -> Result<(), StoreError> {
        let _ = (genesis, block);
        todo!()
    }

    /// The one writer, and a reader to be cloned.
    pub fn split(self) -> (StoreWriter, StoreReader) {
        todo!()
    }
}
