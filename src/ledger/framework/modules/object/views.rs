//! View functions of objects.
//!
//! They comprise the views of the reference node and its public functions that only read. Clients
//! cannot call the latter on the reference node.

use super::{
    address::{charge_derivation, guid_address, named_address, user_derived_address},
    ownership::{self, require_core},
    resources::{Object, TypeParameter, resource_exists_at},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, VmError};

type AnyObject = Object<TypeParameter<0>>;

fn owner(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
) -> Result<AccountAddress, VmError> {
    Ok(require_core(context, object.inner)?.owner)
}

fn is_owner(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
    owner: AccountAddress,
) -> Result<bool, VmError> {
    Ok(require_core(context, object.inner)?.owner == owner)
}

fn owns(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
    owner: AccountAddress,
) -> Result<bool, VmError> {
    ownership::owns(context, object.inner, owner)
}

fn root_owner(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
) -> Result<AccountAddress, VmError> {
    ownership::root_owner(context, object.inner)
}

fn is_burnt(context: &mut Context<'_>, _: &[TypeTag], object: AnyObject) -> Result<bool, VmError> {
    ownership::is_burnt(context, object.inner)
}

fn is_untransferable(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
) -> Result<bool, VmError> {
    ownership::is_untransferable(context, object.inner)
}

fn ungated_transfer_allowed(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AnyObject,
) -> Result<bool, VmError> {
    Ok(require_core(context, object.inner)?.allow_ungated_transfer)
}

fn is_object(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: AccountAddress,
) -> Result<bool, VmError> {
    Ok(ownership::owner_of(context, object)?.is_some())
}

fn object_exists(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    object: AccountAddress,
) -> Result<bool, VmError> {
    Ok(ownership::owner_of(context, object)?.is_some()
        && resource_exists_at(context, object, type_args.first())?)
}

#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn create_object_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    source: AccountAddress,
    seed: Vec<u8>,
) -> Result<AccountAddress, VmError> {
    charge_derivation(context, seed.len())?;
    Ok(named_address(source, &seed))
}

fn create_user_derived_object_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    source: AccountAddress,
    derive_from: AccountAddress,
) -> Result<AccountAddress, VmError> {
    charge_derivation(context, 0)?;
    Ok(user_derived_address(source, derive_from))
}

fn create_guid_object_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    source: AccountAddress,
    creation_num: u64,
) -> Result<AccountAddress, VmError> {
    charge_derivation(context, 0)?;
    Ok(guid_address(source, creation_num))
}

/// Returns the view functions of the module.
pub(super) fn functions() -> Vec<Function> {
    let with_key_parameter = |function: Function| function.with_type_parameters(&[&["key"]]);
    vec![
        Function::view("create_guid_object_address", create_guid_object_address),
        Function::view("create_object_address", create_object_address),
        Function::view(
            "create_user_derived_object_address",
            create_user_derived_object_address,
        ),
        with_key_parameter(Function::view("is_burnt", is_burnt)),
        Function::view("is_object", is_object),
        with_key_parameter(Function::view("is_owner", is_owner)),
        with_key_parameter(Function::view("is_untransferable", is_untransferable)),
        with_key_parameter(Function::view("object_exists", object_exists)),
        with_key_parameter(Function::view("owner", owner)),
        with_key_parameter(Function::view("owns", owns)),
        with_key_parameter(Function::view("root_owner", root_owner)),
        with_key_parameter(Function::view(
            "ungated_transfer_allowed",
            ungated_transfer_allowed,
        )),
    ]
}
