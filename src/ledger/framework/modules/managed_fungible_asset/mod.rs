//! `0x1::managed_fungible_asset`: fungible assets that users create and manage by transactions.
//!
//! The reference node leaves this to user modules. The functions resemble `managed_coin`.
//!
//! An asset is a named object of its creator, with the symbol as seed. The manager of an asset is
//! the owner of this object, directly or through a chain of owners, so that `object::transfer`
//! transfers all permissions.

mod manage;
mod stores;

pub use manage::{ENOT_MANAGED, ENOT_MANAGER, ManagedFungibleAsset};
pub use stores::{EPRIMARY_STORE_OF_COIN, StoreCreation};

use super::{
    fungible_asset::Metadata,
    object::{self, Object},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError};

const MODULE: &str = "managed_fungible_asset";

#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn asset_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    creator: AccountAddress,
    symbol: String,
) -> Result<AccountAddress, VmError> {
    object::charge_derivation(context, symbol.len())?;
    Ok(object::named_address(creator, symbol.as_bytes()))
}

fn is_managed(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: Object<Metadata>,
) -> Result<bool, VmError> {
    context.has_resource::<ManagedFungibleAsset>(metadata.inner, &[])
}

pub(super) fn module() -> ModuleDeclaration {
    let mut functions = manage::functions();
    functions.extend(stores::functions());
    functions.extend([
        Function::view("asset_address", asset_address),
        Function::view("is_managed", is_managed),
    ]);
    ModuleDeclaration {
        name: MODULE,
        structs: vec![
            ManagedFungibleAsset::declaration(),
            StoreCreation::declaration(),
        ],
        functions,
        errors: &[ENOT_MANAGER, ENOT_MANAGED, EPRIMARY_STORE_OF_COIN],
    }
}
