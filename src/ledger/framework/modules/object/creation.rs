//! Making and deleting objects.

use super::{
    EOBJECT_EXISTS,
    address::{charge_derivation, guid_address, named_address, user_derived_address},
    resources::{ConstructorRef, DeleteRef, ObjectCore, TombStone, Untransferable},
};
use crate::modules::account;
use ledger_types::AccountAddress;
use ledger_vm::{Context, EventHandle, VmError};

/// The creation number of an object's first stream: far above those of an account, so that the streams
/// of the two never meet at one address.
pub const INIT_GUID_CREATION_NUM: u64 = 0x4_0000_0000_0000;

/// Makes the object of `creator` under `seed`. It can never be deleted.
///
/// # Errors
/// `EOBJECT_EXISTS`.
pub fn create_named_object(
    context: &mut Context<'_>,
    creator: AccountAddress,
    seed: &[u8],
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, seed.len())?;
    create_at(context, named_address(creator, seed), creator, false)
}

/// Makes an object of `owner` at an address that no one can know before. It can be deleted.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn create_object(
    context: &mut Context<'_>,
    owner: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    let address = context.new_unique_address();
    create_at(context, address, owner, true)
}

/// Makes an object of `owner` as [`create_object`] does, which can never be deleted.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn create_sticky_object(
    context: &mut Context<'_>,
    owner: AccountAddress,
) -> Result<ConstructorRef, VmError> {
    charge_derivation(context, 0)?;
    let address = context.new_unique_address();
    create_at(context, address, owner, false)
}

/// Makes an object of the account `creator`, at the address that its next creation number gives. It can
/// be deleted.
///
/// # Errors
/// `EOBJECT_EXISTS`, and [`VmError::Arithmetic`] where the account's numbers are used up.
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

/// Makes the object of `owner` that is derived from the object at `derive_from`. It can never be
/// deleted.
///
/// # Errors
/// `EOBJECT_EXISTS`.
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

/// Makes an object at `address`, which the caller derived so that only `owner` or the framework could
/// have made it; genesis makes the paired asset of the chain's coin with it.
///
/// # Errors
/// `EOBJECT_EXISTS`.
pub fn create_at(
    context: &mut Context<'_>,
    address: AccountAddress,
    owner: AccountAddress,
    can_delete: bool,
) -> Result<ConstructorRef, VmError> {
    if context.read_resource::<ObjectCore>(address, &[])?.is_some() {
        return context.abort("object", &EOBJECT_EXISTS);
    }
    let core = ObjectCore {
        // The first number went to the stream of transfers.
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

/// Deletes what this module keeps of an object; other resources at its address are the caller's.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn delete(context: &mut Context<'_>, power: &DeleteRef) -> Result<(), VmError> {
    let object = power.self_;
    context.remove_resource::<ObjectCore>(object, &[])?;
    context.remove_resource::<TombStone>(object, &[])?;
    context.remove_resource::<Untransferable>(object, &[])
}
