//! `0x1::object`: objects, which are groups of resources with an address of their own and an owner.

mod address;
mod creation;
mod entry;
mod errors;
mod ownership;
mod resources;
mod views;

pub use address::{
    charge_derivation, guid_address, named_address, user_derived_address, user_derived_addresses,
};
pub use creation::{
    INIT_GUID_CREATION_NUM, create_at, create_named_object, create_object,
    create_object_from_account, create_sticky_object, create_user_derived_object, delete,
    new_event_handle,
};
pub use errors::*;
pub use ownership::{
    check_direct_owner, check_owner, is_burnt, is_untransferable, owner_of, owns,
    set_ungated_transfer, set_untransferable, transfer_by,
};
pub use resources::{
    ConstructorRef, DeleteRef, DeriveRef, ExtendRef, Object, ObjectCore, ObjectGroup, TombStone,
    Transfer, TransferEvent, TransferRef, TypeParameter, Untransferable,
};

use ledger_vm::ModuleDeclaration;

pub(super) fn module() -> ModuleDeclaration {
    let mut functions = entry::functions();
    functions.extend(views::functions());
    ModuleDeclaration {
        name: "object",
        structs: resources::declarations(),
        functions,
        errors: ERRORS,
    }
}
