//! The reads and changes of a running transaction.
//!
//! A slot is read and charged once. A resource group is decoded once, and encoded again when the
//! transaction ends.

use crate::{BlockState, GasMeter, SlotChange, VmError};
use bytes::Bytes;
use ledger_types::{
    AccountAddress, StateError, StateKey, StateView, WriteOp, WriteSet, state::ResourceGroup,
};
use std::collections::{BTreeMap, btree_map::Entry};

/// A slot that the transaction accessed.
#[derive(Clone)]
struct Slot {
    /// Value before the transaction.
    before: Option<Bytes>,
    /// Value that the transaction wrote, if it wrote the slot; an inner `None` deletes the slot.
    written: Option<Option<Bytes>>,
}

/// A resource group that the transaction accessed.
#[derive(Clone)]
struct Group {
    key: StateKey,
    /// Value of the slot before the transaction.
    before: Option<Bytes>,
    members: ResourceGroup,
    is_changed: bool,
}

impl Group {
    /// Returns the value of the slot after the transaction. A group without members has no slot.
    fn encode(&self) -> Option<Bytes> {
        (!self.members.is_empty()).then(|| self.members.encode())
    }
}

/// Charges for one access to a value, whose key has `key_bytes` bytes.
fn charge_access(
    meter: &mut GasMeter,
    key_bytes: usize,
    value: Option<&[u8]>,
) -> Result<(), VmError> {
    meter.charge_access(key_bytes + value.map_or(0, <[u8]>::len))
}

/// Returns the change of a slot whose value has the length `after` after the transaction.
fn size_change(key: &StateKey, before: Option<&Bytes>, after: Option<usize>) -> SlotChange {
    let with_key = |length: usize| key.as_bytes().len() + length;
    SlotChange {
        bytes_before: before.map(|value| with_key(value.len())),
        bytes_after: after.map(with_key),
    }
}

/// Returns the change of `key` from `before` to `after`. The removal of a value that did not exist
/// is not a change.
fn write(
    key: StateKey,
    before: Option<&Bytes>,
    after: Option<Bytes>,
) -> Option<(StateKey, WriteOp)> {
    let op = match (before, after) {
        (None, Some(value)) => WriteOp::Create(value),
        (Some(_), Some(value)) => WriteOp::Modify(value),
        (Some(_), None) => WriteOp::Delete,
        (None, None) => return None,
    };
    Some((key, op))
}

/// Returns the value of `key` before the transaction, and charges for reading it.
fn read(
    state: &BlockState<'_>,
    meter: &mut GasMeter,
    key: &StateKey,
) -> Result<Option<Bytes>, VmError> {
    let value = state.get(key)?;
    meter.charge_read(value.as_ref().map_or(0, Bytes::len))?;
    Ok(value)
}

/// The reads and changes of a transaction.
#[derive(Clone)]
pub(crate) struct ChangeSet<'a> {
    state: &'a BlockState<'a>,
    /// Accessed slots, except those of resource groups.
    slots: BTreeMap<StateKey, Slot>,
    groups: BTreeMap<AccountAddress, Group>,
}

impl<'a> ChangeSet<'a> {
    pub(crate) fn new(state: &'a BlockState<'a>) -> Self {
        Self {
            state,
            slots: BTreeMap::new(),
            groups: BTreeMap::new(),
        }
    }

    /// Returns the state before the transaction.
    pub(crate) fn state(&self) -> &'a BlockState<'a> {
        self.state
    }

    /// Returns the slot of `key`. The first call for a key reads the state.
    fn slot(&mut self, meter: &mut GasMeter, key: StateKey) -> Result<&mut Slot, VmError> {
        match self.slots.entry(key) {
            Entry::Occupied(slot) => Ok(slot.into_mut()),
            Entry::Vacant(vacant) => {
                let before = read(self.state, meter, vacant.key())?;
                Ok(vacant.insert(Slot {
                    before,
                    written: None,
                }))
            }
        }
    }

    /// Returns the value of `key`, which is not the slot of a resource group.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded.
    pub(crate) fn get(
        &mut self,
        meter: &mut GasMeter,
        key: StateKey,
    ) -> Result<Option<&Bytes>, VmError> {
        let key_bytes = key.as_bytes().len();
        let slot = self.slot(meter, key)?;
        let value = slot.written.as_ref().unwrap_or(&slot.before).as_ref();
        charge_access(meter, key_bytes, value.map(|value| &value[..]))?;
        Ok(value)
    }

    /// Writes the value of `key`, which is not the slot of a resource group; `None` removes it.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded. The value is then not written.
    pub(crate) fn put(
        &mut self,
        meter: &mut GasMeter,
        key: StateKey,
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        charge_access(meter, key.as_bytes().len(), value.as_deref())?;
        self.slot(meter, key)?.written = Some(value);
        Ok(())
    }

    /// Returns the resource group of `address`, whose keys end with `path`. The first call reads
    /// and decodes it.
    fn group(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        path: &[u8],
    ) -> Result<&mut Group, VmError> {
        match self.groups.entry(address) {
            Entry::Occupied(group) => Ok(group.into_mut()),
            Entry::Vacant(vacant) => {
                let key = StateKey::with_path(&address, path);
                let before = read(self.state, meter, &key)?;
                charge_access(meter, key.as_bytes().len(), before.as_deref())?;
                let members = match &before {
                    Some(slot) => ResourceGroup::decode(slot).map_err(|error| {
                        StateError(format!("the resource group at {address}: {error}"))
                    })?,
                    None => ResourceGroup::default(),
                };
                Ok(vacant.insert(Group {
                    key,
                    before,
                    members,
                    is_changed: false,
                }))
            }
        }
    }

    /// Returns the member with the tag `tag`, in BCS, of the resource group of `address`, whose
    /// keys end with `path`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the group does not decode, and
    /// [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn member(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        path: &[u8],
        tag: &[u8],
    ) -> Result<Option<&[u8]>, VmError> {
        let group = self.group(meter, address, path)?;
        let member = group.members.get(tag);
        charge_access(meter, group.key.as_bytes().len(), member)?;
        Ok(member)
    }

    /// Writes the member with the tag `tag`, in BCS, of the resource group of `address`, whose keys
    /// end with `path`; `None` removes the member.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the group does not decode, and
    /// [`VmError::OutOfGas`] if the gas limit is exceeded. The member is then not written.
    pub(crate) fn put_member(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        path: &[u8],
        tag: &[u8],
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        charge_access(meter, StateKey::length_with_path(path), value.as_deref())?;
        let group = self.group(meter, address, path)?;
        match value {
            Some(value) => group.members.insert(tag, value),
            None => group.members.remove(tag),
        }
        group.is_changed = true;
        Ok(())
    }

    /// Returns the size change of each changed slot.
    pub(crate) fn changed_slots(&self) -> impl Iterator<Item = SlotChange> {
        let slots = self.slots.iter().filter_map(|(key, slot)| {
            let after = slot.written.as_ref()?;
            let after = after.as_ref().map(Bytes::len);
            Some(size_change(key, slot.before.as_ref(), after))
        });
        let changed = self.groups.values().filter(|group| group.is_changed);
        let groups = changed.map(|group| {
            let after = (!group.members.is_empty()).then(|| group.members.encoded_length());
            size_change(&group.key, group.before.as_ref(), after)
        });
        let is_change =
            |change: &SlotChange| change.bytes_before.is_some() || change.bytes_after.is_some();
        slots.chain(groups).filter(is_change)
    }

    /// Returns the changes as a write set.
    pub(crate) fn into_write_set(self) -> WriteSet {
        let mut writes = Vec::new();
        for group in self.groups.into_values() {
            if group.is_changed {
                let after = group.encode();
                writes.extend(write(group.key, group.before.as_ref(), after));
            }
        }
        for (key, slot) in self.slots {
            if let Some(after) = slot.written {
                writes.extend(write(key, slot.before.as_ref(), after));
            }
        }
        writes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        WriteSet::from_ascending(writes)
    }
}
