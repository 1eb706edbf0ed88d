//! Stores of fungible assets, and transfers between them.
//!
//! An amount of 0 moves nothing and emits no event (docs/reference/framework.md#f5), but all checks
//! apply. The sum of an asset's stores is its supply: only [`mint_to`] and [`burn_from`] change
//! either, and both change both.

use super::{
    EBALANCE_IS_NOT_ZERO, EFUNGIBLE_ASSET_AND_STORE_MISMATCH, EFUNGIBLE_STORE_EXISTENCE,
    EINSUFFICIENT_BALANCE, ENOT_STORE_OWNER, ESTORE_IS_FROZEN,
    asset::{decrease_supply, increase_supply},
    resources::{
        BurnRef, Deposit, Frozen, FungibleStore, FungibleStoreDeletion, MintRef, TransferRef,
        Untransferable, Withdraw,
    },
};
use crate::modules::object::{self, DeleteRef, Object};
use ledger_types::AccountAddress;
use ledger_vm::{Context, ErrorConstant, VmError};

/// Ends the function with an abort of this module.
fn abort<T>(context: &Context<'_>, error: &ErrorConstant) -> Result<T, VmError> {
    context.abort("fungible_asset", error)
}

/// The store at `store`.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`.
pub fn store_at(
    context: &mut Context<'_>,
    store: AccountAddress,
) -> Result<FungibleStore, VmError> {
    match context.read_resource(store, &[])? {
        Some(found) => Ok(found),
        None => abort(context, &EFUNGIBLE_STORE_EXISTENCE),
    }
}

/// Makes the object at `at` an empty store of `asset`.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn create_store(
    context: &mut Context<'_>,
    at: AccountAddress,
    asset: AccountAddress,
) -> Result<(), VmError> {
    if context
        .read_resource::<Untransferable>(asset, &[])?
        .is_some()
    {
        object::set_untransferable(context, &object::TransferRef { self_: at })?;
    }
    let store = FungibleStore {
        metadata: Object::at(asset),
        balance: 0,
        frozen: false,
    };
    context.write_resource(at, &[], &store)
}

/// Removes an empty store with its object, on the word of its owner. A frozen one stays, so that nobody
/// gets rid of the ice by making the store anew.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`, `ENOT_STORE_OWNER`, `ESTORE_IS_FROZEN`, `EBALANCE_IS_NOT_ZERO`.
pub fn remove_store(
    context: &mut Context<'_>,
    who: AccountAddress,
    store: AccountAddress,
) -> Result<(), VmError> {
    verify_store_owner(context, store, who)?;
    let found = store_at(context, store)?;
    if found.frozen {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if found.balance != 0 {
        return abort(context, &EBALANCE_IS_NOT_ZERO);
    }
    let owner = object::owner_of(context, store)?.ok_or(VmError::MissingResource)?;
    context.remove_resource::<FungibleStore>(store, &[])?;
    object::delete(context, &DeleteRef { self_: store })?;
    context.emit(&FungibleStoreDeletion {
        store,
        owner,
        metadata: found.metadata.inner,
    })
}

fn verify_store_owner(
    context: &mut Context<'_>,
    store: AccountAddress,
    who: AccountAddress,
) -> Result<(), VmError> {
    if object::owns(context, store, who)? {
        Ok(())
    } else {
        abort(context, &ENOT_STORE_OWNER)
    }
}

/// Whether a frozen store stops what is done to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ice {
    /// For owners and those who give.
    Holds,
    /// For those with power over the asset.
    Yields,
}

fn take(
    context: &mut Context<'_>,
    at: AccountAddress,
    amount: u64,
    ice: Ice,
) -> Result<(), VmError> {
    let mut store = store_at(context, at)?;
    if store.frozen && ice == Ice::Holds {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if amount == 0 {
        return Ok(());
    }
    let Some(rest) = store.balance.checked_sub(amount) else {
        return abort(context, &EINSUFFICIENT_BALANCE);
    };
    store.balance = rest;
    context.write_resource(at, &[], &store)?;
    context.emit(&Withdraw { store: at, amount })
}

fn put(
    context: &mut Context<'_>,
    at: AccountAddress,
    asset: AccountAddress,
    amount: u64,
    ice: Ice,
) -> Result<(), VmError> {
    let mut store = store_at(context, at)?;
    if store.frozen && ice == Ice::Holds {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if store.metadata.inner != asset {
        return abort(context, &EFUNGIBLE_ASSET_AND_STORE_MISMATCH);
    }
    if amount == 0 {
        return Ok(());
    }
    // No abort code stands for this in the reference either.
    store.balance = store
        .balance
        .checked_add(amount)
        .ok_or(VmError::Arithmetic)?;
    context.write_resource(at, &[], &store)?;
    context.emit(&Deposit { store: at, amount })
}

/// Moves `amount` from one store to another of the same asset, on the word of `who`, who owns the first.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`, `ENOT_STORE_OWNER`, `ESTORE_IS_FROZEN`, `EINSUFFICIENT_BALANCE`,
/// `EFUNGIBLE_ASSET_AND_STORE_MISMATCH`, and [`VmError::Arithmetic`] where the second would hold more
/// than 64 bits.
pub fn transfer_by(
    context: &mut Context<'_>,
    who: AccountAddress,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    verify_store_owner(context, from, who)?;
    let asset = store_at(context, from)?.metadata.inner;
    take(context, from, amount, Ice::Holds)?;
    put(context, to, asset, amount, Ice::Holds)
}

/// Moves `amount` between stores of the asset that `power` is over: no owner is asked, and frozen stores
/// yield.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`, `EINSUFFICIENT_BALANCE`, `EFUNGIBLE_ASSET_AND_STORE_MISMATCH`, and
/// [`VmError::Arithmetic`] where the second would hold more than 64 bits.
pub fn transfer_with_ref(
    context: &mut Context<'_>,
    power: &TransferRef,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = power.metadata.inner;
    verify_asset(context, from, asset)?;
    take(context, from, amount, Ice::Yields)?;
    put(context, to, asset, amount, Ice::Yields)
}

/// Makes `amount` of the asset that `power` is over into a store.
///
/// # Errors
/// `EMAX_SUPPLY_EXCEEDED`, `EFUNGIBLE_STORE_EXISTENCE`, `ESTORE_IS_FROZEN`,
/// `EFUNGIBLE_ASSET_AND_STORE_MISMATCH`, and [`VmError::Arithmetic`] where the store would hold more
/// than 64 bits.
pub fn mint_to(
    context: &mut Context<'_>,
    power: &MintRef,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = power.metadata.inner;
    increase_supply(context, asset, amount)?;
    put(context, store, asset, amount, Ice::Holds)
}

/// Destroys `amount` of what lies in a store of the asset that `power` is over; a frozen store yields.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`, `EFUNGIBLE_ASSET_AND_STORE_MISMATCH`, `EINSUFFICIENT_BALANCE`.
pub fn burn_from(
    context: &mut Context<'_>,
    power: &BurnRef,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = power.metadata.inner;
    verify_asset(context, store, asset)?;
    take(context, store, amount, Ice::Yields)?;
    decrease_supply(context, asset, amount)
}

/// Freezes a store of the asset that `power` is over, or lets it thaw.
///
/// # Errors
/// `EFUNGIBLE_STORE_EXISTENCE`, `EFUNGIBLE_ASSET_AND_STORE_MISMATCH`.
pub fn set_frozen_flag(
    context: &mut Context<'_>,
    power: &TransferRef,
    at: AccountAddress,
    is_frozen: bool,
) -> Result<(), VmError> {
    let mut store = verify_asset(context, at, power.metadata.inner)?;
    store.frozen = is_frozen;
    context.write_resource(at, &[], &store)?;
    context.emit(&Frozen {
        store: at,
        frozen: is_frozen,
    })
}

/// The store at `store`, which is for `asset`.
fn verify_asset(
    context: &mut Context<'_>,
    store: AccountAddress,
    asset: AccountAddress,
) -> Result<FungibleStore, VmError> {
    let found = store_at(context, store)?;
    if found.metadata.inner == asset {
        Ok(found)
    } else {
        abort(context, &EFUNGIBLE_ASSET_AND_STORE_MISMATCH)
    }
}
