//! Entry functions of objects: transfer, burn, and unburn.

use super::{
    EOBJECT_ALREADY_BURNT, EOBJECT_NOT_BURNT,
    ownership::{check_direct_owner, is_burnt, transfer_by},
    resources::{Object, TombStone, TypeParameter},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError};

fn transfer_call(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: AccountAddress,
    to: AccountAddress,
) -> Result<(), VmError> {
    transfer_by(context, owner.0, object, to)
}

fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<TypeParameter<0>>,
    to: AccountAddress,
) -> Result<(), VmError> {
    transfer_by(context, owner.0, object.inner, to)
}

fn transfer_to_object(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<TypeParameter<0>>,
    to: Object<TypeParameter<1>>,
) -> Result<(), VmError> {
    transfer_by(context, owner.0, object.inner, to.inner)
}

fn burn(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<TypeParameter<0>>,
) -> Result<(), VmError> {
    check_direct_owner(context, object.inner, owner.0)?;
    if is_burnt(context, object.inner)? {
        return context.abort("object", &EOBJECT_ALREADY_BURNT);
    }
    let original_owner = owner.0;
    context.write_resource(object.inner, &[], &TombStone { original_owner })
}

fn unburn(
    context: &mut Context<'_>,
    _: &[TypeTag],
    original_owner: Signer,
    object: Object<TypeParameter<0>>,
) -> Result<(), VmError> {
    if !is_burnt(context, object.inner)? {
        return context.abort("object", &EOBJECT_NOT_BURNT);
    }
    check_direct_owner(context, object.inner, original_owner.0)?;
    context.remove_resource::<TombStone>(object.inner, &[])
}

/// Returns the entry functions of the module.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("burn", burn).with_type_parameters(&[&["key"]]),
        Function::entry("transfer", transfer).with_type_parameters(&[&["key"]]),
        Function::entry("transfer_call", transfer_call),
        Function::entry("transfer_to_object", transfer_to_object)
            .with_type_parameters(&[&["key"], &["key"]]),
        Function::entry("unburn", unburn).with_type_parameters(&[&["key"]]),
    ]
}
