//! The slot of a resource group: its members at one address, by their types
//! (docs/reference/framework.md#f9).

use crate::StructTag;
use bytes::Bytes;
use std::collections::BTreeMap;

/// The members of a resource group at one address, each in its BCS form. The BCS form of the map is
/// the value of the group's slot.
pub type GroupMembers = BTreeMap<StructTag, Bytes>;

/// The members that the slot of a resource group holds.
///
/// # Errors
/// When the bytes are no resource group.
pub fn group_members(slot: &[u8]) -> Result<GroupMembers, bcs::Error> {
    bcs::from_bytes(slot)
}
