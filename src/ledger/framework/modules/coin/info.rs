//! What a coin is, and how many there are: made once by the account at the address of its type.

use super::{
    CoinInfo, DECIMALS_MAX, ECOIN_DECIMALS_TOO_LARGE, ECOIN_INFO_ADDRESS_MISMATCH,
    ECOIN_INFO_ALREADY_PUBLISHED, ECOIN_INFO_NOT_PUBLISHED, ECOIN_NAME_TOO_LONG,
    ECOIN_SYMBOL_TOO_LONG, MODULE, NAME_BYTES_MAX, SYMBOL_BYTES_MAX, deposit, pairing, withdraw,
};
use crate::modules::optional_aggregator::OptionalAggregator;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, VmError};
use std::slice;

/// The info of `coin`; none where it was not initialised.
pub(super) fn read(context: &mut Context<'_>, coin: &TypeTag) -> Result<Option<CoinInfo>, VmError> {
    match coin {
        TypeTag::Struct(tag) => context.read_resource(tag.address, slice::from_ref(coin)),
        _ => Ok(None),
    }
}

/// Whether `coin` was initialised. The chain's own coin needs no look-up: genesis did.
pub(super) fn is_initialised(context: &mut Context<'_>, coin: &TypeTag) -> Result<bool, VmError> {
    Ok(coin == context.native_coin() || read(context, coin)?.is_some())
}

/// Fails with `ECOIN_INFO_NOT_PUBLISHED` where `coin` was not initialised.
pub(super) fn ensure_initialised(context: &mut Context<'_>, coin: &TypeTag) -> Result<(), VmError> {
    if is_initialised(context, coin)? {
        Ok(())
    } else {
        context.abort(MODULE, &ECOIN_INFO_NOT_PUBLISHED)
    }
}

/// Makes `coin`, described by `info`, with its paired asset. The caller keeps the right to mint.
///
/// # Errors
/// `ECOIN_INFO_ADDRESS_MISMATCH`, `ECOIN_INFO_ALREADY_PUBLISHED`, and an abort for each part of `info`
/// that is too long.
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

/// How many of `coin` there are, in its smallest unit; none where nobody counts.
///
/// # Errors
/// [`VmError::MissingResource`] where the coin was not initialised.
pub fn supply_of(context: &mut Context<'_>, coin: &TypeTag) -> Result<Option<u128>, VmError> {
    let info = read(context, coin)?.ok_or(VmError::MissingResource)?;
    Ok(info.supply.and_then(|supply| supply.value()))
}

/// Applies `change` to the supply of `coin`, where it is counted.
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

/// Makes `amount` of `coin` for `to`. The caller knows who may.
///
/// # Errors
/// `EAGGREGATOR_OVERFLOW`, and those of [`deposit`].
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

/// Ends `amount` of the `coin` that `from` holds. The caller knows who may.
///
/// # Errors
/// Those of [`withdraw`], and `EAGGREGATOR_UNDERFLOW`.
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
