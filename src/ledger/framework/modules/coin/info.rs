//! Metadata and supply of coins.
//!
//! The account at the address of a coin's type initializes the coin. This is possible once.

use super::{
    CoinInfo, DECIMALS_MAX, ECOIN_DECIMALS_TOO_LARGE, ECOIN_INFO_ADDRESS_MISMATCH,
    ECOIN_INFO_ALREADY_PUBLISHED, ECOIN_INFO_NOT_PUBLISHED, ECOIN_NAME_TOO_LONG,
    ECOIN_SYMBOL_TOO_LONG, MODULE, NAME_BYTES_MAX, SYMBOL_BYTES_MAX, deposit, pairing, withdraw,
};
use crate::modules::optional_aggregator::OptionalAggregator;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, VmError};
use std::slice;

/// Returns the info of `coin`, or `None` if the coin is not initialized.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or the info does not decode, and
/// [`VmError::OutOfGas`] if the gas limit is exceeded.
pub(super) fn read(context: &mut Context<'_>, coin: &TypeTag) -> Result<Option<CoinInfo>, VmError> {
    match coin {
        TypeTag::Struct(tag) => context.read_resource(tag.address, slice::from_ref(coin)),
        _ => Ok(None),
    }
}

/// Returns `true` if `coin` is initialized.
///
/// The native coin needs no look-up, because genesis initializes it.
///
/// # Errors
///
/// Returns the errors of [`read`].
pub(super) fn is_initialized(context: &mut Context<'_>, coin: &TypeTag) -> Result<bool, VmError> {
    Ok(coin == context.native_coin() || read(context, coin)?.is_some())
}

/// Checks that `coin` is initialized.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if it is not.
pub(super) fn ensure_initialized(context: &mut Context<'_>, coin: &TypeTag) -> Result<(), VmError> {
    if is_initialized(context, coin)? {
        Ok(())
    } else {
        context.abort(MODULE, &ECOIN_INFO_NOT_PUBLISHED)
    }
}

/// Initializes `coin` with the description `info`, and creates its paired asset.
///
/// Creates no capability. The caller controls minting, burning, and freezing.
///
/// # Errors
///
/// Aborts with:
///
/// * `ECOIN_INFO_ADDRESS_MISMATCH` if `coin` is not a struct at the address of `account`.
/// * `ECOIN_INFO_ALREADY_PUBLISHED` if the coin is initialized.
/// * `ECOIN_NAME_TOO_LONG` if the name has more than [`NAME_BYTES_MAX`] bytes.
/// * `ECOIN_SYMBOL_TOO_LONG` if the symbol has more than [`SYMBOL_BYTES_MAX`] bytes.
/// * `ECOIN_DECIMALS_TOO_LARGE` if there are more than [`DECIMALS_MAX`] decimal places.
pub fn initialize(
    context: &mut Context<'_>,
    account: AccountAddress,
    coin: &TypeTag,
    info: &CoinInfo,
) -> Result<(), VmError> {
    let TypeTag::Struct(tag) = coin else {
        return context.abort(MODULE, &ECOIN_INFO_ADDRESS_MISMATCH);
    };
    if tag.address != account {
        return context.abort(MODULE, &ECOIN_INFO_ADDRESS_MISMATCH);
    }
    if read(context, coin)?.is_some() {
        return context.abort(MODULE, &ECOIN_INFO_ALREADY_PUBLISHED);
    }
    if info.name.len() > NAME_BYTES_MAX {
        return context.abort(MODULE, &ECOIN_NAME_TOO_LONG);
    }
    if info.symbol.len() > SYMBOL_BYTES_MAX {
        return context.abort(MODULE, &ECOIN_SYMBOL_TOO_LONG);
    }
    if info.decimals > DECIMALS_MAX {
        return context.abort(MODULE, &ECOIN_DECIMALS_TOO_LARGE);
    }
    context.write_resource(account, slice::from_ref(coin), info)?;
    pairing::create(context, coin, tag, info)
}

/// Returns the supply of `coin` in its smallest unit, or `None` if the supply is not tracked.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] if the coin is not initialized.
pub fn supply_of(context: &mut Context<'_>, coin: &TypeTag) -> Result<Option<u128>, VmError> {
    let info = read(context, coin)?.ok_or(VmError::MissingResource)?;
    Ok(info.supply.and_then(|supply| supply.value()))
}

/// Applies `change` to the supply of `coin`, if the supply is tracked.
fn change_supply(
    context: &mut Context<'_>,
    coin: &TypeTag,
    change: impl FnOnce(&Context<'_>, &mut OptionalAggregator) -> Result<(), VmError>,
) -> Result<(), VmError> {
    let TypeTag::Struct(tag) = coin else {
        return Err(VmError::MissingResource);
    };
    let mut info = read(context, coin)?.ok_or(VmError::MissingResource)?;
    let Some(supply) = &mut info.supply else {
        return Ok(());
    };
    change(context, supply)?;
    context.write_resource(tag.address, slice::from_ref(coin), &info)
}

/// Mints `amount` of `coin`, in its smallest unit, into the store of `to`.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Aborts with `EAGGREGATOR_OVERFLOW` if the supply would exceed its limit. Returns
/// [`VmError::MissingResource`] if `amount` is positive and the coin is not initialized. Also
/// returns the errors of [`deposit`].
pub fn mint(
    context: &mut Context<'_>,
    coin: &TypeTag,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    if amount > 0 {
        change_supply(context, coin, |context, supply| {
            supply.add(context, amount.into())
        })?;
    }
    deposit(context, to, coin, amount)
}

/// Burns `amount` of `coin`, in its smallest unit, from the store of `from`.
///
/// Checks no capability: this is the duty of the caller.
///
/// # Errors
///
/// Aborts with `EAGGREGATOR_UNDERFLOW` if the amount exceeds the supply. Also returns the errors of
/// [`withdraw`].
pub fn burn(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    withdraw(context, from, coin, amount)?;
    if amount > 0 {
        change_supply(context, coin, |context, supply| {
            supply.sub(context, amount.into())
        })?;
    }
    Ok(())
}
