//! Secondary stores of assets.
//!
//! An account can separate parts of its balance, or transfer a store with its content.

use super::MODULE;
use crate::modules::{
    coin,
    fungible_asset::{self, FungibleStore, Metadata},
    object::{self, Object},
    primary_fungible_store,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError, abort_codes, move_structs};

abort_codes! {
    pub EPRIMARY_STORE_OF_COIN = InvalidArgument 3
        "the primary store of a coin cannot be removed, because its event streams would restart";
}

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

/// Removes an empty store of the caller, except the primary store of a coin.
///
/// A store that is created again at the address of a removed one would number the events of its
/// streams from 0 again. Genesis also creates primary stores of the chain's coin without a deposit,
/// which a removal would refund.
fn remove_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    store: Object<FungibleStore>,
) -> Result<(), VmError> {
    let asset = fungible_asset::store_at(context, store.inner)?
        .metadata
        .inner;
    // The owner of a primary store never changes. The caller may own it through an object.
    if let Some(direct_owner) = object::owner_of(context, store.inner)?
        && primary_fungible_store::store_address(context, direct_owner, asset)? == store.inner
        && coin::is_paired(context, asset)?
    {
        return context.abort(MODULE, &EPRIMARY_STORE_OF_COIN);
    }
    fungible_asset::remove_store(context, owner.0, store.inner)
}

/// Returns the entry functions for owners of stores.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("create_store", create_store),
        Function::entry("remove_store", remove_store),
    ]
}
