//! Snapshots of the ledger: reads of blocks and state at one version.

use super::view::ReadView;
use crate::StoreError;
use bytes::Bytes;
use ledger_types::{BlockInfo, LedgerInfo, StateError, StateKey, StateView};
use std::{cell::OnceCell, sync::Arc};

/// The ledger at one version. Its pages remain on the disk until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) view: Arc<ReadView>,
    pub(super) info: LedgerInfo,
}

impl Snapshot {
    /// Creates a snapshot of `view` with the bounds of `info`.
    pub(super) fn new(view: Arc<ReadView>, info: LedgerInfo) -> Self {
        Self { view, info }
    }

    /// Returns version, window, and time of the snapshot.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.info
    }

    /// Returns whether `version` is in the window.
    pub(super) fn has_version(&self, version: u64) -> bool {
        (self.info.oldest_version..=self.info.version).contains(&version)
    }

    /// Checks that `version` is in the window.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::VersionOutOfRange`] if it is not.
    pub(super) fn check_version(&self, version: u64) -> Result<(), StoreError> {
        if self.has_version(version) {
            return Ok(());
        }
        Err(StoreError::VersionOutOfRange {
            requested: version,
            oldest: self.info.oldest_version,
            newest: self.info.version,
        })
    }

    /// Returns the block at a height, or `None` if it is above the snapshot or pruned.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the row is damaged.
    pub fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !(self.info.oldest_block_height..=self.info.block_height).contains(&height) {
            return Ok(None);
        }
        self.view.block(height)
    }

    /// Returns the block that contains a version, or `None` if it is above the snapshot or pruned.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        self.view.block_of_version(version)
    }

    /// Returns the value of `key` after `version`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::VersionOutOfRange`] if `version` is above the snapshot or pruned,
    /// [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if a row is
    /// damaged.
    pub fn state_value(&self, key: &StateKey, version: u64) -> Result<Option<Bytes>, StoreError> {
        self.check_version(version)?;
        self.view.state_value(key, version)
    }

    /// Runs `read` on the state after `version`, and returns its result.
    ///
    /// A [`StateError`] has only the description of a failed read. This method returns the store's
    /// own error, so that the caller can distinguish a fault of the disk from a damaged state.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed [`Self::state_value`], even if `read` succeeded
    /// nevertheless. Returns [`StoreError::Inconsistent`] if `read` fails on values that were read,
    /// because they do not decode.
    pub fn read_state<T>(
        &self,
        version: u64,
        read: impl FnOnce(&StateAt<'_>) -> Result<T, StateError>,
    ) -> Result<T, StoreError> {
        let state = StateAt {
            snapshot: self,
            version,
            store_error: OnceCell::new(),
        };
        let output = read(&state);
        match state.store_error.into_inner() {
            Some(error) => Err(error),
            None => output.map_err(|error| StoreError::Inconsistent(error.0)),
        }
    }
}

/// The state after one version, as execution reads it.
#[derive(Debug)]
pub struct StateAt<'a> {
    snapshot: &'a Snapshot,
    version: u64,
    /// The error of the first failed read.
    store_error: OnceCell<StoreError>,
}

impl StateView for StateAt<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        let value = self.snapshot.state_value(key, self.version);
        value.map_err(|error| {
            let description = error.to_string();
            // An error means that the error of an earlier read is recorded.
            let _ = self.store_error.set(error);
            StateError(description)
        })
    }
}
