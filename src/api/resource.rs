//! Where a resource lies in the state: in a slot of its own, or as a member of a resource group, whose
//! members at one address share a slot (framework-notes section 5).

use bytes::Bytes;
use ledger::{AccountAddress, Chain, StateKey, StructTag, state::group_members};
use ledger_store::{Snapshot, StoreError};

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
