//! Where a resource lies in the state: in a slot of its own, or as a member of a resource group, whose
//! members at one address share a slot (framework-notes section 5).

use bytes::Bytes;
use ledger::{AccountAddress, Chain, StateKey, StructTag};
use ledger_store::{Snapshot, StoreError};
use std::collections::BTreeMap;

/// The members of a resource group at one address.
pub(crate) type GroupMembers = BTreeMap<StructTag, Bytes>;

/// The members that the slot of a resource group holds.
///
/// # Errors
/// When the bytes are no resource group.
pub(crate) fn group_members(slot: &[u8]) -> Result<GroupMembers, bcs::Error> {
    bcs::from_bytes(slot)
}

/// The resource `tag` at `address` after `version`.
///
/// # Errors
/// When the store fails or holds a group that does not decode.
pub(crate) fn read_resource(
    chain: &Chain,
    snapshot: &Snapshot,
    address: &AccountAddress,
    tag: &StructTag,
    version: u64,
) -> Result<Option<Bytes>, StoreError> {
    let Some(group) = chain.framework().group_of(tag) else {
        return snapshot.state_value(&StateKey::resource(address, tag), version);
    };
    let Some(slot) = snapshot.state_value(&StateKey::resource_group(address, &group), version)? else {
        return Ok(None);
    };
    let members = group_members(&slot)
        .map_err(|cause| StoreError::Inconsistent(format!("the resource group at {address}: {cause}")))?;
    Ok(members.get(tag).cloned())
}
