//! The state keys of an address: its resources and resource groups.
//!
//! The digests of an address's state keys have a common prefix, so they are adjacent in the index.
//! Listing them costs a few seeks each, however often they were written and however many other keys
//! exist. The order is that of the digests: it differs between data directories, and never changes
//! within one.

use super::{snapshot::Snapshot, view::ReadView};
use crate::{
    StoreError,
    index::{Kind, digest::DigestScan},
    tables::digest::{ADDRESS_PREFIX_BYTES, STATE_DIGEST_BYTES, StateDigest},
};
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey};

/// A position among the state keys of an address. Writes do not change it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StateKeyCursor(StateDigest);

impl StateKeyCursor {
    /// Size of a cursor, in bytes.
    pub const BYTES: usize = STATE_DIGEST_BYTES;

    /// Returns the bytes of the cursor, which are valid in the same data directory.
    ///
    /// They are a keyed digest of the state key and reveal nothing about it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0
    }
}

/// A state key that was written at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressStateEntry {
    /// Position of the key.
    pub cursor: StateKeyCursor,
    /// Key and value, or `None` if the key has no value at the version of the scan.
    pub key_value: Option<(StateKey, Bytes)>,
}

/// A scan of the state keys of an address, in the order of their cursors.
///
/// Each step costs a few seeks, also for a key without a value, so a caller with a deadline limits
/// the number of steps.
pub struct AddressStateKeys<'a> {
    view: &'a ReadView,
    pub(crate) address: AccountAddress,
    version: u64,
    prefix: [u8; ADDRESS_PREFIX_BYTES],
    digests: DigestScan<'a>,
}

impl std::fmt::Debug for AddressStateKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddressStateKeys")
            .field("address", &self.address)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the cursor with these bytes, or `None` if they are not a cursor of
    /// `address`.
    pub fn state_key_cursor(
        &self,
        address: &AccountAddress,
        bytes: [u8; StateKeyCursor::BYTES],
    ) -> Option<StateKeyCursor> {
        let prefix = self.view.digest_key.address_prefix(address);
        bytes.starts_with(&prefix).then_some(StateKeyCursor(bytes))
    }

    /// Returns the state keys of `address` after `version`, from a cursor or all of them.
    ///
    /// An item is an error if the database fails later. No item follows it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::VersionOutOfRange`] if `version` is above the snapshot or pruned, and
    /// [`StoreError::Database`] if the database fails.
    pub fn state_keys(
        &self,
        address: &AccountAddress,
        version: u64,
        from: Option<StateKeyCursor>,
    ) -> Result<AddressStateKeys<'_>, StoreError> {
        self.check_version(version)?;
        let view = &*self.view;
        let prefix = view.digest_key.address_prefix(address);
        let mut least = [0; STATE_DIGEST_BYTES];
        least[..ADDRESS_PREFIX_BYTES].copy_from_slice(&prefix);
        let first = from.map_or(least, |StateKeyCursor(digest)| digest);
        let after = u128::from_be_bytes(first)
            .checked_sub(1)
            .map(u128::to_be_bytes);
        let oldest = view.head.oldest_version;
        let mut indices = vec![view.index(Kind::State)];
        let mut versions = oldest..=version;
        if oldest > 0 {
            indices.push(view.index(Kind::PrunedState));
            // Runs of the pruned state have versions below the window.
            versions = 0..=version;
        }
        Ok(AddressStateKeys {
            view,
            address: *address,
            version,
            prefix,
            digests: DigestScan::new(&indices, &versions, after.as_ref())?,
        })
    }
}

impl AddressStateKeys<'_> {
    fn step(&mut self) -> Result<Option<AddressStateEntry>, StoreError> {
        let digest = self.digests.next()?;
        let Some(digest) = digest.filter(|digest| digest.starts_with(&self.prefix)) else {
            return Ok(None);
        };
        let key_value = match self.view.last_write(&digest, self.version)? {
            // The prefix may also be that of another address, of a table, or of a stream.
            Some((key, write)) if key.address() == Some(self.address) => {
                write.into_value().map(|value| (key, value))
            }
            Some(_) | None => None,
        };
        Ok(Some(AddressStateEntry {
            cursor: StateKeyCursor(digest),
            key_value,
        }))
    }
}

impl Iterator for AddressStateKeys<'_> {
    type Item = Result<AddressStateEntry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
