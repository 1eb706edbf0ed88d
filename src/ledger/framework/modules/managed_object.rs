//! `0x1::managed_object`: objects that users create and manage by transactions.
//!
//! The reference node leaves this to user modules. A managed object has no content besides its
//! owner. It can be owned, be transferred, and own other objects. Its owner controls the assets and
//! objects that are sent to its address.

use super::{
    coin,
    fungible_asset::Metadata,
    object::{self, ConstructorRef, DeleteRef, Object, ObjectCore, TransferRef},
    primary_fungible_store::transfer_between,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

const MODULE: &str = "managed_object";

abort_codes! {
    const ERRORS;
    pub EHOLDS_COINS = InvalidState 1
        "the chain's coin lies at this object's address and would be lost; send it on first";
}

move_structs! {
    module "managed_object";

    /// The references of a managed object, stored at its address. The object's owner uses them.
    ObjectRefs as "ObjectRefs" has ["key"] member true {
        /// Permission to delete the object. Named and sticky objects have none.
        delete_ref: Option<DeleteRef>,
        /// Permission to enable and disable transfers by owners.
        transfer_ref: TransferRef,
    }

    /// Event of the creation of an object. Clients read the object's address from it.
    ObjectCreation as "ObjectCreation" has ["drop", "store"] event true {
        /// Address of the object.
        object: AccountAddress,
        /// Owner of the object.
        owner: AccountAddress,
    }

    /// Event of the deletion of an object.
    ObjectDeletion as "ObjectDeletion" has ["drop", "store"] event true {
        /// Address of the object.
        object: AccountAddress,
        /// Owner that deleted the object.
        owner: AccountAddress,
    }
}

fn store_refs(
    context: &mut Context<'_>,
    owner: AccountAddress,
    constructor_ref: &ConstructorRef,
) -> Result<(), VmError> {
    let object = constructor_ref.self_;
    let refs = ObjectRefs {
        delete_ref: constructor_ref
            .can_delete
            .then_some(DeleteRef { self_: object }),
        transfer_ref: TransferRef { self_: object },
    };
    context.write_resource(object, &[], &refs)?;
    context.emit(&ObjectCreation { object, owner })
}

#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn create_named(
    context: &mut Context<'_>,
    _: &[TypeTag],
    creator: Signer,
    seed: Vec<u8>,
) -> Result<(), VmError> {
    let constructor_ref = object::create_named_object(context, creator.0, &seed)?;
    store_refs(context, creator.0, &constructor_ref)
}

fn create_generated(
    context: &mut Context<'_>,
    _: &[TypeTag],
    creator: Signer,
) -> Result<(), VmError> {
    let constructor_ref = object::create_object_from_account(context, creator.0)?;
    store_refs(context, creator.0, &constructor_ref)
}

fn create_sticky(context: &mut Context<'_>, _: &[TypeTag], creator: Signer) -> Result<(), VmError> {
    let constructor_ref = object::create_sticky_object(context, creator.0)?;
    store_refs(context, creator.0, &constructor_ref)
}

/// Returns the references of an object after checking that `owner` owns it.
fn refs(
    context: &mut Context<'_>,
    owner: Signer,
    object: AccountAddress,
) -> Result<ObjectRefs, VmError> {
    object::check_owner(context, object, owner.0)?;
    context.require_resource(object, &[])
}

/// Deletes an object.
///
/// Aborts with `EHOLDS_COINS` if the object's address holds the chain's coin. Other coins, assets,
/// and objects at this address cannot be enumerated, so the owner loses access to them.
fn delete(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<ObjectRefs>,
) -> Result<(), VmError> {
    let Some(delete_ref) = refs(context, owner, object.inner)?.delete_ref else {
        return context.abort("object", &object::ECANNOT_DELETE);
    };
    let native = context.native_coin();
    if coin::balance_of(context, object.inner, native)? != 0 {
        return context.abort(MODULE, &EHOLDS_COINS);
    }
    context.remove_resource::<ObjectRefs>(object.inner, &[])?;
    object::delete(context, &delete_ref)?;
    context.emit(&ObjectDeletion {
        object: object.inner,
        owner: owner.0,
    })
}

fn set_ungated_transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<ObjectRefs>,
    allowed: bool,
) -> Result<(), VmError> {
    let transfer_ref = refs(context, owner, object.inner)?.transfer_ref;
    object::set_ungated_transfer(context, &transfer_ref, allowed)
}

/// Binds the object to its owner permanently.
fn set_untransferable(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<ObjectRefs>,
) -> Result<(), VmError> {
    let transfer_ref = refs(context, owner, object.inner)?.transfer_ref;
    object::set_untransferable(context, &transfer_ref)
}

/// Transfers assets held at the address of any object that `owner` owns.
///
/// Without this function, assets sent to an object would be locked.
fn transfer_fungible_assets(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    object: Object<ObjectCore>,
    metadata: Object<Metadata>,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    object::check_owner(context, object.inner, owner.0)?;
    transfer_between(context, object.inner, metadata.inner, to, amount)
}

fn is_deletable(
    context: &mut Context<'_>,
    _: &[TypeTag],
    object: Object<ObjectRefs>,
) -> Result<bool, VmError> {
    let refs: ObjectRefs = context.require_resource(object.inner, &[])?;
    Ok(refs.delete_ref.is_some())
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: MODULE,
        structs: vec![
            ObjectCreation::declaration(),
            ObjectDeletion::declaration(),
            ObjectRefs::declaration(),
        ],
        functions: vec![
            Function::entry("create_generated", create_generated),
            Function::entry("create_named", create_named),
            Function::entry("create_sticky", create_sticky),
            Function::entry("delete", delete),
            Function::entry("set_ungated_transfer", set_ungated_transfer),
            Function::entry("set_untransferable", set_untransferable),
            Function::entry("transfer_fungible_assets", transfer_fungible_assets),
            Function::view("is_deletable", is_deletable),
        ],
        errors: ERRORS,
    }
}
