//! The coins of an account: what comes, what goes, and the store that the first deposit makes.
//!
//! A store exists only of an initialised coin. So whoever finds one need not look the coin up: its info,
//! whose supply changes, must not make unrelated transfers depend on one another.

use super::{
    Coin, CoinStore, DepositEvent, EBALANCE_OVERFLOW, EFROZEN, EINSUFFICIENT_BALANCE, MODULE,
    WithdrawEvent, info::ensure_initialised, type_info_of,
};
use crate::modules::account::{self, CoinRegisterEvent};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, VmError};
use std::slice;

fn read(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<Option<CoinStore>, VmError> {
    context.read_resource(owner, slice::from_ref(coin))
}

fn write(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    store: &CoinStore,
) -> Result<(), VmError> {
    context.write_resource(owner, slice::from_ref(coin), store)
}

/// Takes `amount` of `coin` from `owner`.
///
/// # Errors
/// `EINSUFFICIENT_BALANCE` also where there is no store, `EFROZEN`, `ECOIN_INFO_NOT_PUBLISHED`.
pub fn withdraw(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    let Some(mut store) = read(context, owner, coin)? else {
        ensure_initialised(context, coin)?;
        return if amount == 0 {
            Ok(())
        } else {
            context.abort(MODULE, &EINSUFFICIENT_BALANCE)
        };
    };
    if store.frozen {
        return context.abort(MODULE, &EFROZEN);
    }
    if amount == 0 {
        return Ok(());
    }
    let Some(rest) = store.coin.value.checked_sub(amount) else {
        return context.abort(MODULE, &EINSUFFICIENT_BALANCE);
    };
    store.coin.value = rest;
    context.emit_to(&mut store.withdraw_events, &WithdrawEvent { amount })?;
    write(context, owner, coin, &store)
}

/// Gives `amount` of `coin` to `owner`, making account and store where they are missing.
///
/// # Errors
/// `EFROZEN`, `EBALANCE_OVERFLOW`, and those of [`ensure_store`].
pub fn deposit(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    let mut store = match read(context, owner, coin)? {
        Some(store) if amount == 0 && !store.frozen => return Ok(()),
        Some(store) => store,
        None => new_store(context, owner, coin)?,
    };
    if store.frozen {
        return context.abort(MODULE, &EFROZEN);
    }
    if amount > 0 {
        let Some(value) = store.coin.value.checked_add(amount) else {
            return context.abort(MODULE, &EBALANCE_OVERFLOW);
        };
        store.coin.value = value;
        context.emit_to(&mut store.deposit_events, &DepositEvent { amount })?;
    }
    write(context, owner, coin, &store)
}

/// An empty store for `owner`, with the next two streams of its account, which hears of it. The caller
/// writes the store.
fn new_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<CoinStore, VmError> {
    ensure_initialised(context, coin)?;
    if owner.is_reserved() {
        return context.abort("account", &account::ECANNOT_RESERVED_ADDRESS);
    }
    let mut account = account::load(context, owner)?;
    let store = CoinStore {
        coin: Coin { value: 0 },
        frozen: false,
        deposit_events: account.new_event_handle(owner)?,
        withdraw_events: account.new_event_handle(owner)?,
    };
    // An initialised coin is a struct, so that it has a type info.
    if let Some(type_info) = type_info_of(coin) {
        context.emit_to(
            &mut account.coin_register_events,
            &CoinRegisterEvent { type_info },
        )?;
    }
    context.write_resource(owner, &[], &account)?;
    Ok(store)
}

/// Makes account and store of `owner` where they are missing.
///
/// # Errors
/// `ECOIN_INFO_NOT_PUBLISHED`, and `ECANNOT_RESERVED_ADDRESS` where no account can be made.
pub fn ensure_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<(), VmError> {
    if has_store(context, owner, coin)? {
        return Ok(());
    }
    let store = new_store(context, owner, coin)?;
    write(context, owner, coin, &store)
}

/// Whether `owner` has a store of `coin`.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn has_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<bool, VmError> {
    Ok(read(context, owner, coin)?.is_some())
}

/// What `owner` holds of `coin`, in its smallest unit; 0 without a store.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn balance_of(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<u64, VmError> {
    Ok(read(context, owner, coin)?.map_or(0, |store| store.coin.value))
}

/// Whether the store of `owner` is frozen; one that is not there is not.
///
/// # Errors
/// When the state cannot be read or gas runs out.
pub fn is_frozen(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<bool, VmError> {
    Ok(read(context, owner, coin)?.is_some_and(|store| store.frozen))
}

/// Freezes the store of `owner` or lets it go. The caller knows who may.
///
/// # Errors
/// [`VmError::MissingResource`] where there is no store.
pub fn set_frozen(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    frozen: bool,
) -> Result<(), VmError> {
    let mut store = read(context, owner, coin)?.ok_or(VmError::MissingResource)?;
    store.frozen = frozen;
    write(context, owner, coin, &store)
}

/// Moves `amount` of `coin`.
///
/// # Errors
/// Those of [`withdraw`] and [`deposit`].
pub fn transfer_between(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    withdraw(context, from, coin, amount)?;
    deposit(context, to, coin, amount)
}
