//! Stores beside the primary one: an account may keep parts of what it holds apart, or give a store away
//! with all that lies in it. They serve every asset but those of coins.

use super::MODULE;
use crate::modules::{
    coin,
    fungible_asset::{self, FungibleStore, Metadata},
    object::{self, Object},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError, abort_codes, move_structs};

abort_codes! {
    pub EPAIRED_WITH_COIN = InvalidArgument 3
        "this asset is a coin's, which lies in coin stores alone";
}

move_structs! {
    module "managed_fungible_asset";

    /// A store was made; its address is known from here.
    StoreCreation as "StoreCreation" has ["drop", "store"] event true {
        /// The store.
        store: AccountAddress,
        /// Whose it is.
        owner: AccountAddress,
        /// Which asset it is for.
        metadata: AccountAddress,
    }
}

fn create_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    metadata: Object<Metadata>,
) -> Result<(), VmError> {
    if coin::paired_coin(context, metadata.inner)?.is_some() {
        return context.abort(MODULE, &EPAIRED_WITH_COIN);
    }
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

/// The entry functions of owners.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("create_store", create_store),
        Function::entry("remove_store", remove_store),
    ]
}
