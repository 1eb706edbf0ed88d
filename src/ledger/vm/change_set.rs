//! The reads and changes of a running transaction.
//!
//! A slot is read and charged once. A resource group is decoded once, and encoded again when the
//! transaction ends.

use crate::{BlockState, GasMeter, SlotChange, VmError};
use bytes::Bytes;
use ledger_types::{
    AccountAddress, StateError, StateKey, StateView, WriteOp, WriteSet, state::ResourceGroup,
};
use std::collections::BTreeMap;

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
    members: ResourceGroup,
    is_changed: bool,
}

/// Charges for one access to a value.
fn charge_access(
    meter: &mut GasMeter,
    key: &StateKey,
    value: Option<&Bytes>,
) -> Result<(), VmError> {
    meter.charge_access(key.as_bytes().len() + value.map_or(0, Bytes::len))
}

/// Returns the change of a slot whose value has the length `after` after the transaction.
fn size_change(key: &StateKey, slot: &Slot, after: Option<usize>) -> SlotChange {
    let with_key = |length: usize| key.as_bytes().len() + length;
    SlotChange {
        bytes_before: slot.before.as_ref().map(|value| with_key(value.len())),
        bytes_after: after.map(with_key),
    }
}

/// The reads and changes of a transaction.
#[derive(Clone)]
pub(crate) struct ChangeSet<'a> {
    state: &'a BlockState<'a>,
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
    fn slot(&mut self, meter: &mut GasMeter, key: &StateKey) -> Result<&mut Slot, VmError> {
        if !self.slots.contains_key(key) {
            let before = self.state.get(key)?;
            meter.charge_read(before.as_ref().map_or(0, Bytes::len))?;
            self.slots.insert(
                key.clone(),
                Slot {
                    before,
                    written: None,
                },
            );
        }
        Ok(self.slots.get_mut(key).expect("it was inserted"))
    }

    /// Returns the value of `key`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded.
    pub(crate) fn get(
        &mut self,
        meter: &mut GasMeter,
        key: &StateKey,
    ) -> Result<Option<Bytes>, VmError> {
        let slot = self.slot(meter, key)?;
        let value = slot.written.as_ref().unwrap_or(&slot.before).clone();
        charge_access(meter, key, value.as_ref())?;
        Ok(value)
    }

    /// Writes the value of `key`; `None` removes it.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded. The value is then not written.
    pub(crate) fn put(
        &mut self,
        meter: &mut GasMeter,
        key: &StateKey,
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        charge_access(meter, key, value.as_ref())?;
        self.slot(meter, key)?.written = Some(value);
        Ok(())
    }

    /// Returns the resource group of `address`, which has the slot `key`. The first call decodes
    /// it.
    fn group(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        key: &StateKey,
    ) -> Result<&mut Group, VmError> {
        if !self.groups.contains_key(&address) {
            let members = match self.get(meter, key)? {
                Some(bytes) => ResourceGroup::decode(&bytes).map_err(|error| {
                    StateError(format!("the resource group at {address}: {error}"))
                })?,
                None => ResourceGroup::default(),
            };
            let group = Group {
                key: key.clone(),
                members,
                is_changed: false,
            };
            self.groups.insert(address, group);
        }
        Ok(self.groups.get_mut(&address).expect("it was inserted"))
    }

    /// Returns the member with the tag `tag`, in BCS, of the resource group of `address`, which has
    /// the slot `key`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the group does not decode, and
    /// [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn member(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        key: &StateKey,
        tag: &[u8],
    ) -> Result<Option<Bytes>, VmError> {
        let member = self.group(meter, address, key)?.members.get(tag).cloned();
        charge_access(meter, key, member.as_ref())?;
        Ok(member)
    }

    /// Writes the member with the tag `tag`, in BCS, of the resource group of `address`, which has
    /// the slot `key`; `None` removes the member.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the group does not decode, and
    /// [`VmError::OutOfGas`] if the gas limit is exceeded. The member is then not written.
    pub(crate) fn put_member(
        &mut self,
        meter: &mut GasMeter,
        address: AccountAddress,
        key: &StateKey,
        tag: Bytes,
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        charge_access(meter, key, value.as_ref())?;
        let group = self.group(meter, address, key)?;
        match value {
            Some(value) => group.members.insert(tag, value),
            None => group.members.remove(&tag),
        }
        group.is_changed = true;
        Ok(())
    }

    /// Returns the size change of each changed slot.
    pub(crate) fn changed_slots(&self) -> impl Iterator<Item = SlotChange> {
        let slots = self.slots.iter().filter_map(|(key, slot)| {
            let after = slot.written.as_ref()?;
            Some(size_change(key, slot, after.as_ref().map(Bytes::len)))
        });
        let changed = self.groups.values().filter(|group| group.is_changed);
        let groups = changed.filter_map(|group| {
            let slot = self.slots.get(&group.key)?;
            let after = (!group.members.is_empty()).then(|| group.members.encoded_length());
            Some(size_change(&group.key, slot, after))
        });
        let is_change =
            |change: &SlotChange| change.bytes_before.is_some() || change.bytes_after.is_some();
        slots.chain(groups).filter(is_change)
    }

    /// Returns the changes as a write set. The removal of a value that did not exist is not a
    /// change.
    pub(crate) fn into_write_set(mut self) -> WriteSet {
        for group in self.groups.values().filter(|group| group.is_changed) {
            if let Some(slot) = self.slots.get_mut(&group.key) {
                // A group without members has no slot.
                let value = (!group.members.is_empty()).then(|| group.members.encode());
                slot.written = Some(value);
            }
        }
        let write = |(key, slot): (StateKey, Slot)| {
            let op = match slot.written? {
                Some(value) => WriteOp::Put(value),
                None if slot.before.is_some() => WriteOp::Delete,
                None => return None,
            };
            Some((key, op))
        };
        WriteSet::from_ascending(self.slots.into_iter().filter_map(write).collect())
    }
}
