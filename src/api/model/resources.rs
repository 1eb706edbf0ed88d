//! Reads of resources.
//!
//! A resource has a slot of its own. A member of a resource group shares one slot with the other
//! members at its address (docs/reference/framework.md#f9).

use bytes::Bytes;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, StateKey, StateKeyParts, StructTag, state::group_members};
use ledger_vm::Chain;

/// Returns the resource `tag` at `address` after `version`, or `None` if there is none.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if a stored resource group does not decode, or the error of
/// the store if it cannot be read.
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

/// The type of a resource and its BCS bytes.
pub(crate) type Resource = (StructTag, Bytes);

/// Returns the resources in a slot: the only one, or the members of a group in the order of their
/// types. A module or table item has none.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the key or the resource group does not decode.
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
