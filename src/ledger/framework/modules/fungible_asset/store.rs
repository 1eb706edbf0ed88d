//! Stores of fungible assets, and transfers between them.
//!
//! An amount of 0 moves nothing and emits no event (docs/reference/framework.md#f5), but all checks
//! apply. The supply of an asset is the sum of its stores. A caller of [`deposit_minted`] or
//! [`withdraw_burned`] changes the supply by the same amount.

use super::{
    EBALANCE_IS_NOT_ZERO, EFUNGIBLE_ASSET_AND_STORE_MISMATCH, EFUNGIBLE_STORE_EXISTENCE,
    EINSUFFICIENT_BALANCE, ENOT_STORE_OWNER, ESTORE_IS_FROZEN,
    asset::{decrease_supply, increase_supply},
    resources::{
        BurnRef, Deposit, DepositEvent, Frozen, FrozenEvent, FungibleAssetEvents, FungibleStore,
        FungibleStoreDeletion, MintRef, TransferRef, Untransferable, Withdraw, WithdrawEvent,
    },
};
use crate::modules::object::{self, DeleteRef, Object};
use ledger_types::AccountAddress;
use ledger_vm::{Context, ErrorConstant, MoveStruct, VmError};

/// Aborts the function with an error of this module.
fn abort<T>(context: &Context<'_>, error: &ErrorConstant) -> Result<T, VmError> {
    context.abort("fungible_asset", error)
}

/// Returns the store at `store`.
///
/// # Errors
///
/// Aborts with `EFUNGIBLE_STORE_EXISTENCE` if there is none.
pub fn store_at(
    context: &mut Context<'_>,
    store: AccountAddress,
) -> Result<FungibleStore, VmError> {
    match find_store(context, store)? {
        Some(resource) => Ok(resource),
        None => abort(context, &EFUNGIBLE_STORE_EXISTENCE),
    }
}

/// Returns the store at `store`, or `None` if there is none.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
// Not inlined, because the code of a transfer does not fit into the instruction cache.
#[inline(never)]
pub fn find_store(
    context: &mut Context<'_>,
    store: AccountAddress,
) -> Result<Option<FungibleStore>, VmError> {
    context.read_resource(store, &[])
}

/// Writes the store at `store`.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
// Not inlined, for the reason of `find_store`.
#[inline(never)]
pub fn write_store(
    context: &mut Context<'_>,
    store: AccountAddress,
    resource: &FungibleStore,
) -> Result<(), VmError> {
    context.write_resource(store, &[], resource)
}

/// Turns the object at `at` into an empty store of `asset`.
///
/// The store cannot be transferred if the asset is marked [`Untransferable`].
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn create_store(
    context: &mut Context<'_>,
    at: AccountAddress,
    asset: AccountAddress,
) -> Result<(), VmError> {
    if context.has_resource::<Untransferable>(asset, &[])? {
        object::set_untransferable(context, &object::TransferRef { self_: at })?;
    }
    let store = FungibleStore {
        metadata: Object::at(asset),
        balance: 0,
        frozen: false,
    };
    write_store(context, at, &store)
}

/// Gives the store at `at` its event streams. They have the next creation numbers of the store.
///
/// # Errors
///
/// Aborts with `EOBJECT_DOES_NOT_EXIST` of `object` if there is no object at `at`.
pub fn create_event_streams(context: &mut Context<'_>, at: AccountAddress) -> Result<(), VmError> {
    let events = FungibleAssetEvents {
        deposit_events: object::new_event_handle(context, at)?,
        withdraw_events: object::new_event_handle(context, at)?,
        frozen_events: object::new_event_handle(context, at)?,
    };
    context.write_resource(at, &[], &events)
}

/// A stream of a store. The values are the positions of the handles in [`FungibleAssetEvents`].
enum Stream {
    Deposits = 0,
    Withdrawals = 1,
    Freezes = 2,
}

/// Emits `event` to a stream of the store at `at`, if the store has streams.
fn emit_to_stream<E: MoveStruct>(
    context: &mut Context<'_>,
    at: AccountAddress,
    stream: Stream,
    event: &E,
) -> Result<(), VmError> {
    if !context.chain().parameters().coin_event_handles {
        return Ok(());
    }
    context.emit_to_stored::<FungibleAssetEvents, E>(at, stream as usize, event)
}

/// Removes an empty store and its object on behalf of the owner `caller`.
///
/// A frozen store cannot be removed, because the owner could escape the freeze by creating the
/// store again.
///
/// # Errors
///
/// Aborts with:
///
/// * `ENOT_STORE_OWNER` if `caller` does not own the store.
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
/// * `EBALANCE_IS_NOT_ZERO` if the store is not empty.
/// * The errors of [`object::owns`].
pub fn remove_store(
    context: &mut Context<'_>,
    caller: AccountAddress,
    store: AccountAddress,
) -> Result<(), VmError> {
    verify_store_owner(context, store, caller)?;
    let resource = store_at(context, store)?;
    if resource.frozen {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if resource.balance != 0 {
        return abort(context, &EBALANCE_IS_NOT_ZERO);
    }
    let owner = object::owner_of(context, store)?.ok_or(VmError::MissingResource)?;
    context.remove_resource::<FungibleStore>(store, &[])?;
    object::delete(context, &DeleteRef { self_: store })?;
    context.emit(&FungibleStoreDeletion {
        store,
        owner,
        metadata: resource.metadata.inner,
    })
}

fn verify_store_owner(
    context: &mut Context<'_>,
    store: AccountAddress,
    caller: AccountAddress,
) -> Result<(), VmError> {
    if object::owns(context, store, caller)? {
        Ok(())
    } else {
        abort(context, &ENOT_STORE_OWNER)
    }
}

/// The effect of a freeze on an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FreezeRule {
    /// A frozen store rejects the operation: transfers by owners, and mints.
    Enforced,
    /// The freeze does not apply: operations with a [`TransferRef`] or a [`BurnRef`].
    Bypassed,
}

fn withdraw_from(
    context: &mut Context<'_>,
    at: AccountAddress,
    amount: u64,
    freeze_rule: FreezeRule,
) -> Result<(), VmError> {
    let mut store = store_at(context, at)?;
    if store.frozen && freeze_rule == FreezeRule::Enforced {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if amount == 0 {
        return Ok(());
    }
    let Some(remaining) = store.balance.checked_sub(amount) else {
        return abort(context, &EINSUFFICIENT_BALANCE);
    };
    store.balance = remaining;
    write_store(context, at, &store)?;
    context.emit(&Withdraw { store: at, amount })?;
    emit_to_stream(context, at, Stream::Withdrawals, &WithdrawEvent { amount })
}

fn deposit_into(
    context: &mut Context<'_>,
    at: AccountAddress,
    asset: AccountAddress,
    amount: u64,
    freeze_rule: FreezeRule,
) -> Result<(), VmError> {
    let mut store = store_at(context, at)?;
    if store.frozen && freeze_rule == FreezeRule::Enforced {
        return abort(context, &ESTORE_IS_FROZEN);
    }
    if store.metadata.inner != asset {
        return abort(context, &EFUNGIBLE_ASSET_AND_STORE_MISMATCH);
    }
    if amount == 0 {
        return Ok(());
    }
    // The reference node has no abort code for an overflow either.
    store.balance = store
        .balance
        .checked_add(amount)
        .ok_or(VmError::Arithmetic)?;
    write_store(context, at, &store)?;
    context.emit(&Deposit { store: at, amount })?;
    emit_to_stream(context, at, Stream::Deposits, &DepositEvent { amount })
}

/// Withdraws `amount` from a store on behalf of its owner `caller`.
///
/// The caller of this function burns the amount: it decreases the supply.
///
/// # Errors
///
/// Aborts with:
///
/// * `ENOT_STORE_OWNER` if `caller` does not own the store.
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
/// * `EINSUFFICIENT_BALANCE` if the store holds less than the amount.
/// * The errors of [`object::owns`].
pub fn withdraw_burned(
    context: &mut Context<'_>,
    caller: AccountAddress,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    verify_store_owner(context, store, caller)?;
    withdraw_from(context, store, amount, FreezeRule::Enforced)
}

/// Deposits `amount` of `asset`, by which the caller increases the supply, into a store.
///
/// # Errors
///
/// Fails with:
///
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if the store is for another asset.
/// * [`VmError::Arithmetic`] if the balance of the store would exceed 64 bits.
pub fn deposit_minted(
    context: &mut Context<'_>,
    asset: AccountAddress,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    deposit_into(context, store, asset, amount, FreezeRule::Enforced)
}

/// Transfers `amount` between two stores of `asset`, without a check of owners and freezes.
///
/// # Errors
///
/// Fails with:
///
/// * `EFUNGIBLE_STORE_EXISTENCE` if one of the stores does not exist.
/// * `EINSUFFICIENT_BALANCE` if `from` holds less than the amount.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if `to` is for another asset.
/// * [`VmError::Arithmetic`] if the balance of `to` would exceed 64 bits.
pub fn transfer_unchecked(
    context: &mut Context<'_>,
    asset: AccountAddress,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    withdraw_from(context, from, amount, FreezeRule::Bypassed)?;
    deposit_into(context, to, asset, amount, FreezeRule::Bypassed)
}

/// Transfers `amount` between two stores of one asset, on behalf of `caller`, the owner of the
/// first.
///
/// The amount is in the asset's smallest unit.
///
/// # Errors
///
/// Fails with:
///
/// * `ENOT_STORE_OWNER` if `caller` does not own the store `from`.
/// * `EFUNGIBLE_STORE_EXISTENCE` if one of the stores does not exist.
/// * `ESTORE_IS_FROZEN` if one of the stores is frozen.
/// * `EINSUFFICIENT_BALANCE` if `from` holds less than the amount.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if the stores are for different assets.
/// * [`VmError::Arithmetic`] if the balance of `to` would exceed 64 bits.
/// * The errors of [`object::owns`].
pub fn transfer_by(
    context: &mut Context<'_>,
    caller: AccountAddress,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    verify_store_owner(context, from, caller)?;
    let asset = store_at(context, from)?.metadata.inner;
    withdraw_from(context, from, amount, FreezeRule::Enforced)?;
    deposit_into(context, to, asset, amount, FreezeRule::Enforced)
}

/// Transfers `amount` between two stores of the asset of `asset_ref`.
///
/// The amount is in the asset's smallest unit. The transfer needs no owner and ignores freezes.
///
/// # Errors
///
/// Fails with:
///
/// * `EFUNGIBLE_STORE_EXISTENCE` if one of the stores does not exist.
/// * `EINSUFFICIENT_BALANCE` if `from` holds less than the amount.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if one of the stores is for another asset.
/// * [`VmError::Arithmetic`] if the balance of `to` would exceed 64 bits.
pub fn transfer_with_ref(
    context: &mut Context<'_>,
    asset_ref: &TransferRef,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = asset_ref.metadata.inner;
    require_store_of_asset(context, from, asset)?;
    transfer_unchecked(context, asset, from, to, amount)
}

/// Mints `amount` of the asset of `asset_ref`, in its smallest unit, into a store.
///
/// # Errors
///
/// Fails with:
///
/// * `EMAX_SUPPLY_EXCEEDED` if the supply would exceed its maximum.
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if the store is for another asset.
/// * [`VmError::Arithmetic`] if the balance of the store would exceed 64 bits.
pub fn mint_to(
    context: &mut Context<'_>,
    asset_ref: &MintRef,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = asset_ref.metadata.inner;
    increase_supply(context, asset, amount)?;
    deposit_minted(context, asset, store, amount)
}

/// Burns `amount` of the asset of `asset_ref`, in its smallest unit, from a store, even a frozen
/// one.
///
/// # Errors
///
/// Aborts with:
///
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if the store is for another asset.
/// * `EINSUFFICIENT_BALANCE` if the store holds less than the amount.
pub fn burn_from(
    context: &mut Context<'_>,
    asset_ref: &BurnRef,
    store: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = asset_ref.metadata.inner;
    require_store_of_asset(context, store, asset)?;
    withdraw_from(context, store, amount, FreezeRule::Bypassed)?;
    decrease_supply(context, asset, amount)
}

/// Freezes or unfreezes a store of the asset of `asset_ref`.
///
/// # Errors
///
/// Aborts with:
///
/// * `EFUNGIBLE_STORE_EXISTENCE` if there is no store.
/// * `EFUNGIBLE_ASSET_AND_STORE_MISMATCH` if the store is for another asset.
pub fn set_frozen_flag(
    context: &mut Context<'_>,
    asset_ref: &TransferRef,
    at: AccountAddress,
    is_frozen: bool,
) -> Result<(), VmError> {
    let mut store = require_store_of_asset(context, at, asset_ref.metadata.inner)?;
    store.frozen = is_frozen;
    write_store(context, at, &store)?;
    context.emit(&Frozen {
        store: at,
        frozen: is_frozen,
    })?;
    let event = FrozenEvent { frozen: is_frozen };
    emit_to_stream(context, at, Stream::Freezes, &event)
}

/// Returns the store at `store` after checking that it is for `asset`.
fn require_store_of_asset(
    context: &mut Context<'_>,
    store: AccountAddress,
    asset: AccountAddress,
) -> Result<FungibleStore, VmError> {
    let resource = store_at(context, store)?;
    if resource.metadata.inner == asset {
        Ok(resource)
    } else {
        abort(context, &EFUNGIBLE_ASSET_AND_STORE_MISMATCH)
    }
}
