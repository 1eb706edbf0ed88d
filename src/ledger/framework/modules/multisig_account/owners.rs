//! Changes that a multisig account makes to itself: owners, required signatures, and metadata.
//!
//! The functions require the signature of the account, so executed payloads call them.

use super::{
    errors::{
        EDUPLICATE_METADATA_KEY, EDUPLICATE_OWNER, EINVALID_SIGNATURES_REQUIRED,
        EMETADATA_TOO_LONG, ENOT_ENOUGH_OWNERS, ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH,
        EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF, EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP,
        ETOO_MANY_METADATA_PAIRS, ETOO_MANY_OWNERS,
    },
    events::{AddOwners, MetadataUpdated, RemoveOwners, UpdateSignaturesRequired},
    types::{self, METADATA_BYTES_MAX, METADATA_PAIRS_MAX, MultisigAccount, OWNERS_MAX},
};
use crate::modules::simple_map::{Element, SimpleMap};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError, cost};
use std::collections::{BTreeMap, BTreeSet};

type Address = AccountAddress;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::private_entry("add_owner", add_owner),
        Function::private_entry("add_owners", add_owners),
        Function::private_entry(
            "add_owners_and_update_signatures_required",
            add_owners_and_update_signatures_required,
        ),
        Function::private_entry("remove_owner", remove_owner),
        Function::private_entry("remove_owners", remove_owners),
        Function::private_entry("swap_owner", swap_owner),
        Function::private_entry("swap_owners", swap_owners),
        Function::private_entry(
            "swap_owners_and_update_signatures_required",
            swap_owners_and_update_signatures_required,
        ),
        Function::private_entry("update_signatures_required", update_signatures_required),
        Function::private_entry("update_metadata", update_metadata),
    ]
}

/// A change of the owners and of the number of required signatures.
#[derive(Default)]
pub(super) struct OwnerUpdate {
    pub(super) add: Vec<Address>,
    pub(super) remove: Vec<Address>,
    pub(super) signatures_required: Option<u64>,
}

/// Changes the owners of the multisig account at `address`.
///
/// Appends the new owners first. Then removes owners, and the last owner takes the index of each
/// removed one. Accounts to remove that are not owners are ignored.
///
/// # Errors
///
/// Aborts with:
///
/// * `EACCOUNT_NOT_MULTISIG` if the account is not a multisig account.
/// * `EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP` if an account is both added and removed.
/// * `EINVALID_SIGNATURES_REQUIRED` if the new number of required signatures is 0.
/// * `ENOT_ENOUGH_OWNERS` if fewer owners than required signatures would remain.
/// * `ETOO_MANY_OWNERS` if more than [`OWNERS_MAX`] owners would remain.
/// * The errors of [`check_owners`].
pub(super) fn change(
    context: &mut Context<'_>,
    address: Address,
    change: OwnerUpdate,
) -> Result<(), VmError> {
    let mut multisig = types::load(context, address)?;
    check_overlap(context, &change)?;
    if !change.add.is_empty() {
        multisig.owners.extend_from_slice(&change.add);
        check_owners(context, &multisig.owners, address)?;
        context.emit(&AddOwners {
            multisig_account: address,
            owners_added: change.add,
        })?;
    }
    let owners_removed = remove_from(context, &mut multisig.owners, change.remove)?;
    if !owners_removed.is_empty() {
        context.emit(&RemoveOwners {
            multisig_account: address,
            owners_removed,
        })?;
    }
    if let Some(required) = change.signatures_required {
        require_signatures(context, address, &mut multisig, required)?;
    }
    if (multisig.owners.len() as u64) < multisig.num_signatures_required {
        return context.abort("multisig_account", &ENOT_ENOUGH_OWNERS);
    }
    check_owner_count(context, multisig.owners.len())?;
    context.write_resource(address, &[], &multisig)
}

fn check_overlap(context: &mut Context<'_>, change: &OwnerUpdate) -> Result<(), VmError> {
    charge_steps(context, change.add.len() + change.remove.len())?;
    let to_remove: BTreeSet<&Address> = change.remove.iter().collect();
    if change.add.iter().any(|owner| to_remove.contains(owner)) {
        context.abort("multisig_account", &EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP)
    } else {
        Ok(())
    }
}

/// Removes the accounts of `to_remove` from `owners`, and returns the removed ones.
fn remove_from(
    context: &mut Context<'_>,
    owners: &mut Vec<Address>,
    to_remove: Vec<Address>,
) -> Result<Vec<Address>, VmError> {
    if to_remove.is_empty() {
        return Ok(Vec::new());
    }
    charge_steps(context, owners.len() + to_remove.len())?;
    let mut indices: BTreeMap<Address, usize> = owners
        .iter()
        .enumerate()
        .map(|(index, owner)| (*owner, index))
        .collect();
    let mut removed = Vec::new();
    for owner in to_remove {
        let Some(index) = indices.remove(&owner) else {
            continue;
        };
        owners.swap_remove(index);
        if let Some(moved) = owners.get(index) {
            indices.insert(*moved, index);
        }
        removed.push(owner);
    }
    Ok(removed)
}

fn require_signatures(
    context: &mut Context<'_>,
    address: Address,
    multisig: &mut MultisigAccount,
    required: u64,
) -> Result<(), VmError> {
    if required == 0 {
        return context.abort("multisig_account", &EINVALID_SIGNATURES_REQUIRED);
    }
    let old_num_signatures_required =
        std::mem::replace(&mut multisig.num_signatures_required, required);
    context.emit(&UpdateSignaturesRequired {
        multisig_account: address,
        old_num_signatures_required,
        new_num_signatures_required: required,
    })
}

/// Checks that the owners are distinct and do not include the multisig account itself.
///
/// # Errors
///
/// Aborts with:
///
/// * `EDUPLICATE_OWNER` if an account occurs twice.
/// * `EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF` if the multisig account is one of the owners.
pub(super) fn check_owners(
    context: &mut Context<'_>,
    owners: &[Address],
    multisig_account: Address,
) -> Result<(), VmError> {
    charge_steps(context, owners.len())?;
    let mut seen = BTreeSet::new();
    for owner in owners {
        if *owner == multisig_account {
            return context.abort(
                "multisig_account",
                &EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF,
            );
        }
        if !seen.insert(owner) {
            return context.abort("multisig_account", &EDUPLICATE_OWNER);
        }
    }
    Ok(())
}

/// Checks that the number of owners is at most [`OWNERS_MAX`].
///
/// # Errors
///
/// Aborts with `ETOO_MANY_OWNERS` if it is greater.
pub(super) fn check_owner_count(context: &Context<'_>, owners: usize) -> Result<(), VmError> {
    if owners > OWNERS_MAX {
        context.abort("multisig_account", &ETOO_MANY_OWNERS)
    } else {
        Ok(())
    }
}

fn charge_steps(context: &mut Context<'_>, count: usize) -> Result<(), VmError> {
    context.charge(cost::STEP.saturating_mul(count as u64))
}

/// Pairs metadata keys with their values.
///
/// # Errors
///
/// Aborts with:
///
/// * `ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH` if the numbers of keys and values differ.
/// * `ETOO_MANY_METADATA_PAIRS` if there are more than [`METADATA_PAIRS_MAX`] pairs.
/// * `EMETADATA_TOO_LONG` if keys and values have more than [`METADATA_BYTES_MAX`] bytes in total.
/// * `EDUPLICATE_METADATA_KEY` if a key occurs twice.
pub(super) fn paired_metadata(
    context: &mut Context<'_>,
    keys: Vec<String>,
    values: Vec<Vec<u8>>,
) -> Result<SimpleMap<String, Vec<u8>>, VmError> {
    if keys.len() != values.len() {
        return context.abort(
            "multisig_account",
            &ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH,
        );
    }
    if keys.len() > METADATA_PAIRS_MAX {
        return context.abort("multisig_account", &ETOO_MANY_METADATA_PAIRS);
    }
    let bytes = keys
        .iter()
        .map(String::len)
        .chain(values.iter().map(Vec::len));
    if bytes.sum::<usize>() > METADATA_BYTES_MAX {
        return context.abort("multisig_account", &EMETADATA_TOO_LONG);
    }
    charge_steps(context, keys.len())?;
    let distinct: BTreeSet<&String> = keys.iter().collect();
    if distinct.len() != keys.len() {
        return context.abort("multisig_account", &EDUPLICATE_METADATA_KEY);
    }
    let pairs = keys.into_iter().zip(values);
    Ok(SimpleMap {
        data: pairs.map(|(key, value)| Element { key, value }).collect(),
    })
}

fn add_owner(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    multisig_account: Signer,
    new_owner: Address,
) -> Result<(), VmError> {
    add_owners(context, type_args, multisig_account, vec![new_owner])
}

fn add_owners(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    new_owners: Vec<Address>,
) -> Result<(), VmError> {
    let add = OwnerUpdate {
        add: new_owners,
        ..OwnerUpdate::default()
    };
    change(context, multisig_account.0, add)
}

fn add_owners_and_update_signatures_required(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    new_owners: Vec<Address>,
    new_num_signatures_required: u64,
) -> Result<(), VmError> {
    let add = OwnerUpdate {
        add: new_owners,
        signatures_required: Some(new_num_signatures_required),
        ..OwnerUpdate::default()
    };
    change(context, multisig_account.0, add)
}

fn remove_owner(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    multisig_account: Signer,
    owner_to_remove: Address,
) -> Result<(), VmError> {
    remove_owners(context, type_args, multisig_account, vec![owner_to_remove])
}

fn remove_owners(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    owners_to_remove: Vec<Address>,
) -> Result<(), VmError> {
    let remove = OwnerUpdate {
        remove: owners_to_remove,
        ..OwnerUpdate::default()
    };
    change(context, multisig_account.0, remove)
}

fn swap_owner(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    multisig_account: Signer,
    to_swap_in: Address,
    to_swap_out: Address,
) -> Result<(), VmError> {
    swap_owners(
        context,
        type_args,
        multisig_account,
        vec![to_swap_in],
        vec![to_swap_out],
    )
}

fn swap_owners(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    to_swap_in: Vec<Address>,
    to_swap_out: Vec<Address>,
) -> Result<(), VmError> {
    let swap = OwnerUpdate {
        add: to_swap_in,
        remove: to_swap_out,
        signatures_required: None,
    };
    change(context, multisig_account.0, swap)
}

fn swap_owners_and_update_signatures_required(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    new_owners: Vec<Address>,
    owners_to_remove: Vec<Address>,
    new_num_signatures_required: u64,
) -> Result<(), VmError> {
    let swap = OwnerUpdate {
        add: new_owners,
        remove: owners_to_remove,
        signatures_required: Some(new_num_signatures_required),
    };
    change(context, multisig_account.0, swap)
}

fn update_signatures_required(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    new_num_signatures_required: u64,
) -> Result<(), VmError> {
    let update = OwnerUpdate {
        signatures_required: Some(new_num_signatures_required),
        ..OwnerUpdate::default()
    };
    change(context, multisig_account.0, update)
}

/// Replaces all metadata of the account.
fn update_metadata(
    context: &mut Context<'_>,
    _: &[TypeTag],
    multisig_account: Signer,
    keys: Vec<String>,
    values: Vec<Vec<u8>>,
) -> Result<(), VmError> {
    let new_metadata = paired_metadata(context, keys, values)?;
    let mut multisig = types::load(context, multisig_account.0)?;
    let old_metadata = std::mem::replace(&mut multisig.metadata, new_metadata.clone());
    context.write_resource(multisig_account.0, &[], &multisig)?;
    context.emit(&MetadataUpdated {
        multisig_account: multisig_account.0,
        old_metadata,
        new_metadata,
    })
}
