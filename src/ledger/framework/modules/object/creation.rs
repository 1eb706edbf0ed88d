//! Creation and deletion of objects.

use super::{
    EOBJECT_EXISTS,
    address::{charge_derivation, guid_address, named_address, user_derived_address},
    ownership::require_core,
    resources::{ConstructorRef, DeleteRef, ObjectCore, TombStone, Untransferable},
};
use crate::modules::account;
use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, VmError};

/// Creation number of the first event stream of an object.
///
/// It is far above the creation numbers of an account, so that streams of an object and of an
/// account at the same address never collide.
pub const INIT_GUID_CREATION_NUM: u64 = 0x4_0000_0000_0000;

/// Creates the object of `creator` and `seed`. It cannot be deleted.
///
/// # Errors
///
/// Aborts with `EOBJECT_EXISTS` if the object exists.
pub fn create_named_object(
    context: &mut Context<'_>,
    creator: AccountAddress,
    seed: &[u8],
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, seed.len())?;
    create_at(context, named_address(creator, seed), creator, false)
}

/// Creates an object of `owner` at an address that cannot be known in advance. It can be deleted.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn create_object(
    context: &mut Context<'_>,
    owner: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    let address = context.new_unique_address();
    create_at(context, address, owner, true)
}

/// Creates an object of `owner` at an address that cannot be known in advance. Unlike the object of
/// [`create_object`], it cannot be deleted.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn create_sticky_object(
    context: &mut Context<'_>,
    owner: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    let address = context.new_unique_address();
    create_at(context, address, owner, false)
}

/// Creates an object at the address of the next creation number of `creator`. It can be deleted.
///
/// # Errors
///
/// Aborts with `EOBJECT_EXISTS` if there is an object at the address. Returns
/// [`VmError::Arithmetic`] if the account has no creation number left.
pub fn create_object_from_account(
    context: &mut Context<'_>,
    creator: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    let mut account = account::load(context, creator)?;
    let creation_num = account.guid_creation_num;
    account.guid_creation_num = creation_num.checked_add(1).ok_or(VmError::Arithmetic)?;
    context.write_resource(creator, &[], &account)?;
    create_at(context, guid_address(creator, creation_num), creator, true)
}

/// Creates the object of `owner` that is derived from the object at `derive_from`. It cannot be
/// deleted.
///
/// # Errors
///
/// Aborts with `EOBJECT_EXISTS` if the object exists.
pub fn create_user_derived_object(
    context: &mut Context<'_>,
    owner: AccountAddress,
    derive_from: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    create_at(
        context,
        user_derived_address(owner, derive_from),
        owner,
        false,
    )
}

/// Creates an object at `address`.
///
/// The caller must derive `address` such that only `owner` or the framework can create an object
/// there. Genesis creates the paired asset of the chain's coin with this function.
///
/// # Errors
///
/// Aborts with `EOBJECT_EXISTS` if there is an object at `address`.
pub fn create_at(
    context: &mut Context<'_>,
    address: AccountAddress,
    owner: AccountAddress,
    can_delete: bool,
) -> Result<ConstructorRef, VmError> {
    if context.has_resource::<ObjectCore>(address, &[])? {
        return context.abort("object", &EOBJECT_EXISTS);
    }
    let core = ObjectCore {
        // The stream of transfers has the first number.
        guid_creation_num: INIT_GUID_CREATION_NUM + 1,
        owner,
        allow_ungated_transfer: true,
        transfer_events: EventHandle::new(address, INIT_GUID_CREATION_NUM),
    };
    context.write_resource(address, &[], &core)?;
    Ok(ConstructorRef {
        self_: address,
        can_delete,
    })
}

/// Creates the handle of the next event stream of the object at `object`.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` if there is no object at `object`. Returns
/// [`VmError::Arithmetic`] if the object has no creation number left.
pub fn new_event_handle<E>(
    context: &mut Context<'_>,
    object: AccountAddress,
) -> Result<EventHandle<E>, VmError> {
    let mut core = require_core(context, object)?;
    let handle = EventHandle::new(object, core.guid_creation_num);
    core.guid_creation_num = core
        .guid_creation_num
        .checked_add(1)
        .ok_or(VmError::Arithmetic)?;
    context.write_resource(object, &[], &core)?;
    Ok(handle)
}

/// Deletes the resources of this module from an object's address. The caller must delete all other
/// resources there.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn delete(context: &mut Context<'_>, delete_ref: &DeleteRef) -> Result<(), VmError> {
    let object = delete_ref.self_;
    context.remove_resource::<ObjectCore>(object, &[])?;
    context.remove_resource::<TombStone>(object, &[])?;
    context.remove_resource::<Untransferable>(object, &[])
}
