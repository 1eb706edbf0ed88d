//! Reads of resources. A resource has a slot of its own or, as a member of a resource group, shares
//! one with the other members at its address (docs/reference/framework.md#f9).

use bytes::Bytes;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, StateKey, StateKeyParts, StructTag, state::group_members};
use ledger_vm::Chain;

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
    let Some(group) = chain.registry().group_of(tag) else {
        return snapshot.state_value(&StateKey::resource(address, tag), version);
    };
    let Some(slot) = snapshot.state_value(&StateKey::resource_group(address, &group), version)?
    else {
        return Ok(None);
    };
    let members = group_members(&slot).map_err(|cause| {
        StoreError::Inconsistent(format!("the resource group at {address}: {cause}"))
    })?;
    Ok(members.get(tag).cloned())
}

/// A resource: its type and its bytes.
pub(crate) type Resource = (StructTag, Bytes);

/// The resources that a slot holds: itself, or the members of a group in the order of their types.
///
/// # Errors
/// When the store holds a group or a state key that does not decode.
pub(crate) fn resources_of(key: &StateKey, value: Bytes) -> Result<Vec<Resource>, StoreError> {
    let undecodable = |cause: &dyn std::fmt::Display| {
        StoreError::Inconsistent(format!("the slot {key:?}: {cause}"))
    };
    match key.decode().map_err(|cause| undecodable(&cause))? {
        StateKeyParts::Resource { tag, .. } => Ok(vec![(tag, value)]),
        StateKeyParts::ResourceGroup { .. } => {
            let members = group_members(&value).map_err(|cause| undecodable(&cause))?;
            Ok(members.into_iter().collect())
        }
        StateKeyParts::Module(_) | StateKeyParts::TableItem { .. } => Ok(Vec::new()),
    }
}
