//! The slot of a resource group, with its members at one address by type
//! (docs/reference/framework.md#f9).

use crate::StructTag;
use bytes::Bytes;
use std::collections::BTreeMap;

/// The members of a resource group at one address, each in BCS.
///
/// The map in BCS is the value of the group's slot.
pub type GroupMembers = BTreeMap<StructTag, Bytes>;

/// Decodes the members of a resource group from the value of its slot.
///
/// # Errors
///
/// Returns the error of the BCS decoder if `slot` is not a resource group.
pub fn group_members(slot: &[u8]) -> Result<GroupMembers, bcs::Error> {
    bcs::from_bytes(slot)
}
