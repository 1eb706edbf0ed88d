//! What the state holds at an address: its slots, which are resources and groups of them.
//!
//! The digests of an address's state keys begin alike and stand together in the index. Going through
//! them costs a few seeks each, however often the slots were written and however many others there
//! are. The order is that of the digests: it differs between data directories, and never changes within
//! one.

use crate::{
    Snapshot, StoreError,
    index::{Kind, digest::DigestScan},
    read::view::ReadView,
    tables::digest::{ADDRESS_PREFIX_BYTES, STATE_DIGEST_BYTES, StateDigest},
};
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey, WriteOp};

/// A place among the slots of an address. It stays what it is whatever is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StateKeyCursor(StateDigest);

impl StateKeyCursor {
    /// Bytes of a place.
    pub const BYTES: usize = STATE_DIGEST_BYTES;

    /// The bytes to find the place again with, in the same data directory. They tell nothing about the
    /// state key: they are a keyed digest of it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0
    }
}

/// A slot that has been written to at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressStateEntry {
    /// Where it stands.
    pub cursor: StateKeyCursor,
    /// Its key and its value; `None` where it holds nothing at the version that was asked for.
    pub key_value: Option<(StateKey, Bytes)>,
}

/// Goes through the slots of an address, in the order of their places. Each step costs some seeks,
/// also where the slot holds nothing: whoever must answer soon counts the steps.
pub struct AddressStateKeys<'a> {
    view: &'a ReadView,
    pub(crate) address: AccountAddress,
    version: u64,
    prefix: [u8; ADDRESS_PREFIX_BYTES],
    digests: DigestScan<'a>,
}

impl std::fmt::Debug for AddressStateKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots")
            .field("address", &self.address)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The place with these bytes among the slots of `address`; `None` when they are no place there.
    pub fn state_key_cursor(
        &self,
        address: &AccountAddress,
        bytes: [u8; StateKeyCursor::BYTES],
    ) -> Option<StateKeyCursor> {
        let prefix = self.view.digests.address_prefix(address);
        bytes.starts_with(&prefix).then_some(StateKeyCursor(bytes))
    }

    /// The slots of `address` after `version`, from a place on or all of them.
    ///
    /// # Errors
    /// [`StoreError::VersionOutOfRange`] when `version` is above the head or pruned; else when the
    /// database fails. What the iterator gives may fail as well; nothing comes after that.
    pub fn state_keys(
        &self,
        address: &AccountAddress,
        version: u64,
        from: Option<StateKeyCursor>,
    ) -> Result<AddressStateKeys<'_>, StoreError> {
        self.check_version(version)?;
        let view = &*self.view;
        let prefix = view.digests.address_prefix(address);
        let mut least = [0; STATE_DIGEST_BYTES];
        least[..ADDRESS_PREFIX_BYTES].copy_from_slice(&prefix);
        let first = from.map_or(least, |StateKeyCursor(from)| from);
        let after = u128::from_be_bytes(first)
            .checked_sub(1)
            .map(u128::to_be_bytes);
        let oldest = view.head.oldest_version;
        let mut indices = vec![view.index(Kind::State)];
        let mut versions = oldest..=version;
        if oldest > 0 {
            indices.push(view.index(Kind::PrunedState));
            // The state below the window is of all versions below it.
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
            // Another address may have the same first bytes, or a table, or a stream.
            Some((key, WriteOp::Put(value))) => {
                (key.address() == Some(self.address)).then_some((key, value))
            }
            Some((_, WriteOp::Delete)) | None => None,
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
