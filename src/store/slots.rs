//! What the state holds at an address: its slots, which are resources and groups of them.
//!
//! The digests of an address's state keys begin alike and stand together in the index. Going through
//! them costs a few seeks each, however often the slots were written and however many others there
//! are. The order is that of the digests: it differs between data directories, and never changes within
//! one.

use crate::{
    Snapshot, StoreError,
    digest::{OWNER_BYTES, STATE_DIGEST_BYTES, StateDigest},
    index::{Kind, digests::Digests},
    view::View,
};
use bytes::Bytes;
use ledger_types::{AccountAddress, StateKey, WriteOp};

/// A place among the slots of an address. It stays what it is whatever is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SlotPlace(StateDigest);

impl SlotPlace {
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
pub struct Slot {
    /// Where it stands.
    pub place: SlotPlace,
    /// Its key and its value; `None` where it holds nothing at the version that was asked for.
    pub held: Option<(StateKey, Bytes)>,
}

/// Goes through the slots of an address, in the order of their places. Each step costs some seeks,
/// also where the slot holds nothing: whoever must answer soon counts the steps.
pub struct Slots<'a> {
    view: &'a View,
    pub(crate) address: AccountAddress,
    version: u64,
    owner: [u8; OWNER_BYTES],
    digests: Digests<'a>,
}

impl std::fmt::Debug for Slots<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots")
            .field("address", &self.address)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The place with these bytes among the slots of `address`; `None` when they are no place there.
    pub fn slot_place(
        &self,
        address: &AccountAddress,
        bytes: [u8; SlotPlace::BYTES],
    ) -> Option<SlotPlace> {
        let owner = self.view.digests.owner(address);
        bytes.starts_with(&owner).then_some(SlotPlace(bytes))
    }

    /// The slots of `address` after `version`, from a place on or all of them.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMoment`] when `version` is above the head or pruned; else when the
    /// database fails. What the iterator gives may fail as well; nothing comes after that.
    pub fn slots(
        &self,
        address: &AccountAddress,
        version: u64,
        from: Option<SlotPlace>,
    ) -> Result<Slots<'_>, StoreError> {
        self.check_version(version)?;
        let view = &*self.view;
        let owner = view.digests.owner(address);
        let mut least = [0; STATE_DIGEST_BYTES];
        least[..OWNER_BYTES].copy_from_slice(&owner);
        let first = from.map_or(least, |SlotPlace(from)| from);
        let after = u128::from_be_bytes(first)
            .checked_sub(1)
            .map(u128::to_be_bytes);
        let oldest = view.head.oldest_version;
        let mut indices = vec![view.index(Kind::State)];
        let mut versions = oldest..=version;
        if oldest > 0 {
            indices.push(view.index(Kind::Base));
            // The state below the window is of all versions below it.
            versions = 0..=version;
        }
        Ok(Slots {
            view,
            address: *address,
            version,
            owner,
            digests: Digests::new(&indices, &versions, after.as_ref())?,
        })
    }
}

impl Slots<'_> {
    fn step(&mut self) -> Result<Option<Slot>, StoreError> {
        let digest = self.digests.next()?;
        let Some(digest) = digest.filter(|digest| digest.starts_with(&self.owner)) else {
            return Ok(None);
        };
        let held = match self.view.last_write(&digest, self.version)? {
            // Another address may have the same first bytes, or a table, or a stream.
            Some((key, WriteOp::Put(value))) => {
                (key.address() == Some(self.address)).then_some((key, value))
            }
            Some((_, WriteOp::Delete)) | None => None,
        };
        Ok(Some(Slot {
            place: SlotPlace(digest),
            held,
        }))
    }
}

impl Iterator for Slots<'_> {
    type Item = Result<Slot, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
