//! Secondary stores of assets.
//!
//! An account can separate parts of its balance, or transfer a store with its content.

use crate::modules::{
    fungible_asset::{self, FungibleStore, Metadata},
    object::{self, Object},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError, move_structs};

move_structs! {
    module "managed_fungible_asset";

    /// Event of the creation of a store. Clients read the store's address from it.
    StoreCreation as "StoreCreation" has ["drop", "store"] event true {
        /// Address of the store.
        store: AccountAddress,
        /// Owner of the store.
        owner: AccountAddress,
        /// Metadata address of the asset.
        metadata: AccountAddress,
    }
}

fn create_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    metadata: Object<Metadata>,
) -> Result<(), VmError> {
    let store = object::create_object(context, owner.0)?.self_;
    fungible_asset::create_store(context, store, metadata.inner)?;
    context.emit(&StoreCreation {
        store,
        owner: owner.0,
        metadata: metadata.inner,
    })
}

fn remove_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    store: Object<FungibleStore>,
) -> Result<(), VmError> {
    fungible_asset::remove_store(context, owner.0, store.inner)
}

/// Returns the entry functions for owners of stores.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("create_store", create_store),
        Function::entry("remove_store", remove_store),
    ]
}
