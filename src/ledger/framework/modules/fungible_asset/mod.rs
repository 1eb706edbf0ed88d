//! `0x1::fungible_asset`: assets with interchangeable units, in stores that are objects.
//!
//! The paired asset of a coin is such an asset too, and its stores hold the coin.

mod asset;
mod errors;
mod resources;
mod store;
mod views;

pub use asset::{add_fungibility, mutate_metadata};
pub(crate) use asset::{decrease_supply, increase_supply, write_asset};
pub use errors::*;
pub use resources::{
    BurnRef, ConcurrentSupply, Creation, Deposit, DepositEvent, Frozen, FrozenEvent,
    FungibleAssetEvents, FungibleStore, FungibleStoreDeletion, Metadata, MintRef,
    MutateMetadataRef, TransferRef, Untransferable, Withdraw, WithdrawEvent,
};
pub use store::{
    burn_from, create_event_streams, create_store, deposit_minted, find_store, mint_to,
    remove_store, set_frozen_flag, store_at, transfer_by, transfer_unchecked, transfer_with_ref,
    withdraw_burned, write_store,
};
pub use views::{balance_of, is_store_frozen, supply_of};

use super::object::{Object, TypeParameter};
use ledger_types::TypeTag;
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError};

/// Transfers an amount between two stores, of which the caller owns the first.
///
/// `dispatchable_fungible_asset::transfer` is the same function.
pub(super) fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    sender: Signer,
    from: Object<TypeParameter<0>>,
    to: Object<TypeParameter<0>>,
    amount: u64,
) -> Result<(), VmError> {
    transfer_by(context, sender.0, from.inner, to.inner, amount)
}

pub(super) fn module() -> ModuleDeclaration {
    let mut functions =
        vec![Function::entry("transfer", transfer).with_type_parameters(&[&["key"]])];
    functions.extend(views::functions());
    ModuleDeclaration {
        name: "fungible_asset",
        structs: vec![
            BurnRef::declaration(),
            ConcurrentSupply::declaration(),
            Creation::declaration(),
            Deposit::declaration(),
            DepositEvent::declaration(),
            Frozen::declaration(),
            FrozenEvent::declaration(),
            FungibleAssetEvents::declaration(),
            FungibleStore::declaration(),
            FungibleStoreDeletion::declaration(),
            Metadata::declaration(),
            MintRef::declaration(),
            MutateMetadataRef::declaration(),
            TransferRef::declaration(),
            Untransferable::declaration(),
            Withdraw::declaration(),
            WithdrawEvent::declaration(),
        ],
        functions,
        errors: ERRORS,
    }
}
