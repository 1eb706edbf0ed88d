//! Coin stores: deposits, withdrawals, and transfers.
//!
//! The first deposit creates a store. Only an initialized coin has stores, so an operation that
//! finds a store does not read the coin's info. The info includes the supply, which changes, and
//! reading it would make unrelated transfers depend on each other.

use super::{
    Coin, CoinStore, DepositEvent, EBALANCE_OVERFLOW, EFROZEN, EINSUFFICIENT_BALANCE, MODULE,
    WithdrawEvent, info::ensure_initialized, type_info_of,
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

/// Withdraws `amount` of `coin`, in its smallest unit, from the store of `owner`.
///
/// # Errors
///
/// Aborts with:
///
/// * `EINSUFFICIENT_BALANCE` if the store holds less, or if there is no store and `amount` is
///   positive.
/// * `EFROZEN` if the store is frozen, even if `amount` is 0.
/// * `ECOIN_INFO_NOT_PUBLISHED` if there is no store and the coin is not initialized.
pub fn withdraw(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    let Some(mut store) = read(context, owner, coin)? else {
        ensure_initialized(context, coin)?;
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
    let Some(remaining) = store.coin.value.checked_sub(amount) else {
        return context.abort(MODULE, &EINSUFFICIENT_BALANCE);
    };
    store.coin.value = remaining;
    context.emit_to(&mut store.withdraw_events, &WithdrawEvent { amount })?;
    write(context, owner, coin, &store)
}

/// Deposits `amount` of `coin`, in its smallest unit, into the store of `owner`.
///
/// Creates the account and the store if they are missing.
///
/// # Errors
///
/// Aborts with:
///
/// * `EFROZEN` if the store is frozen, even if `amount` is 0.
/// * `EBALANCE_OVERFLOW` if the balance would exceed 64 bits.
/// * The errors of [`ensure_store`].
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

/// Returns an empty store for `owner`, which the caller must write.
///
/// The store uses the next two event streams of the account. The account emits a
/// [`CoinRegisterEvent`].
fn new_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<CoinStore, VmError> {
    ensure_initialized(context, coin)?;
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
    // Never `None`: an initialized coin is a struct, so it has a type info.
    if let Some(type_info) = type_info_of(coin) {
        context.emit_to(
            &mut account.coin_register_events,
            &CoinRegisterEvent { type_info },
        )?;
    }
    context.write_resource(owner, &[], &account)?;
    Ok(store)
}

/// Creates the account and the store of `owner` if they are missing.
///
/// # Errors
///
/// The following apply only if the store is missing:
///
/// * `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
/// * `ECANNOT_RESERVED_ADDRESS` if the address is reserved, so that no account can exist there.
/// * [`VmError::Arithmetic`] if the account has no creation number left.
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

/// Returns `true` if `owner` has a store of `coin`.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn has_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<bool, VmError> {
    Ok(read(context, owner, coin)?.is_some())
}

/// Returns the balance of `owner` in the smallest unit of `coin`, or 0 without a store.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn balance_of(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<u64, VmError> {
    Ok(read(context, owner, coin)?.map_or(0, |store| store.coin.value))
}

/// Returns `true` if the store of `owner` is frozen, or `false` without a store.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn is_frozen(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
) -> Result<bool, VmError> {
    Ok(read(context, owner, coin)?.is_some_and(|store| store.frozen))
}

/// Freezes or unfreezes the store of `owner`.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] if there is no store.
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

/// Transfers `amount` of `coin`, in its smallest unit, from one account to another.
///
/// # Errors
///
/// Returns the errors of [`withdraw`] and [`deposit`].
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
