//! Metadata and supply of coins.
//!
//! The account at the address of a coin's type initializes the coin. This is possible once.

use super::{
    CoinInfo, DECIMALS_MAX, ECOIN_DECIMALS_TOO_LARGE, ECOIN_INFO_ADDRESS_MISMATCH,
    ECOIN_INFO_ALREADY_PUBLISHED, ECOIN_INFO_NOT_PUBLISHED, ECOIN_NAME_TOO_LONG,
    ECOIN_SYMBOL_TOO_LONG, MODULE, NAME_BYTES_MAX, SYMBOL_BYTES_MAX, paired_metadata,
};
use crate::modules::{fungible_asset, optional_aggregator::OptionalAggregator};
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

/// Initializes `coin` with the description `info`.
///
/// Creates neither a capability nor the paired asset, which the first operation on the coin
/// creates. The caller controls minting, burning, and freezing.
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
    context.write_resource(account, slice::from_ref(coin), info)
}

/// Returns the supply of `coin` in its smallest unit, or `None` if the supply is not tracked.
///
/// It includes the coins in stores and those that programs hold in resources.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] if the coin is not initialized, and
/// [`VmError::Arithmetic`] if the supply exceeds 128 bits.
pub fn supply_of(context: &mut Context<'_>, coin: &TypeTag) -> Result<Option<u128>, VmError> {
    let Some(outside_stores) = supply_outside_stores(context, coin)? else {
        return Ok(None);
    };
    let in_stores = match paired_metadata(context, coin)? {
        Some(metadata) => fungible_asset::supply_of(context, metadata)?.unwrap_or(0),
        None => 0,
    };
    let supply = outside_stores.checked_add(in_stores);
    Ok(Some(supply.ok_or(VmError::Arithmetic)?))
}

/// Returns the amount of `coin` that programs hold in resources, in its smallest unit, or `None` if
/// the supply is not tracked.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] if the coin is not initialized.
pub(super) fn supply_outside_stores(
    context: &mut Context<'_>,
    coin: &TypeTag,
) -> Result<Option<u128>, VmError> {
    let info = read(context, coin)?.ok_or(VmError::MissingResource)?;
    Ok(info.supply.and_then(|supply| supply.value()))
}

/// Adds `amount` to the coins that programs hold in resources, if the supply is tracked.
///
/// # Errors
///
/// Aborts with `EAGGREGATOR_OVERFLOW` if the supply would exceed its limit. Returns
/// [`VmError::MissingResource`] if `amount` is positive and the coin is not initialized.
pub(super) fn grow_supply(
    context: &mut Context<'_>,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    change_supply(context, coin, amount, |context, supply| {
        supply.add(context, amount.into())
    })
}

/// Subtracts `amount` from the coins that programs hold in resources, if the supply is tracked.
///
/// # Errors
///
/// Aborts with `EAGGREGATOR_UNDERFLOW` if programs hold less. Returns
/// [`VmError::MissingResource`] if `amount` is positive and the coin is not initialized.
pub(super) fn shrink_supply(
    context: &mut Context<'_>,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), VmError> {
    change_supply(context, coin, amount, |context, supply| {
        supply.sub(context, amount.into())
    })
}

fn change_supply(
    context: &mut Context<'_>,
    coin: &TypeTag,
    amount: u64,
    change: impl FnOnce(&Context<'_>, &mut OptionalAggregator) -> Result<(), VmError>,
) -> Result<(), VmError> {
    if amount == 0 {
        return Ok(());
    }
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
